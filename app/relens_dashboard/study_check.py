"""The settings of a study checked in the background (`relens_dashboard.answers`), for one browser session.

Somebody types a pattern that takes seconds to check. The page needs the result, so it waits, but not for long; and a
session has one child at a time:

    check(study)  ->  3 units, as soon as a child has counted them, usually in milliseconds
                      None after `WAIT_SECONDS`: the server is busy, or still at the session's last settings
                      an error of the engine for settings without meaning
"""

from __future__ import annotations

import json
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Protocol

from relens.runs.study_checks import Checked
from relens.studies.study import Study
from relens_dashboard.answers import Latest

#: How long a page waits for the check of its settings.
WAIT_SECONDS = 4.0


class Checker(Protocol):
    """The part of `relens.runs.study_checks.StudyChecks` used here; tests have a stand-in."""

    def check(self, study: Study) -> Checked:
        """The result for the settings of the study."""


@dataclass(frozen=True)
class _Settings:
    """A study as a question: some have fields that cannot be hashed."""

    text: str
    study: Study = field(compare=False)


class StudyCheck:
    """The checks of one browser session, one after the other. executor: its threads wait for the children."""

    def __init__(self, checker: Checker, executor: Executor) -> None:
        # A file may have changed since, so no answer is used again; the children remember the lasting parts.
        self._latest: Latest[_Settings, Checked] = Latest(
            lambda settings: checker.check(settings.study),
            executor,
            subject="The check of the settings",
            is_lasting=lambda answer: False,
            remembered=1,
        )

    def check(self, study: Study, wait: float = WAIT_SECONDS) -> Checked | None:
        """The result for the settings of the study; None where it is not there after `wait` seconds.

        Raises the errors of `StudyChecks.check`.
        """
        answer = self._latest.ask(_Settings(json.dumps(study.to_json()), study), wait)
        if answer.error is not None:
            raise answer.error
        return answer.value
