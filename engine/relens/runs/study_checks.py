"""The settings of a study, checked in a child process and never in the page's own.

    check(KnowledgeStudy(pattern=" (1[0-9]|2)", ...))    3 units
    check(KnowledgeStudy(pattern="(a", ...))             RegexError: Missing ), unterminated subpattern, at position 0
    check(ClozeStudy(path="/etc/passwd"))                QueryError: The dashboard may not read '/etc/passwd' ...
    check(ClozeStudy(path="/data/stories.txt"))          80 units, of 512 passages

A check parses the expressions, reads the files and multiplies the lists in the settings. Anybody may have written them,
and all sessions share the process that draws pages. So the page checks the size of the study's JSON and hands it over;
a child with limits makes the study, counts its units, and calls its `counts`. A warm child answers in milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from relens.query import Limits
from relens.record import Record
from relens.runs.sizes import check_sizes
from relens.runs.warm_answers import WarmAnswers
from relens.studies.allowed_files import check_files
from relens.studies.study import Study

#: A study whose settings take longer to check is refused.
CHECK_LIMITS = Limits(compile_seconds=4.0, compile_bytes=512 << 20)


@runtime_checkable
class Counting(Protocol):
    """A study that has more to count than units, such as the passages of a file."""

    def counts(self) -> Mapping[str, int]:
        """The numbers, by name."""


@dataclass(frozen=True)
class Checked(Record):
    """The result of a check. units: of the study; counts: of a `Counting` study."""

    units: int
    counts: dict[str, int] = field(default_factory=dict)


class StudyChecks(WarmAnswers[Checked]):
    """Settings checked in limited child processes; see `WarmAnswers`."""

    job, warm_up, record = "relens.runs.study_checks:check_job", "relens.runs.study_checks:warm_up", Checked
    subject, work = "The check of the settings", "Checking the settings"

    def check(self, study: Study) -> Checked:
        """The units and counts of the study.

        Raises the errors of `Study.units`, `check_files` and `check_sizes`, and `LimitError` for settings that take
        more time or memory to check than `CHECK_LIMITS` allow.
        """
        described = study.to_json()
        check_sizes(described)
        return self.ask({"study": described}, CHECK_LIMITS, changes=bool(study.files()))


def check_job(payload: Mapping[str, Any]) -> dict[str, Any]:
    """`StudyChecks.check` for a child process: JSON in, JSON out."""
    study = Study.from_json(payload["study"])
    check_files(study)  # before anything is read
    units = len(study.units())
    counts = dict(study.counts()) if isinstance(study, Counting) else {}
    return {"answer": Checked(units, counts).to_json()}


def warm_up() -> None:
    """Run by every new child before its first job: imports all studies, and makes the parser's tables."""
    from relens.language.syntax import parse_regex
    from relens.studies.catalogue import STUDIES, study_class

    for kind in STUDIES:
        study_class(kind)
    parse_regex(r"(?i)[\w\d\s]")
