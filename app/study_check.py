"""The settings of a study checked beside the page, for one browser session.

Somebody types a pattern that takes seconds to judge. The page has nothing to show before it knows, so it waits, but not
for long; and the same session is given no second child while the first is still at work:

    check(study)  ->  3 units, as soon as a child has counted them, in milliseconds as a rule
                      None after `WAIT_SECONDS`: the server is busy, or still at what the session wanted before
                      an error of the engine for settings without meaning
"""

from __future__ import annotations

import time
from concurrent.futures import Executor, Future
from concurrent.futures import TimeoutError as NotYetError
from concurrent.futures import wait as wait_for
from typing import Protocol

from engine.runs.study_checks import Checked
from engine.studies.study import Study

#: How long a page waits for the check of its settings.
WAIT_SECONDS = 4.0


class Checker(Protocol):
    """What checks settings: `engine.runs.study_checks.StudyChecks`, or a test's stand-in."""

    def check(self, study: Study) -> Checked:
        """What the settings of the study come to."""


class StudyCheck:
    """The checks of one browser session, one after the other. executor: its threads wait for the children."""

    def __init__(self, checker: Checker, executor: Executor) -> None:
        self._checker = checker
        self._executor = executor
        self._last: Future[Checked] | None = None

    def check(self, study: Study, wait: float = WAIT_SECONDS) -> Checked | None:
        """What the settings of the study come to; None where that is not known after `wait` seconds.

        Raises what `StudyChecks.check` raises.
        """
        deadline = time.monotonic() + wait
        if self._last is not None:
            self._last.cancel()
            if wait_for([self._last], wait).not_done:
                return None
        self._last = self._executor.submit(self._checker.check, study)
        try:
            return self._last.result(max(0.0, deadline - time.monotonic()))
        except NotYetError:
            return None
