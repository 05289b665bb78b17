"""The studies there are, by the kind that their specification names; each is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from engine.errors import QueryError
from engine.studies.study import Study

_HOME = {
    "bias": "engine.studies.bias:BiasStudy",
    "cloze": "engine.studies.cloze:ClozeStudy",
    "knowledge": "engine.studies.knowledge:KnowledgeStudy",
    "memorization": "engine.studies.memorization:MemorizationStudy",
    "toxicity": "engine.studies.toxicity:ToxicityStudy",
}

STUDIES = tuple(_HOME)


def study_class(kind: Any) -> type[Study]:
    """The study of that kind. Raises `QueryError` for one that there is not."""
    if kind not in _HOME:
        raise QueryError(f"A study is one of {', '.join(map(repr, STUDIES))}, not {kind!r}.")
    module, _, name = _HOME[kind].partition(":")
    found: type[Study] = getattr(import_module(module), name)
    return found


def presets(kind: str) -> dict[str, Study]:
    """The presets of a study by name, as its module has them in `PRESETS`."""
    module = _HOME[kind].partition(":")[0]
    return dict(getattr(import_module(module), "PRESETS", {}))
