"""A run as one file, which another installation can open and repeat.

    run.relens      gzip of lines of JSON, each an object on a line of its own, in ASCII

    {"relens_run": 1, "specification": {...}, "status": "done", "rows": 2, "model_fingerprint": "3f2a...", ...}
    {"text": "The cat", ...}
    {"text": "The dog", ...}
    {"end": true, "sha256": "9f86d0..."}

The first line has the version of the format and the store's record of the run; then come its rows as the worker wrote
them; the last line holds the SHA-256 of all bytes before it, which reveals a file that was cut short or changed by
accident. (On purpose, anybody can make a new checksum: a file does not prove its author.)

A file comes from anywhere. It is read as a stream and refused at the first fault: too many bytes once unpacked, too
long a line, an unknown version or kind of run, a query without meaning, a match with impossible numbers. A file that
passes can be shown like a run of this installation.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from relens.errors import LimitError, QueryError
from relens.runs.database import to_text
from relens.runs.records import ENDED, MOST_ROWS, RunRecord, Status
from relens.runs.run_file_checks import check_rows, checked_progress, checked_time, checked_versions, checked_words
from relens.runs.specification import (
    InspectSpecification,
    Specification,
    specification_from_json,
)

SUFFIX = ".relens"
FORMAT_VERSION = 1

#: The most bytes of an unpacked file, bytes of a line, and values in all. The last bounds the memory of a decoded file:
#: an empty list is two bytes in the file and sixty in memory. It may have as many rows as a page.
MOST_BYTES, LONGEST_LINE, MOST_VALUES = 128 << 20, 8 << 20, 8_000_000

_NO_RUN = "This is no file of a run, or it is damaged."


@dataclass(frozen=True)
class RunFile:
    """A run that was read from a file, checked. Times are unix seconds; id: the one it had where it was made."""

    id: str
    specification: Specification
    status: Status
    progress: dict[str, Any]
    error: str | None
    created: float
    started: float | None
    ended: float | None
    model_fingerprint: str | None
    versions: dict[str, str]
    name: str
    note: str
    exported: float
    rows: tuple[dict[str, Any], ...]


def write_run(run: RunRecord, rows: Sequence[Mapping[str, Any]]) -> bytes:
    """The file of a run that is over and its rows (as `Store.rows` gives them).

    Raises `QueryError` for a live run and for an inspection, and `LimitError` for one that `read_run` would refuse as
    too large.
    """
    if run.is_live:
        raise QueryError("This run is not over yet; stop it or wait for its end before it goes into a file.")
    if run.kind == InspectSpecification.kind:
        raise QueryError("Inspections are not put into files.")
    head = {
        "relens_run": FORMAT_VERSION,
        "exported": time.time(),
        "id": run.id,
        "specification": run.specification,
        "status": run.status,
        "progress": run.progress,
        "error": run.error,
        "created": run.created,
        "started": run.started,
        "ended": run.ended,
        "model_fingerprint": run.model_fingerprint,
        "versions": run.versions,
        "name": run.name,
        "note": run.note,
        "rows": len(rows),
    }
    if len(rows) > MOST_ROWS:
        raise _too_many_rows()
    digest = hashlib.sha256()
    packed = io.BytesIO()
    size = _Size()
    # Without a name and a time in gzip's header: the same run makes the same bytes, except for the time of export.
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as file:
        for item in (head, *({name: row[name] for name in row if name != "number"} for row in rows)):
            line = to_text(item).encode("ascii") + b"\n"
            size.add(line)
            digest.update(line)
            file.write(line)
        file.write(to_text({"end": True, "sha256": digest.hexdigest()}).encode("ascii") + b"\n")
    return packed.getvalue()


def read_run(data: bytes) -> RunFile:
    """The run in the bytes of a file.

    Raises `QueryError` for another or a damaged file, a newer version or a run without meaning here, and `LimitError`
    for a file that is too large.
    """
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            return _read(file)
    except (OSError, EOFError, zlib.error, OverflowError, RecursionError):  # also of numbers without end
        raise QueryError(_NO_RUN) from None


def _read(file: gzip.GzipFile) -> RunFile:
    digest = hashlib.sha256()
    lines = _lines(file)
    first = next(lines, b"")
    head = _object(first)
    version = head.get("relens_run")
    if type(version) is not int:
        raise QueryError(_NO_RUN)
    if version > FORMAT_VERSION:
        raise QueryError("This file was made by a newer version of Relens; bring this one up to date to open it.")
    digest.update(first)
    rows: list[dict[str, Any]] = []
    for line in lines:
        item = _object(line)
        if "sha256" in item and item.get("end") is True:
            if item["sha256"] != digest.hexdigest() or head.get("rows") != len(rows):
                raise QueryError("This file was changed or damaged since it was made: its checksum does not fit.")
            if next(lines, None) is not None:
                raise QueryError(_NO_RUN)
            return _checked(head, rows)
        if len(rows) >= MOST_ROWS:
            raise _too_many_rows()
        digest.update(line)
        rows.append(item)
    raise QueryError("This file ends too soon: a part of it is missing.")


def _checked(head: Mapping[str, Any], rows: list[dict[str, Any]]) -> RunFile:
    specification = specification_from_json(head.get("specification") or {})
    if isinstance(specification, InspectSpecification):
        raise QueryError("Inspections are not put into files.")
    status = head.get("status")
    if status not in ENDED:
        raise QueryError(f"The run of a file is over ({', '.join(ENDED)}), not {status!r}.")
    error = head.get("error")
    return RunFile(
        id=checked_words(head.get("id"), "id", 64),
        specification=specification,
        status=status,
        progress=checked_progress(specification, head.get("progress")),
        error=None if error is None else checked_words(error, "error", 2_000),
        created=checked_time(head.get("created"), "created") or 0.0,
        started=checked_time(head.get("started"), "started"),
        ended=checked_time(head.get("ended"), "ended"),
        model_fingerprint=checked_words(head.get("model_fingerprint") or "", "model_fingerprint", 200) or None,
        versions=checked_versions(head.get("versions")),
        name=checked_words(head.get("name") or "", "name", 200),
        note=checked_words(head.get("note") or "", "note", 10_000),
        exported=checked_time(head.get("exported"), "exported") or 0.0,
        rows=tuple(check_rows(specification, rows)),
    )


def _lines(file: gzip.GzipFile) -> Iterator[bytes]:
    """The lines, each with its end. Raises `LimitError` where the file is too large."""
    size = _Size()
    while line := file.readline(LONGEST_LINE + 1):
        size.add(line)
        yield line


class _Size:
    """The size of a file so far, counted before any line is decoded."""

    def __init__(self) -> None:
        self._bytes = self._values = 0

    def add(self, line: bytes) -> None:
        """Count a line. Raises `LimitError` where it is too much."""
        self._bytes += len(line)
        if len(line) > LONGEST_LINE or self._bytes > MOST_BYTES:
            raise LimitError(
                f"The file of a run may have {MOST_BYTES >> 20} MB before it is packed, and {LONGEST_LINE >> 20} MB in "
                "a row; this run has more.",
                limit="file",
            )
        # Before each value stands one of these. Those within texts count too; that does no harm.
        self._values += sum(map(line.count, (b",", b":", b"[", b"{")))
        if self._values > MOST_VALUES:
            raise LimitError(f"The file of a run may hold {MOST_VALUES:,} values; this run has more.", limit="values")


def _too_many_rows() -> LimitError:
    return LimitError(f"The file of a run may hold {MOST_ROWS:,} rows; this run has more.", limit="rows")


def _object(line: bytes) -> dict[str, Any]:
    try:
        item = json.loads(line)
    except (ValueError, RecursionError):
        item = None
    if not isinstance(item, dict):
        raise QueryError(_NO_RUN)
    return item
