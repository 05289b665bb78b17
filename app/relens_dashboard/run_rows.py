"""The rows of runs for pages: read once for all browser sessions, in pages, and added up once.

    a run of 90,000 rows, opened by two people

    A looks     reads for 0.2 s        12,000 of 90,000 rows      "Reading rows: 12,000 of 90,000", and looks again
    B looks     reads for 0.2 s        24,000 of 90,000 rows      the same rows; none is read twice
    ...
    A looks     reads the last         all of them                their shares are added up
    B looks     has nothing to do      all of them                and are there for B

So the cost of a session does not grow with the rows that it shows: it requests them by the run at each look. All rows
together have a limit (`MOST_HELD_ROWS`, `MOST_HELD_BYTES`): the run that nobody has looked at for longest is dropped
first, and read again when somebody returns to it.

Sums need all rows of a run (`is_whole`). A run with more rows than a page takes (`relens.runs.records.MOST_ROWS`, or
`MOST_BYTES` of memory) is never whole.

A match is held without the terms of its log-probabilities, which are half of it and which no page reads; files are made
from the store (`stored_rows`). Its groups are pairs: Python's garbage collector visits each row that contains a
dictionary again and again, and nothing else runs meanwhile (0.1 s for 100,000 of them).
"""

from __future__ import annotations

import math
import threading
import time
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar
from weakref import WeakKeyDictionary

from relens.counted import counted
from relens.runs.records import MOST_ROWS, RunRecord
from relens.runs.row_pages import RowPage
from relens.runs.specification import SearchSpecification
from relens_dashboard.narrative import draws

#: Seconds that a look reads rows; it reads at least one page.
PATIENCE = 0.2
#: Seconds from an unfinished look to the next.
READ_ON = 0.05
#: Rows of all runs together, and about how many bytes they and their tables, figures and sums take.
MOST_HELD_ROWS, MOST_HELD_BYTES = 300_000, 768 << 20
#: Bytes of the rows of one run.
MOST_BYTES = 384 << 20
#: Estimated bytes a row of tables, figures and sums.
_BYTES_MADE_A_ROW = 100
#: Results (tables, figures, sums) remembered for one run.
_MOST_MADE = 24
#: While a run lives, making them anew takes at most this part of the time.
_PART_FOR_MAKING = 0.1
#: Rows that are only partly read are dropped when nobody has looked at them for so many seconds.
_READER_SECONDS = 10.0
#: Fields of a match that no page reads. Then the bytes of the rest, about: of a match without its texts and tokens, of
#: each token, and of each group or edit.
_UNREAD = frozenset({"token_log_probs", "token_decoder_log_probs"})
_MATCH_BYTES, _TOKEN_BYTES, _PART_BYTES = 900, 36, 250
_MOST_POINTS = 400

Made = TypeVar("Made")


class RowSource(Protocol):
    """The part of `relens.runs.store.Store` that is needed here."""

    def row_page(self, run_id: str, after: int = 0) -> RowPage:
        """Rows numbered above `after`."""


@dataclass(eq=False)
class _Held:
    """The rows of one run in memory. `reading`: one thread at a time reads more; the holder's lock guards all else.

    is_read: whether all rows were there at the last look. missing: the row count of the record when the store had fewer
    rows than it. begun, looked: time of the first and the last look, on the monotonic clock.
    """

    begun: float

    rows: Sequence[Mapping[str, Any]] = ()
    bytes: int = 0
    is_read: bool = False
    missing: int = -1
    looked: float = 0.0
    history: Sequence[tuple[float, float, float]] = ()
    made: OrderedDict[Hashable, _Made] = field(default_factory=OrderedDict)
    reading: threading.Lock = field(default_factory=threading.Lock)


@dataclass(eq=False)
class _Made:
    """A result made of the first `rows` rows. made: when, on the monotonic clock; seconds: how long it took."""

    value: Any = None
    rows: int = -1
    made: float = 0.0
    seconds: float = 0.0
    making: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True, eq=False)
class RunRows:
    """The rows of one run at one look. All sessions share them: nobody may change them.

    total: how many rows the run has. is_read: whether all that a page takes are here. is_cut: whether a page takes
    fewer than all. history: (seconds since the search began, lower bound, upper bound) of the mass, in order of time.
    """

    run_id: str
    rows: Sequence[Mapping[str, Any]]
    total: int
    is_read: bool
    is_cut: bool
    is_live: bool
    history: Sequence[tuple[float, float, float]]
    _holder: RowHolder
    _held: _Held

    @property
    def is_whole(self) -> bool:
        """Whether these are all rows of the run so far, so that sums of them are right."""
        return self.is_read and not self.is_cut

    def find(self, number: int) -> Mapping[str, Any] | None:
        """The row of that number."""
        place = bisect_left(self.rows, number, key=lambda row: row["number"])
        return self.rows[place] if place < len(self.rows) and self.rows[place]["number"] == number else None

    def remember(self, what: Hashable, make: Callable[[], Made]) -> Made:
        """The result of `make` for these rows, made once for all sessions; `what` is its key among those of the run.

        While the run lives the result may be a little older than the rows: the longer it takes, the more rarely it is
        made anew. An error of `make` is raised, and not remembered.
        """
        return self._holder.remember(self, self._held, what, make)

    def reading_sentence(self) -> str:
        """How many rows are read; "" when all are."""
        return "" if self.is_read else reading_sentence([self])

    def cut_sentence(self) -> str:
        """The sentence for a run with too many rows; "" where all are here."""
        if not self.is_cut:
            return ""
        return (
            f"This run has {counted(self.total, 'row')}; a page shows the first {len(self.rows):,}. Shares, sums and "
            "figures need all rows, so they are left out."
        )


def reading_sentence(runs: Sequence[RunRows]) -> str:
    """How many rows of these runs together are read."""
    here, taken = sum(len(run.rows) for run in runs), sum(min(run.total, MOST_ROWS) for run in runs)
    return f"Reading rows: {here:,} of {taken:,}."


class RowHolder:
    """The rows of the runs in one store; shared by threads."""

    def __init__(
        self,
        most_rows: int = MOST_HELD_ROWS,
        most_bytes: int = MOST_HELD_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most_rows, self._most_bytes = most_rows, most_bytes
        self._clock = clock
        self._lock = threading.Lock()
        self._runs: OrderedDict[str, _Held] = OrderedDict()

    def look(self, store: RowSource, run: RunRecord, patience: float = PATIENCE) -> RunRows:
        """See `read_rows`."""
        held = self._looked_at(run.id)
        until = self._clock() + patience
        if not _is_read(held, run) and held.reading.acquire(timeout=min(patience, threading.TIMEOUT_MAX)):
            try:
                while not _is_read(held, run) and self._make_room(held):
                    page = store.row_page(run.id, held.rows[-1]["number"] if held.rows else 0)
                    self._add(held, page, run)
                    if self._clock() >= until:
                        break
            finally:
                held.reading.release()
            self._make_room(held)
        with self._lock:
            held.is_read = _is_read(held, run)
            held.history = _with_bounds(held.history, run)
            total = len(held.rows) if held.missing == run.row_count else max(run.row_count, len(held.rows))
            return RunRows(
                run_id=run.id,
                rows=held.rows,
                total=total,
                is_read=held.is_read,
                is_cut=held.is_read and total > len(held.rows),
                is_live=run.is_live,
                history=held.history,
                _holder=self,
                _held=held,
            )

    def held(self) -> tuple[int, int]:
        """How many rows are held, and about how many bytes they and their results take."""
        with self._lock:
            return self._sums()

    def remember(self, rows: RunRows, held: _Held, what: Hashable, make: Callable[[], Made]) -> Made:
        """See `RunRows.remember`."""
        with self._lock:
            made = held.made.setdefault(what, _Made())
            held.made.move_to_end(what)
            while len(held.made) > _MOST_MADE:
                held.made.popitem(last=False)
        # One thread makes it; the others wait.
        with made.making:
            count, now = len(rows.rows), self._clock()
            is_due = not rows.is_live or now - made.made >= made.seconds / _PART_FOR_MAKING
            if made.rows < 0 or (made.rows < count and is_due):
                made.value = make()
                made.rows, made.made = count, self._clock()
                made.seconds = made.made - now
        self._make_room(held)
        return made.value

    def _looked_at(self, run_id: str) -> _Held:
        with self._lock:
            now = self._clock()
            held = self._runs.setdefault(run_id, _Held(begun=now))
            self._runs.move_to_end(run_id)
            held.looked = now
            return held

    def _add(self, held: _Held, page: RowPage, run: RunRecord) -> None:
        rows, size = page.rows, page.bytes
        if run.kind == SearchSpecification.kind:
            rows, size = _slim_matches(rows)
        with self._lock:
            # A new list: earlier looks keep theirs unchanged.
            held.rows = [*held.rows, *rows[: MOST_ROWS - len(held.rows)]]
            held.bytes += size
            if page.is_last and len(held.rows) < min(run.row_count, MOST_ROWS):
                held.missing = run.row_count

    def _make_room(self, held: _Held) -> bool:
        """Drop runs until there is room for more of this one; returns whether there is.

        A run that somebody began to read earlier stays: two readers of large runs would otherwise drop each other's
        rows for ever, and neither would finish.
        """
        with self._lock:
            now = self._clock()
            for run_id, other in list(self._runs.items()):
                if self._has_room():
                    return True
                is_being_read = not other.is_read and now - other.looked < _READER_SECONDS
                if other is not held and not (is_being_read and other.begun < held.begun):
                    del self._runs[run_id]
            return self._has_room()

    def _has_room(self) -> bool:
        rows, size = self._sums()
        return rows <= self._most_rows and size <= self._most_bytes

    def _sums(self) -> tuple[int, int]:
        runs = self._runs.values()
        made = sum(one.rows for held in runs for one in held.made.values() if one.rows > 0)
        return sum(len(held.rows) for held in runs), sum(held.bytes for held in runs) + _BYTES_MADE_A_ROW * made


def read_rows(store: RowSource, run: RunRecord, patience: float = PATIENCE) -> RunRows:
    """The rows of `run` that can be read within about `patience` seconds. Raises `StoreError`.

    Read the record first: then a finished run is never shown with rows missing.
    """
    with _finding:
        if store not in _holders:
            _holders[store] = RowHolder()
        holder = _holders[store]
    return holder.look(store, run, patience)


def read_all_rows(store: RowSource, run: RunRecord) -> RunRows:
    """All rows of `run` that a page takes, however long it takes: for callers that cannot look again."""
    return read_rows(store, run, math.inf)


def stored_rows(store: RowSource, run_id: str, most: int = MOST_ROWS) -> list[Mapping[str, Any]]:
    """The first rows of a run with all their fields, for a file; nothing of them is held."""
    rows: list[Mapping[str, Any]] = []
    while len(rows) < most:
        page = store.row_page(run_id, rows[-1]["number"] if rows else 0)
        rows += page.rows[: most - len(rows)]
        if page.is_last:
            break
    return rows


_holders: WeakKeyDictionary[Any, RowHolder] = WeakKeyDictionary()
_finding = threading.Lock()


def _is_read(held: _Held, run: RunRecord) -> bool:
    return len(held.rows) >= min(run.row_count, MOST_ROWS) or held.missing == run.row_count or held.bytes >= MOST_BYTES


def _slim_matches(rows: Sequence[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], int]:
    """The matches in the form that is held, and about how many bytes they take."""
    texts: dict[str, str] = {}
    slim: list[dict[str, Any]] = []
    size = 0
    for row in rows:
        match = {name: value for name, value in row.items() if name not in _UNREAD}
        match["token_ids"] = tuple(row["token_ids"])
        match["groups"] = tuple(row["groups"].items())
        prefix = match["prefix_text"]
        match["prefix_text"] = texts.setdefault(prefix, prefix)  # one text for all matches with this prefix
        slim.append(match)
        size += _MATCH_BYTES + len(row["text"]) + _TOKEN_BYTES * len(row["token_ids"])
        size += _PART_BYTES * (len(row["groups"]) + len(row["edits"]))
    return slim, size


def _with_bounds(history: Sequence[tuple[float, float, float]], run: RunRecord) -> Sequence[tuple[float, float, float]]:
    """The history, with the bounds that `run` reports now where they are new."""
    if "seconds_total" not in run.progress or "found_mass" not in run.progress or draws(run) is not None:
        return history  # a sample has estimates and no bounds
    lower = run.progress["found_mass"]
    point = (run.progress["seconds_total"], lower, min(1.0, lower + run.progress["remaining_mass"]))
    if history and point[0] <= history[-1][0]:
        return history
    history = [*history, point]
    # Every other point and the last: the shape of the curve stays.
    return [*history[:-1:2], history[-1]] if len(history) > _MOST_POINTS else history
