"""A run told in a line: its name or what it asked, of what kind it is, how long it took, and where it is opened.

    {"kind": "search", "query": {"prefix": "The", "pattern": " (cat|dog)"}, ...}      The| (cat|dog)
    {"kind": "study", "study": {"kind": "bias", "draws": 12}}                         Bias (draws 12)

The bar stands where the prefix ends and the pattern begins, as on the command line. Everything is plain text; whoever
shows it escapes it for its place.
"""

from __future__ import annotations

from typing import Any

from app.narrative import duration_text
from app.study_snippets import differing_settings
from app.study_views import study_views
from app.text import shortened, visible
from engine.errors import QueryError
from engine.runs.records import RunRecord
from engine.runs.specification import SearchSpecification, StudySpecification
from engine.studies.catalogue import STUDIES, study_class

#: What the varieties of runs are called.
SEARCHES = {"shortest_path": "Best first", "sampling": "Sample", "distribution": "Distribution"}
STATUSES = {
    "queued": "Waiting",
    "running": "Running",
    "done": "Done",
    "stopped": "Stopped",
    "failed": "Failed",
    "interrupted": "Interrupted",
}

_LONGEST = 90
_SETTINGS_TOLD = 3


def variety_names() -> dict[str, str]:
    """Every variety of run and what it is called: the searches, and the studies by their titles."""
    return SEARCHES | {kind: study_class(kind).title for kind in STUDIES}


def variety_name(run: RunRecord) -> str:
    """What the run's variety is called."""
    return variety_names().get(run.variety, run.kind.capitalize())


def title(run: RunRecord, longest: int = _LONGEST) -> str:
    """The run's name or, where it has none, what it asked; in one line of at most `longest` characters."""
    return shortened(visible(run.name, spaces=False) or question(run), longest)


def question(run: RunRecord) -> str:
    """What was asked, in one line. Words that a study masks are masked."""
    if run.kind == SearchSpecification.kind:
        query = run.specification.get("query", {})
        prefix, pattern = str(query.get("prefix", "")), str(query.get("pattern", ""))
        return visible(f"{prefix}|{pattern}" if prefix else pattern, spaces=False)
    if run.kind == StudySpecification.kind:
        return _study_question(run)
    return run.kind.capitalize()


def seconds_spent(run: RunRecord) -> float | None:
    """How long the run has worked, in seconds; None where it has not begun."""
    if "seconds_total" in run.progress:
        return float(run.progress["seconds_total"])
    if run.started is None or run.ended is None:
        return None
    return max(0.0, run.ended - run.started)


def spent_text(run: RunRecord) -> str:
    """The same in words, "" where it has not begun."""
    seconds = seconds_spent(run)
    return "" if seconds is None else duration_text(seconds)


def _study_question(run: RunRecord) -> str:
    try:
        study = StudySpecification.from_json(run.specification).study
    except QueryError:
        return variety_name(run)
    view = study_views().get(run.variety)
    settings = differing_settings(study)
    mask = view.mask(study) if view is not None else None
    if mask is not None:
        (settings,) = mask.rows([settings])
    told = [f"{name.replace('_', ' ')} {_value(value)}" for name, value in settings.items()]
    more = f", {len(told) - _SETTINGS_TOLD} more" if len(told) > _SETTINGS_TOLD else ""
    named = ", ".join(told[:_SETTINGS_TOLD]) + more
    return visible(f"{study.title} ({named})" if told else study.title, spaces=False)


def _value(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        plain = all(isinstance(item, (str, int, float)) for item in value)
        return "/".join(map(str, value[:4])) + ("/…" if len(value) > 4 else "") if plain else f"({len(value)})"
    return shortened(str(value), 40)
