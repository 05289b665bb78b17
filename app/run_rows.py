"""The rows of runs as pages have them: read once for all browser sessions, in pages, and added up once.

    a run of 90,000 rows, opened by two people

    A looks     reads for 0.2 s        12,000 of 90,000 rows      "Reading rows: 12,000 of 90,000", and looks again
    B looks     reads for 0.2 s        24,000 of 90,000 rows      the same rows; none is read twice
    ...
    A looks     reads the last         all of them                their shares are added up
    B looks     has nothing to do      all of them                and are there for B

So what a session costs does not grow with the rows that it looks at: it asks for them by the run at each look. What all
of them hold together is bounded (`MOST_HELD_ROWS`, `MOST_HELD_BYTES`); the run that nobody has looked at for longest is
let go first, and read again should somebody come back to it.

Nothing is added up of rows that are not all there: `is_whole` says whether they are. A run that has more rows than a
page takes (`engine.runs.records.MOST_ROWS`, or `MOST_BYTES` of memory) never is.

Of a match is held what pages read: not the terms of its log-probabilities, which are half of it. Files are made of
what the store has (`stored_rows`). Its groups are pairs: Python's collector of garbage looks into a row that has a
dictionary in it again and again, and nothing else runs meanwhile (0.1 s for 100,000 of them).
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

from app.narrative import draws
from engine.counted import counted
from engine.runs.records import MOST_ROWS, RunRecord
from engine.runs.row_pages import RowPage
from engine.runs.specification import SearchSpecification

#: Seconds that a look reads rows; at least one page of them is read all the same.
PATIENCE = 0.2
#: Seconds from a look that has not read all to the next.
READ_ON = 0.05
#: Rows of all runs together, and about how many bytes of memory they and what was made of them take.
MOST_HELD_ROWS, MOST_HELD_BYTES = 300_000, 768 << 20
#: Of one run, bytes of rows.
MOST_BYTES = 384 << 20
#: What is made of rows (tables, figures, sums) is taken to need so many bytes a row.
_BYTES_MADE_A_ROW = 100
#: Things that are remembered of one run.
_MOST_MADE = 24
#: Making them anew may take this part of the time while a run lives.
_PART_FOR_MAKING = 0.1
#: Rows that were being read and are not looked at for so many seconds may be let go.
_READER_SECONDS = 10.0
#: What no page reads of a match. About how many bytes the rest of it takes without its texts and tokens, each of its
#: tokens, and each of its groups and edits.
_UNREAD = frozenset({"token_log_probs", "token_decoder_log_probs"})
_MATCH_BYTES, _TOKEN_BYTES, _PART_BYTES = 900, 36, 250
_MOST_POINTS = 400

Made = TypeVar("Made")


class RowSource(Protocol):
    """The part of `engine.runs.store.Store` that is needed here."""

    def row_page(self, run_id: str, after: int = 0) -> RowPage:
        """Rows numbered above `after`."""


@dataclass(eq=False)
class _Held:
    """What is held of one run. `reading`: one thread at a time reads more; all else changes under the holder's lock.

    is_read: whether all was there at the last look. missing: how many rows the record spoke of when the store had no
    more than these. begun, looked: when somebody looked first, and last, on the monotonic clock.
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
    """What was made of the first `rows` rows. made: when, on the monotonic clock; seconds: what it took."""

    value: Any = None
    rows: int = -1
    made: float = 0.0
    seconds: float = 0.0
    making: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True, eq=False)
class RunRows:
    """The rows of one run at one look. They do not change any more, and belong to everybody: nobody may change them.

    total: how many rows the run has. is_read: whether all that a page takes are here. is_cut: whether that is less than
    all. history: (seconds since the search began, lower bound, upper bound) on its mass, in order of time.
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
        """Whether these are all the rows that there are by now, so that they can be added up."""
        return self.is_read and not self.is_cut

    def find(self, number: int) -> Mapping[str, Any] | None:
        """The row of that number."""
        place = bisect_left(self.rows, number, key=lambda row: row["number"])
        return self.rows[place] if place < len(self.rows) and self.rows[place]["number"] == number else None

    def remember(self, what: Hashable, make: Callable[[], Made]) -> Made:
        """What `make` makes of these rows, made once for all sessions; `what` names it among all that is made of a run.

        While the run lives it may be a little older than the rows: the longer it takes, the more rarely it is made
        anew. What `make` raises is raised, and not remembered.
        """
        return self._holder.remember(self, self._held, what, make)

    def reading_sentence(self) -> str:
        """How far it is with reading; "" where all is read."""
        return "" if self.is_read else reading_sentence([self])

    def cut_sentence(self) -> str:
        """That these are not all rows of the run, and what follows from that; "" where they are."""
        if not self.is_cut:
            return ""
        return (
            f"This run has {counted(self.total, 'row')}, and a page takes the first {len(self.rows):,}. What these say "
            "together would not hold for the whole run, so no shares, sums or figures are shown."
        )


def reading_sentence(runs: Sequence[RunRows]) -> str:
    """How far it is with reading the rows of these runs together."""
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
        """How many rows are held, and about how many bytes they and what was made of them take."""
        with self._lock:
            return self._sums()

    def remember(self, rows: RunRows, held: _Held, what: Hashable, make: Callable[[], Made]) -> Made:
        """See `RunRows.remember`."""
        with self._lock:
            made = held.made.setdefault(what, _Made())
            held.made.move_to_end(what)
            while len(held.made) > _MOST_MADE:
                held.made.popitem(last=False)
        # One makes it, and who else wants it waits for that.
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
            # Made anew, so that who has looked at the rows before has them as they were.
            held.rows = [*held.rows, *rows[: MOST_ROWS - len(held.rows)]]
            held.bytes += size
            if page.is_last and len(held.rows) < min(run.row_count, MOST_ROWS):
                held.missing = run.row_count

    def _make_room(self, held: _Held) -> bool:
        """Let go of runs until there is room for more of this one; whether there is.

        Not of those that somebody began to read before: two who read large runs would else take each other's rows away
        for ever, and neither come to the end.
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
    """The rows of `run` that can be had within about `patience` seconds. Raises `StoreError`.

    The record has to be read before: then a run that is over is never shown with rows missing.
    """
    with _finding:
        if store not in _holders:
            _holders[store] = RowHolder()
        holder = _holders[store]
    return holder.look(store, run, patience)


def read_all_rows(store: RowSource, run: RunRecord) -> RunRows:
    """The same without an end to the patience, for who cannot look again."""
    return read_rows(store, run, math.inf)


def stored_rows(store: RowSource, run_id: str, most: int = MOST_ROWS) -> list[Mapping[str, Any]]:
    """The first rows of a run with all that the store has of them, for a file; nothing of it is held."""
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
    """Matches as they are held, and about how many bytes they take."""
    texts: dict[str, str] = {}
    slim: list[dict[str, Any]] = []
    size = 0
    for row in rows:
        match = {name: value for name, value in row.items() if name not in _UNREAD}
        match["token_ids"] = tuple(row["token_ids"])
        match["groups"] = tuple(row["groups"].items())
        prefix = match["prefix_text"]
        match["prefix_text"] = texts.setdefault(prefix, prefix)  # one text for all that begin with it
        slim.append(match)
        size += _MATCH_BYTES + len(row["text"]) + _TOKEN_BYTES * len(row["token_ids"])
        size += _PART_BYTES * (len(row["groups"]) + len(row["edits"]))
    return slim, size


def _with_bounds(history: Sequence[tuple[float, float, float]], run: RunRecord) -> Sequence[tuple[float, float, float]]:
    """The history with the bounds on the mass that `run` reports now, if they are news."""
    if "seconds_total" not in run.progress or "found_mass" not in run.progress or draws(run) is not None:
        return history  # a sample has estimates and no bounds
    lower = run.progress["found_mass"]
    point = (run.progress["seconds_total"], lower, min(1.0, lower + run.progress["remaining_mass"]))
    if history and point[0] <= history[-1][0]:
        return history
    history = [*history, point]
    # Every other point, but for the last: the shape of the curve stays.
    return [*history[:-1:2], history[-1]] if len(history) > _MOST_POINTS else history
