"""Uploaded texts as files.

A run carries the path of its text, not the text: the worker that carries it out is another process, perhaps minutes
later. So an upload is stored under the hash of its content, which makes the same text the same file, and
the oldest files go once there are many.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from relens import settings
from relens.errors import QueryError, RelensError

#: How many texts are kept.
MOST_KEPT = 50


def keep_text(data: bytes) -> Path:
    """The file with this text among the uploads. Raises `QueryError` where it is empty, no text, or not written."""
    if not data:
        raise QueryError("The uploaded text is empty.")
    try:
        data.decode("utf-8")
        place, wrong = data.find(b"\0"), "is no text: it has a null character. Save the file as UTF-8."
    except UnicodeDecodeError as error:
        place, wrong = error.start, "is not UTF-8; save the file as UTF-8."
    if place >= 0:
        number = data.count(b"\n", 0, place) + 1
        raise QueryError(f"Line {number:,} of the uploaded text {wrong}")
    path = settings.uploads_folder() / f"{hashlib.sha256(data).hexdigest()}.txt"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            path.touch()
        else:
            _write(path, data)
            _forget_oldest(path.parent)
    except OSError as error:
        raise QueryError(f"The uploaded text cannot be kept: {error.strerror or error}.") from error
    return path


def keep_checked(name: str, data: bytes, check: Callable[[str], object]) -> str:
    """The path of the file, once `check` has read it. Raises `QueryError` with the file's own name."""
    path = str(keep_text(data))
    try:
        check(path)
    except RelensError as error:
        raise QueryError(error.sentence.replace(repr(path), f"“{name[:80]}”")) from None
    return path


def _write(path: Path, data: bytes) -> None:
    """Written to another file and then renamed, so that no reader gets half a text."""
    number, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _forget_oldest(folder: Path) -> None:
    kept = sorted(folder.glob("*.txt"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in kept[MOST_KEPT:]:
        path.unlink(missing_ok=True)
