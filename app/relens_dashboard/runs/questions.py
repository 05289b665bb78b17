"""The questions of runs, each in a line, read once for all sessions.

    titles(store, runs)      "Mine", "The| (cat|dog)", ...     a name, or the question of an unnamed run
    titles(store, runs)      the same; no specification is read a second time

Every session draws its list of runs anew every few seconds. A run's specification may have a megabyte, and never
changes.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from relens.runs.listed_runs import ListedRun
from relens.runs.store import Store
from relens_dashboard.runs.described import LONGEST_LINE, named, question_of, variety_name
from relens_dashboard.text import shortened

#: Lines are some hundred characters long.
_REMEMBERED = 5_000


class _Lines:
    """The questions of the runs of one store; safe for threads."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._lines: OrderedDict[str, str] = OrderedDict()

    def question(self, store: Store, run: ListedRun) -> str:
        """The question of a run, read from the store at first."""
        with self._mutex:
            if run.id in self._lines:
                self._lines.move_to_end(run.id)
                return self._lines[run.id]
        specification = store.specification(run.id)
        if specification is None:  # it was removed meanwhile, and is not in the next list
            return variety_name(run)
        line = question_of(run, specification)
        with self._mutex:
            self._lines[run.id] = line
            if len(self._lines) > _REMEMBERED:
                self._lines.popitem(last=False)
        return line


def titles(store: Store, runs: Sequence[ListedRun], longest: int = LONGEST_LINE) -> list[str]:
    """A line of at most `longest` characters for each, in their order. Raises `StoreError`."""
    with _making:
        lines = _of_store.setdefault(store, _Lines())
    return [named(run, longest) or shortened(lines.question(store, run), longest) for run in runs]


_of_store: WeakKeyDictionary[Store, _Lines] = WeakKeyDictionary()
_making = threading.Lock()
