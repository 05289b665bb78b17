"""Checks that the contents of a run's file have the form that everything else relies on.

Pages use a run's rows unchecked: `math.exp(row["log_prob"])`, `row["groups"]["subject"]`. A file may say that a
probability has the logarithm 10,000, or that a group is a list. So each row of a search has to be a `Match` with
possible numbers, progress has to be `Progress`, and the study itself must be able to draw its verdict from its rows,
with possible log-probabilities. Only the pages know the needs of their figures, and they show an imported run with care
(`relens_dashboard.runs.imported`).
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from typing import Any

from relens.errors import QueryError, RelensError
from relens.record import Record
from relens.runs.specification import SearchSpecification, Specification, StudySpecification
from relens.studies.rows import ROW, UNIT
from relens.studies.study import StudyProgress
from relens.traversal.results import Match, Progress

#: Rounding may bring a sum of log-probabilities above 0 by this much.
_ROUNDING = 1e-2
#: The deepest nesting in our own files.
_DEEPEST = 12
_LATEST = 1e11
_LARGEST = 1e15
#: Larger whole numbers, which JSON may hold, cannot be computed with everywhere.
_LARGEST_INTEGER = 2**64
#: The endings of the names of log-probabilities.
_LOGARITHMS = ("log_prob", "log_probs")

log = logging.getLogger(__name__)


def checked_words(value: Any, name: str, longest: int) -> str:
    """A text of at most `longest` characters, without those that databases refuse. Raises `QueryError`."""
    if not isinstance(value, str) or len(value) > longest:
        raise QueryError(f"The file's {name!r} is no text of at most {longest:,} characters.")
    return value.replace("\0", "").encode("utf-8", "replace").decode()


def checked_time(value: Any, name: str) -> float | None:
    """Unix seconds, or None. Raises `QueryError`."""
    if value is None:
        return None
    if type(value) not in (int, float) or not 0.0 <= value < _LATEST:
        raise QueryError(f"The file's {name!r} is no time.")
    return float(value)


def checked_versions(value: Any) -> dict[str, str]:
    """Versions by name. Raises `QueryError`."""
    if not isinstance(value, Mapping) or len(value) > 50:
        raise QueryError("The file's 'versions' do not give a version for each name.")
    return {
        checked_words(name, "versions", 100): checked_words(version, "versions", 100) for name, version in value.items()
    }


def checked_progress(specification: Specification, value: Any) -> dict[str, Any]:
    """The progress with all its fields; {} where there is none. Raises `QueryError`."""
    if value == {} or value is None:
        return {}
    record = Progress if isinstance(specification, SearchSpecification) else StudyProgress
    progress = _read(record, value, "progress").to_json()
    for name, number in progress.items():
        if isinstance(number, (int, float)) and not 0.0 <= number <= _LARGEST:
            raise QueryError(f"The file's progress has {name} {number}, which cannot be.")
    return progress


def check_rows(specification: Specification, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows, if a worker could have written them for this specification. Raises `QueryError`."""
    if isinstance(specification, SearchSpecification):
        return [_checked_match(row, number) for number, row in enumerate(rows, 1)]
    if isinstance(specification, StudySpecification):
        return _checked_study_rows(specification, rows)
    return [dict(row) for row in rows]


def _checked_match(row: Mapping[str, Any], number: int) -> dict[str, Any]:
    match = _read(Match, row, f"row {number}")
    assert isinstance(match, Match)
    logarithms = (match.prefix_log_prob, match.log_prob, match.decoder_log_prob)
    terms = (*match.token_log_probs, *match.token_decoder_log_probs)
    fits = (
        all(value <= _ROUNDING for value in (*logarithms, *terms))  # False for NaN, too
        and 0 <= match.prefix_tokens <= len(match.token_ids)
        and all(0 <= token < 2**31 for token in match.token_ids)
        and 1 <= match.count <= _LARGEST
        and 0.0 <= match.weight <= 1.0 + _ROUNDING
        and 0.0 <= match.seconds <= _LARGEST
        and all(0 <= edit.position <= _LARGEST for edit in match.edits)
    )
    if not fits:
        raise QueryError(f"Row {number} of the file is no match: one of its numbers cannot be.")
    return match.to_json()


def _checked_study_rows(specification: StudySpecification, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    for number, row in enumerate(rows, 1):
        if not isinstance(row.get(UNIT), str) or not isinstance(row.get(ROW), str) or _depth(row) > _DEEPEST:
            raise QueryError(f"Row {number} of the file is no row of a study.")
        if not _numbers_can_be(row):
            raise QueryError(f"Row {number} of the file is no row of a study: one of its numbers cannot be.")
    kept = [{name: value for name, value in row.items() if name != "number"} for row in rows]
    try:
        specification.study.verdict(kept)
    except Exception as error:  # a page would fail at the same place
        if not isinstance(error, RelensError):
            log.info("The rows of a file do not fit their study: %r", error)
        raise QueryError("The rows of this file do not fit its study.") from None
    return kept


def _read(record: type[Record], value: Any, what: str) -> Record:
    try:
        return record.from_json(value)
    except QueryError as error:
        raise QueryError(f"The file's {what} is not understood: {error.sentence}") from None


def _numbers_can_be(value: Any, name: str = "") -> bool:
    """Whether log-probabilities, recognised by their names, are possible, and no whole number is too large to use."""
    if isinstance(value, Mapping):
        return all(_numbers_can_be(part, str(key)) for key, part in value.items())
    if isinstance(value, list):
        return all(_numbers_can_be(part, name) for part in value)
    if name.endswith(_LOGARITHMS) and value is not None:
        return type(value) in (int, float) and value <= _ROUNDING  # False for NaN, too
    return type(value) is not int or abs(value) <= _LARGEST_INTEGER


def _depth(value: Any) -> int:
    """How deeply lists and objects are nested; bounded already by the JSON reader. NaN counts as too deep."""
    if isinstance(value, Mapping):
        return 1 + max(map(_depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(_depth, value), default=0)
    if isinstance(value, float) and math.isnan(value):
        return _DEEPEST + 1
    return 0
