"""A run in a line: its name or its question, its variety, its time.

    {"kind": "search", "query": {"prefix": "The", "pattern": " (cat|dog)"}, ...}      The| (cat|dog)
    {"kind": "study", "study": {"kind": "bias", "draws": 12}}                         Bias (draws 12)

The bar is between prefix and pattern. Everything is plain text; the caller escapes it for its place.

A line shows some ninety characters of a text that may have a megabyte. So the text is cut first; blanks are made
visible and words masked only in the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relens.errors import QueryError
from relens.runs.listed_runs import ListedRun
from relens.runs.records import RunRecord
from relens.runs.specification import SearchSpecification, StudySpecification
from relens.studies.catalogue import STUDIES, study_class
from relens_dashboard.narrative import duration_text
from relens_dashboard.studies.masked_view import MaskedView
from relens_dashboard.study_snippets import differing_settings
from relens_dashboard.study_views import study_views
from relens_dashboard.text import shortened, visible

#: Names of searches and statuses for people.
SEARCHES = {"shortest_path": "Best first", "sampling": "Sample", "distribution": "Distribution"}
STATUSES = {
    "queued": "Waiting",
    "running": "Running",
    "done": "Done",
    "stopped": "Stopped",
    "failed": "Failed",
    "interrupted": "Interrupted",
}

#: Characters of a line in a list. Then: settings shown, characters of one, and items of a list in one.
LONGEST_LINE = 90
_MOST_SETTINGS = 3
_LONGEST_SETTING, _MOST_PARTS = 40, 4
#: Characters read of a setting: a masked word may begin in the shown part and end beyond it.
_READ_OF_SETTING = 5 * _LONGEST_SETTING


def variety_names() -> dict[str, str]:
    """The names of all varieties of runs: the searches, and the studies by their titles."""
    return SEARCHES | {kind: study_class(kind).title for kind in STUDIES}


def variety_name(run: RunRecord | ListedRun) -> str:
    """The name of the run's variety."""
    return variety_names().get(run.variety, run.kind.capitalize())


def title(run: RunRecord, longest: int = LONGEST_LINE) -> str:
    """The run's name or, without a name, its question; in one line of at most `longest` characters."""
    return named(run, longest) or question(run, longest)


def named(run: RunRecord | ListedRun, longest: int = LONGEST_LINE) -> str:
    """The run's name in one line of at most `longest` characters; "" where it has none."""
    return _line(run.name, longest)


def question(run: RunRecord, longest: int = LONGEST_LINE) -> str:
    """The run's question in one line of at most `longest` characters, with a study's masked words masked."""
    return question_of(run, run.specification, longest)


def question_of(run: RunRecord | ListedRun, specification: Mapping[str, Any], longest: int = LONGEST_LINE) -> str:
    """The same for a run with its specification read separately."""
    if run.kind == SearchSpecification.kind:
        query = specification.get("query", {})
        # One character more than there is room for: `_line` then marks the cut.
        prefix, pattern = (str(query.get(part, ""))[: longest + 1] for part in ("prefix", "pattern"))
        return _line(f"{prefix}|{pattern}" if prefix else pattern, longest)
    if run.kind == StudySpecification.kind:
        return _study_question(run, specification, longest)
    return _line(run.kind.capitalize(), longest)


def seconds_spent(run: RunRecord | ListedRun) -> float | None:
    """The run's working time in seconds; None before it has begun."""
    if "seconds_total" in run.progress:
        return float(run.progress["seconds_total"])
    if run.started is None or run.ended is None:
        return None
    return max(0.0, run.ended - run.started)


def spent_text(run: RunRecord | ListedRun) -> str:
    """The same in words; "" before it has begun."""
    seconds = seconds_spent(run)
    return "" if seconds is None else duration_text(seconds)


def _line(text: str, longest: int) -> str:
    """`text` in one line, cut before its blanks are made visible."""
    return visible(shortened(text, longest), spaces=False)


def _study_question(run: RunRecord | ListedRun, specification: Mapping[str, Any], longest: int) -> str:
    try:
        study = StudySpecification.from_json(specification).study
    except QueryError:
        return variety_name(run)
    settings = differing_settings(study)
    excerpts = {name: _beginning(settings[name]) for name in list(settings)[:_MOST_SETTINGS]}
    view = study_views().get(run.variety)
    if isinstance(view, MaskedView):
        # Masked whatever this reader chose on the study's own page: all readers see the lines of a list.
        (excerpts,) = view.masker(study).rows([excerpts])
    shown = ", ".join(f"{name.replace('_', ' ')} {_value(value)}" for name, value in excerpts.items())
    more = f", {len(settings) - len(excerpts)} more" if len(settings) > len(excerpts) else ""
    return _line(f"{study.title} ({shown}{more})" if excerpts else study.title, longest)


def _beginning(value: Any) -> Any:
    """The part of a setting that is read; of a list with other items than texts and numbers, their count."""
    if isinstance(value, str):
        return value[:_READ_OF_SETTING]
    if isinstance(value, Mapping):
        return {name[:_READ_OF_SETTING]: _beginning(value[name]) for name in list(value)[:_MOST_PARTS]}
    if isinstance(value, (list, tuple)):
        parts = value[: _MOST_PARTS + 1]
        plain = all(isinstance(part, (str, int, float)) for part in parts)
        return [_beginning(part) for part in parts] if plain else f"({len(value)})"
    return value


def _value(value: Any) -> str:
    if isinstance(value, list):
        parts = [shortened(str(part), _LONGEST_SETTING) for part in value[:_MOST_PARTS]]
        return "/".join(parts) + ("/…" if len(value) > _MOST_PARTS else "")
    return shortened(str(value), _LONGEST_SETTING)
