"""The findings of training a dialogue model: its loss by step and epoch, and its perplexities on held-out pairs.

replies      3.71 nats a word    perplexity 41    threshold T_out -3.71
sentences    4.34 nats a word    perplexity 77    threshold T_in  -4.34
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from relens.counted import counted
from relens.studies.rows import Rows
from relens.triggers.model.training_rows import EpochCost, Part, TrainedModel, TrainingStep

if TYPE_CHECKING:
    from relens.triggers.model.training_study import DialogueModelStudy


@dataclass(frozen=True)
class TrainingFindings:
    """steps, epochs: in the order of training. model: None as long as it is not measured."""

    steps: tuple[TrainingStep, ...]
    epochs: tuple[EpochCost, ...]
    model: TrainedModel | None

    def steps_of(self, part: Part) -> list[TrainingStep]:
        """The steps of one part."""
        return [step for step in self.steps if step.part == part]

    def epochs_of(self, part: Part) -> list[EpochCost]:
        """The epochs of one part."""
        return [epoch for epoch in self.epochs if epoch.part == part]

    @property
    def verdict(self) -> tuple[str, ...]:
        """The pairs, the perplexities and the thresholds; () as long as there is no model."""
        model = self.model
        if model is None:
            return ()
        return (
            f"The model {model.name!r} was trained on {counted(model.pairs, 'pair')} of the corpus {model.corpus!r}.",
            f"On {counted(model.test_pairs, 'held-out pair')}, a word of a reply has perplexity {model.perplexity:,.0f}"
            f" ({-model.threshold_out:.2f} nats a word; threshold T_out {model.threshold_out:.2f}).",
            f"A word of a sentence by itself has perplexity {model.sentence_perplexity:,.0f}"
            f" (threshold T_in {model.threshold_in:.2f}).",
        )


def training_findings(rows: Rows, study: DialogueModelStudy) -> TrainingFindings:
    """The findings of these rows, which may be those of a study that is not finished."""
    rows = list(rows)
    models = TrainedModel.all_in(rows)
    return TrainingFindings(
        tuple(TrainingStep.all_in(rows)), tuple(EpochCost.all_in(rows)), models[-1] if models else None
    )
