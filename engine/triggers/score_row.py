"""What an input and a target score, as a row of a search or of a check has it, whatever model was asked.

    {"row": "trigger", "text": "mean words", "target_tokens": ["I", " hate", " you", "."], "token_log_probs": [...],
     "margins": {"o-greedy": -2.4, "o-sample-min-k1": 0.3, ...}, "hits": {"o-greedy": false, ...},
     "thresholds": {"out": -3.9, "into": -4.1}, "reply": "I am sorry", "is_said": false, ...}

Studies once wrote rows of two shapes, of dialogue models ("threshold_out", "input") and of prompts ("nll", and hits as
objects); `ScoreRow.of` and `hits_of` read these too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from engine.record import Record
from engine.triggers.hits import Thresholds

Row = Mapping[str, Any]

#: Words around a sentence of a dialogue, and the one that ends a reply, which an old row leaves out of its target.
_AROUND, _END = ("<pad>", "<eou>", "</s>", "<s>"), "</s>"


@dataclass(frozen=True)
class ScoreRow(Record):
    """Log-probabilities in nats.

    token_name: "word" of a dialogue model, whose tokens are words with blanks between them, else "token". text: what
    stood in place of the trigger; prompt: all that the model read, "" where that is all. input_ids: the text as the
    model reads it; input_tokens: as the judge of inputs does, of which the last have the input_log_probs.
    token_log_probs, leads: of each of the target_tokens, the last of which is its end where the target `ends`. reply:
    the greedy one; reply_ends: whether it came to its end; is_said: whether it begins with the target. margins: by hit
    type, above 0 a hit; searched: the hit type that it is all about. attention: for each token of the target, how it
    weighed those of the input, None of a model without attention, () where it is not known. fingerprint: of the model,
    "" where it is not known.
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

    def to_json(self) -> dict[str, Any]:
        """The fields, and what follows from them, for those who read the rows elsewhere."""
        derived = {"hits": self.hits, "average": self.average, "lowest": self.lowest}
        return {**super().to_json(), **derived, "input_average": self.input_average}

    @classmethod
    def of(cls, row: Row, searched: str = "") -> Self:
        """The score in a row of any shape; searched: the hit type, for an old row that does not say so."""
        if "threshold_out" in row:
            return cls._of_old_dialogue(row, searched)
        margins = row.get("margins") or {name: float(hit["margin"]) for name, hit in row["hits"].items()}
        return cls(
            text=str(row["text"]),
            input_tokens=tuple(row.get("input_tokens", ())),
            input_log_probs=tuple(row["input_log_probs"]),
            target_tokens=tuple(row.get("target_tokens", ())),
            token_log_probs=tuple(row["token_log_probs"]),
            leads=tuple(row.get("leads", ())),
            reply=str(row["reply"]),
            is_said=bool(row.get("is_said", margins.get("o-greedy", 0.0) > 0.0)),
            margins=dict(margins),
            searched=str(row["searched"]),
            thresholds=Thresholds(**row["thresholds"]),
            token_name=row.get("token_name", "token"),
            ends=bool(row.get("ends", True)),
            reply_ends=bool(row.get("reply_ends", True)),
            prompt=str(row.get("prompt", "")),
            input_ids=tuple(row.get("input_ids", row.get("trigger_ids", ()))),
            target_ids=tuple(row.get("target_ids", ())),
            reply_ids=tuple(row.get("reply_ids", ())),
            attention=_attention(row),
            fingerprint=str(row.get("fingerprint", "")),
        )

    @classmethod
    def _of_old_dialogue(cls, row: Row, searched: str) -> Self:
        said = list(row["reply"]) == list(row["target"]) and bool(row["reply_ends"])
        return cls(
            text=sentence(row["input"]),
            input_tokens=tuple(row["input"]),
            input_log_probs=tuple(row["input_log_probs"]),
            target_tokens=(*row["target"], _END),
            token_log_probs=tuple(row["token_log_probs"]),
            leads=tuple(row.get("leads", ())),
            reply=sentence(row["reply"]),
            is_said=said,
            margins=dict(row["margins"]),
            searched=str(row.get("hit_type", searched)),
            thresholds=Thresholds(row["threshold_out"], row["threshold_in"]),
            token_name="word",
            reply_ends=bool(row["reply_ends"]),
            input_ids=tuple(row.get("input_ids", ())),
            target_ids=tuple(row.get("target_ids", ())),
            attention=_attention(row),
            fingerprint=str(row.get("fingerprint", "")),
        )


def hits_of(row: Row) -> dict[str, bool]:
    """By hit type, whether the row, of any shape, is a hit; without the rest of its score."""
    return {name: bool(hit["is_hit"] if isinstance(hit, Mapping) else hit) for name, hit in row.get("hits", {}).items()}


def sentence(words: Sequence[str]) -> str:
    """The words of a dialogue as one text, without the padding and the marks of the end."""
    return " ".join(word for word in words if word not in _AROUND)


def _attention(row: Row) -> tuple[tuple[float, ...], ...] | None:
    rows = row.get("attention", ())
    return None if rows is None else tuple(tuple(weights) for weights in rows)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
