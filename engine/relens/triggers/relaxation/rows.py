"""Rows of a continuous relaxation: the length of each list, the course of each descent, the outcome for each target.

{"row": "list", "space": "one-hot", "list": "normal", "targets": 20}
{"row": "descent", "space": "one-hot", "list": "normal", "step": 40, "cost": 2.1, "hits": 3, ...}
{"row": "target", "space": "one-hot", "list": "normal", "target": ["i", "see"], "hit": true, ...}
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from relens.record import Record
from relens.studies.rows import StudyRow
from relens.triggers.relaxation.settings import Space
from relens.triggers.search.targets import DroppedTarget


@dataclass(frozen=True)
class DescentProgress(Record):
    """The state of a descent. step: from 1. cost: mean nats a word of the targets; open: targets still moved."""

    step: int
    steps: int
    cost: float
    hits: int
    open: int


@dataclass(frozen=True, kw_only=True)
class Outcome(Record):
    """The result of a descent for one target.

    hit: whether the greedy reply to the relaxed input is the target. first_hit: the step of the first hit, None for
    none; step: that of the input that is kept. cost: nats a word of the target. penalty: R, None in the embedding
    space. projected_hit: whether the greedy reply to the projected input is the target.

    By place of the input that is kept: largest, second: the two largest shares of a word (one-hot space only). vector
    (one-hot space only), embedding, state: how far the projection moves the shares, the embedding and the encoder's
    state, as Euclidean norms.
    """

    hit: bool
    first_hit: int | None
    step: int
    cost: float
    penalty: float | None = None
    projected_hit: bool
    largest: tuple[float, ...] = ()
    second: tuple[float, ...] = ()
    vector: tuple[float, ...] = ()
    embedding: tuple[float, ...]
    state: tuple[float, ...]


@dataclass(frozen=True)
class _ListRow(StudyRow):
    """A row of one list of targets in one space."""

    space: Space
    list: str


@dataclass(frozen=True)
class ListLength(_ListRow):
    """How many targets of the list the study takes."""

    row_name: ClassVar[str] = "list"
    targets: int


@dataclass(frozen=True)
class LeftOut(DroppedTarget, _ListRow):
    """A target that no reply of the model can be."""

    row_name: ClassVar[str] = "dropped"


@dataclass(frozen=True)
class DescentStep(DescentProgress, _ListRow):
    """A report of a descent."""

    row_name: ClassVar[str] = "descent"


@dataclass(frozen=True)
class RelaxedTarget(Outcome, _ListRow):
    """The outcome for one target, in words. model: its fingerprint. reply, projected_reply: to which input."""

    row_name: ClassVar[str] = "target"
    target: tuple[str, ...]
    model: str
    reply: tuple[str, ...]
    projected: tuple[str, ...]
    projected_reply: tuple[str, ...]
