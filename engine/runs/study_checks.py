"""Whether the settings of a study have a meaning, found out in a child process: a page must not work at it itself.

    units(KnowledgeStudy(pattern=" (1[0-9]|2)", ...))    3
    units(KnowledgeStudy(pattern="(a", ...))             RegexError: Missing ), unterminated subpattern, at position 0
    units(ClozeStudy(path="/etc/passwd"))                QueryError: The dashboard may not read '/etc/passwd' ...

To check settings is to parse the expressions in them, read the files that they name and multiply what they list. All of
these anybody may have written, and all sessions share the process that draws pages. So the page hands over the JSON of
the study, once that is known to be of a size, and a child with limits makes the study and counts its units. Warm, it
answers in milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.query import Limits
from engine.runs.sizes import check_sizes
from engine.runs.warm_answers import WarmAnswers
from engine.studies.allowed_files import check_files
from engine.studies.study import Study

#: A study whose settings take longer to check is refused.
CHECK_LIMITS = Limits(compile_seconds=4.0, compile_bytes=512 << 20)


class StudyChecks(WarmAnswers[int]):
    """Settings checked in limited child processes, which are started with the first question; see `WarmAnswers`."""

    def __init__(self, pool_size: int = 2, call: Callable[[dict[str, Any]], Mapping[str, Any]] | None = None) -> None:
        super().__init__(
            "engine.runs.study_checks:check_job",
            pool_size,
            warm_up="engine.runs.study_checks:warm_up",
            read=lambda reply: int(reply["units"]),
            subject="The check of the settings",
            work="Checking the settings",
            waits=True,
            call=call,
        )

    def units(self, study: Study) -> int:
        """How many units the study has.

        Raises what `Study.units`, `check_files` and `check_sizes` raise, and `LimitError` for settings that take more
        time or memory to check than `CHECK_LIMITS` allow.
        """
        described = study.to_json()
        check_sizes(described)
        return self.ask({"study": described, "limits": CHECK_LIMITS.to_json()}, changes=bool(study.files()))


def check_job(payload: Mapping[str, Any]) -> dict[str, Any]:
    """`StudyChecks.units` for a child process: JSON in, JSON out; nothing in, nothing out."""
    if not payload:
        return {}
    study = Study.from_json(payload["study"])
    check_files(study)  # before anything is read
    return {"units": len(study.units())}


def warm_up() -> None:
    """What every new child does before its first job: the modules of all studies, and the tables of a parser."""
    from engine.language.syntax import parse_regex
    from engine.studies.catalogue import STUDIES, study_class

    for kind in STUDIES:
        study_class(kind)
    parse_regex(r"(?i)[\w\d\s]")
