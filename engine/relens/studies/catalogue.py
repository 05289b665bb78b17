"""All studies by their kind; the module of each is imported when it is needed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from relens.errors import QueryError
from relens.studies.rows import Rows

if TYPE_CHECKING:
    from relens.studies.study import Findings, Study

_HOME = {
    "bias": "relens.studies.bias:BiasStudy",
    "brute-force": "relens.triggers.brute_force.study:BruteForceStudy",
    "causal-triggers": "relens.triggers.causal.causal_study:CausalTriggerStudy",
    "cloze": "relens.studies.cloze:ClozeStudy",
    "decoder": "relens.studies.decoder_view:DecoderStudy",
    "encodings": "relens.studies.encodings:EncodingsStudy",
    "dialogue-model": "relens.triggers.model.training_study:DialogueModelStudy",
    "knowledge": "relens.studies.knowledge:KnowledgeStudy",
    "memorization": "relens.studies.memorization:MemorizationStudy",
    "prompt-check": "relens.triggers.causal.check_study:PromptCheckStudy",
    "relaxation": "relens.triggers.relaxation.study:RelaxationStudy",
    "replay": "relens.studies.replay:ReplayStudy",
    "toxicity": "relens.studies.toxicity:ToxicityStudy",
    "trigger-ablation": "relens.triggers.search.ablation_study:AblationStudy",
    "trigger-check": "relens.triggers.search.check_study:TriggerCheckStudy",
    "triggers": "relens.triggers.search.trigger_study:TriggerStudy",
}

#: Where the findings of a study are made: by a function of its rows and the study.
_FINDINGS = {
    "bias": "relens.studies.bias_findings:bias_findings",
    "brute-force": "relens.triggers.brute_force.findings:brute_force_findings",
    "causal-triggers": "relens.triggers.causal.causal_findings:causal_findings",
    "cloze": "relens.studies.cloze_findings:cloze_findings",
    "decoder": "relens.studies.decoder_view:decoder_findings",
    "dialogue-model": "relens.triggers.model.training_findings:training_findings",
    "encodings": "relens.studies.encodings_findings:encodings_findings",
    "knowledge": "relens.studies.knowledge_findings:knowledge_findings",
    "memorization": "relens.studies.memorization_findings:memorization_findings",
    "prompt-check": "relens.triggers.causal.check_study:prompt_check_findings",
    "relaxation": "relens.triggers.relaxation.findings:relaxation_findings",
    "replay": "relens.studies.replay_findings:replay_findings",
    "toxicity": "relens.studies.toxicity_findings:toxicity_findings",
    "trigger-ablation": "relens.triggers.search.ablation_findings:ablation_findings",
    "trigger-check": "relens.triggers.search.check_study:pair_check_findings",
    "triggers": "relens.triggers.search.trigger_findings:trigger_findings",
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
