"""Reading users' text files: corpora, texts, lists of targets.

    /data/talk.txt     a text in UTF-8              its lines
    /data              a folder                     The corpus '/data' is a folder, not a file.
    /data/none.txt                                  There is no corpus at '/data/none.txt'.
    état               saved as Latin-1             Line 2 of the corpus is not UTF-8; save the file as UTF-8.
    h\\0i\\0             saved as UTF-16, or no text  Line 1 of the corpus is no text: it has a null character.

A null character is valid UTF-8, and English text in UTF-16 is full of them. No real text has one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from relens.errors import QueryError


@contextmanager
def opened(path: str | Path, name: str) -> Iterator[BinaryIO]:
    """The file, to be read as bytes; name: of its content, for complaints, such as "corpus". Raises `QueryError`."""
    try:
        if Path(path).is_dir():
            raise QueryError(f"The {name} {str(path)!r} is a folder, not a file.")
        if not Path(path).is_file():
            raise QueryError(f"There is no {name} at {str(path)!r}.")
        with Path(path).open("rb") as file:
            yield file
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise QueryError(f"The {name} {str(path)!r} cannot be read: {reason}.") from None


def text_of_line(line: bytes, number: int, name: str) -> str:
    """The text of the line with that number, from 1, without its end. Raises `QueryError` where it is none."""
    try:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError:
        raise QueryError(f"Line {number:,} of {name} is not UTF-8; save the file as UTF-8.") from None
    if "\0" in text:
        raise QueryError(f"Line {number:,} of {name} is no text: it has a null character. Save the file as UTF-8.")
    return text.rstrip("\r\n")


def check_text(text: str, name: str) -> None:
    """Raises `QueryError` where a text cannot be written down: JSON can name one half of a character, as "\\ud83d"."""
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise QueryError(f"{name} has half a character, which no text can hold.")
