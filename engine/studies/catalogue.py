"""The studies there are, by the kind that their specification names; each is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from engine.errors import QueryError

if TYPE_CHECKING:
    from engine.studies.study import Study

_HOME = {
    "bias": "engine.studies.bias:BiasStudy",
    "brute-force": "engine.triggers.brute_force.study:BruteForceStudy",
    "causal-triggers": "engine.triggers.causal.causal_study:CausalTriggerStudy",
    "cloze": "engine.studies.cloze:ClozeStudy",
    "decoder": "engine.studies.decoder_view:DecoderStudy",
    "encodings": "engine.studies.encodings:EncodingsStudy",
    "dialogue-model": "engine.triggers.model.training_study:DialogueModelStudy",
    "knowledge": "engine.studies.knowledge:KnowledgeStudy",
    "memorization": "engine.studies.memorization:MemorizationStudy",
    "prompt-check": "engine.triggers.causal.check_study:PromptCheckStudy",
    "relaxation": "engine.triggers.relaxation.study:RelaxationStudy",
    "replay": "engine.studies.replay:ReplayStudy",
    "toxicity": "engine.studies.toxicity:ToxicityStudy",
    "trigger-ablation": "engine.triggers.search.ablation_study:AblationStudy",
    "trigger-check": "engine.triggers.search.check_study:TriggerCheckStudy",
    "triggers": "engine.triggers.search.trigger_study:TriggerStudy",
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
