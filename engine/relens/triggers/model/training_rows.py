"""Rows of training a dialogue model: its steps, the held-out cost after each epoch, and the model that comes out.

{"row": "step", "part": "replies", "epoch": 1, "step": 16, "steps": 1610, "loss": 4.7, ...}
{"row": "epoch", "part": "replies", "epoch": 1, "nll": 3.9, "perplexity": 49.4, "seconds": 81.0}
{"row": "model", "name": "chitchat", "threshold_out": -3.9, "threshold_in": -4.4, ...}
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from relens.record import Record
from relens.studies.rows import StudyRow

#: The two networks of a dialogue model: the dialogue model proper, and the sentence model.
Part = Literal["replies", "sentences"]
REPLIES: Part = "replies"
SENTENCES: Part = "sentences"


@dataclass(frozen=True)
class TrainingProgress(Record):
    """The state of training. epoch, step: from 1. loss: nats a word, over the steps since the last report.

    seconds_left: until all epochs are done, at the speed of this epoch.
    """

    epoch: int
    step: int
    steps: int
    loss: float
    words_a_second: float
    seconds_left: float

    @property
    def epochs(self) -> float:
        """Epochs done, parts of them included."""
        return self.epoch - 1 + self.step / self.steps


@dataclass(frozen=True)
class _PartRow(StudyRow):
    part: Part


@dataclass(frozen=True)
class TrainingStep(TrainingProgress, _PartRow):
    """A report of the training of one part."""

    row_name: ClassVar[str] = "step"


@dataclass(frozen=True)
class EpochCost(_PartRow):
    """The cost after an epoch. nll: nats a word on held-out pairs; seconds: of the epoch."""

    row_name: ClassVar[str] = "epoch"
    epoch: int
    nll: float
    perplexity: float
    seconds: float


@dataclass(frozen=True)
class TrainedModel(StudyRow):
    """The model. vocabulary: its size. threshold_out, threshold_in: nats a word. The rest as in `Training`."""

    row_name: ClassVar[str] = "model"
    name: str
    fingerprint: str
    vocabulary: int
    threshold_out: float
    threshold_in: float
    corpus: str
    corpus_fingerprint: str
    pairs: int
    test_pairs: int
    perplexity: float
    sentence_perplexity: float
    unknown_share: float


def perplexity(cost: float) -> float:
    """e to the power of a cost in nats: a number of equally likely words."""
    return math.exp(min(cost, 700.0))
