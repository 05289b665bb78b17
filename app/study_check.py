"""The settings of a study checked beside the page (`app.answers`), for one browser session.

Somebody types a pattern that takes seconds to judge. The page has nothing to show before it knows, so it waits, but not
for long; and the same session is given no second child while the first is still at work:

    check(study)  ->  3 units, as soon as a child has counted them, in milliseconds as a rule
                      None after `WAIT_SECONDS`: the server is busy, or still at what the session wanted before
                      an error of the engine for settings without meaning
"""

from __future__ import annotations

import json
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Protocol

from app.answers import Latest
from engine.runs.study_checks import Checked
from engine.studies.study import Study

#: How long a page waits for the check of its settings.
WAIT_SECONDS = 4.0


class Checker(Protocol):
    """What checks settings: `engine.runs.study_checks.StudyChecks`, or a test's stand-in."""

    def check(self, study: Study) -> Checked:
        """What the settings of the study come to."""


@dataclass(frozen=True)
class _Settings:
    """A study as a question: some have fields that cannot be hashed."""

    text: str
    study: Study = field(compare=False)


class StudyCheck:
    """The checks of one browser session, one after the other. executor: its threads wait for the children."""

    def __init__(self, checker: Checker, executor: Executor) -> None:
        # A file may have changed since, so nothing lasts; the children remember what does not change.
        self._latest: Latest[_Settings, Checked] = Latest(
            lambda settings: checker.check(settings.study),
            executor,
            subject="The check of the settings",
            is_lasting=lambda answer: False,
            remembered=1,
        )

    def check(self, study: Study, wait: float = WAIT_SECONDS) -> Checked | None:
        """What the settings of the study come to; None where that is not known after `wait` seconds.

        Raises what `StudyChecks.check` raises.
        """
        answer = self._latest.ask(_Settings(json.dumps(study.to_json()), study), wait)
        if answer.error is not None:
            raise answer.error
        return answer.value
