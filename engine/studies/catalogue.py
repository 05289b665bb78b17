"""All studies by their kind; the module of each is imported when it is needed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from engine.errors import QueryError
from engine.studies.rows import Rows

if TYPE_CHECKING:
    from engine.studies.study import Findings, Study

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

#: Where the findings of a study are made: by a function of its rows and the study.
_FINDINGS = {
    "bias": "engine.studies.bias_findings:bias_findings",
    "brute-force": "engine.triggers.brute_force.findings:brute_force_findings",
    "causal-triggers": "engine.triggers.causal.causal_findings:causal_findings",
    "cloze": "engine.studies.cloze_findings:cloze_findings",
    "decoder": "engine.studies.decoder_view:decoder_findings",
    "dialogue-model": "engine.triggers.model.training_findings:training_findings",
    "encodings": "engine.studies.encodings_findings:encodings_findings",
    "knowledge": "engine.studies.knowledge_findings:knowledge_findings",
    "memorization": "engine.studies.memorization_findings:memorization_findings",
    "prompt-check": "engine.triggers.causal.check_study:prompt_check_findings",
    "relaxation": "engine.triggers.relaxation.findings:relaxation_findings",
    "replay": "engine.studies.replay_findings:replay_findings",
    "toxicity": "engine.studies.toxicity_findings:toxicity_findings",
    "trigger-ablation": "engine.triggers.search.ablation_findings:ablation_findings",
    "trigger-check": "engine.triggers.search.check_study:pair_check_findings",
    "triggers": "engine.triggers.search.trigger_findings:trigger_findings",
}

STUDIES = tuple(_HOME)


def study_class(kind: Any) -> type[Study]:
    """The study of that kind. Raises `QueryError` for one that there is not."""
    if kind not in _HOME:
        raise QueryError(f"A study is one of {', '.join(map(repr, STUDIES))}, not {kind!r}.")
    return cast("type[Study]", _imported(_HOME[kind]))


def findings(study: Study, rows: Rows) -> Findings:
    """The findings of a study's rows. Raises `QueryError` for rows that the study does not write."""
    return cast("Findings", _imported(_FINDINGS[study.kind])(rows, study))


def presets(kind: str) -> dict[str, Study]:
    """The presets of a study by name, as its module has them in `PRESETS`."""
    module = _HOME[kind].partition(":")[0]
    return dict(getattr(import_module(module), "PRESETS", {}))


def _imported(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
