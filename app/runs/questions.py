"""The questions of runs, each in a line, read once for all sessions.

    questions.titles(runs)      "Mine", "The| (cat|dog)", ...     a name, or the question of an unnamed run
    questions.titles(runs)      the same; no specification is read a second time

Every session draws its list of runs anew every few seconds. A run's specification may have a megabyte, and never
changes.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

from app.runs.described import LONGEST_LINE, named, question_of, variety_name
from app.text import shortened
from engine.runs.listed_runs import ListedRun
from engine.runs.store import Store

#: Lines are some hundred characters long.
_REMEMBERED = 5_000


class Questions:
    """The questions of the runs of a store; safe for threads."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._mutex = threading.Lock()
        self._lines: OrderedDict[str, str] = OrderedDict()

    def titles(self, runs: Sequence[ListedRun], longest: int = LONGEST_LINE) -> list[str]:
        """A line of at most `longest` characters for each, in their order. Raises `StoreError`."""
        return [named(run, longest) or shortened(self._question(run), longest) for run in runs]

    def _question(self, run: ListedRun) -> str:
        with self._mutex:
            if run.id in self._lines:
                self._lines.move_to_end(run.id)
                return self._lines[run.id]
        specification = self._store.specification(run.id)
        if specification is None:  # removed meanwhile; the next list does not have it
            return variety_name(run)
        line = question_of(run, specification)
        with self._mutex:
            self._lines[run.id] = line
            if len(self._lines) > _REMEMBERED:
                self._lines.popitem(last=False)
        return line
