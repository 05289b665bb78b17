"""A trigger checked: do these words make the model say that, and is it as a search found it?

    input      thank you why but i love you         (as a search found it, or with a word changed by hand)
    target     you are a joke
    row        {"row": "score", "hits": {"o-greedy": false, "o-sample-min-k1": true, ...}, "reply": "i am", ...}

Nothing is searched for: each pair is put through the models once, plainly and in float32. Where the log-probabilities
that a search stored come with it, the row says how far the new ones are from them; so a hit is verified by its words
alone, whatever shortcuts found it. Words that the model does not know are read by it as <unk>, and named.

No language model is used. Source: He and Glass 2019, section 4.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from engine.errors import LimitError, QueryError
from engine.record import Record
from engine.setting import Setting
from engine.studies.rows import ROW, Row, rows_of
from engine.studies.study import Study, StudyContext, Unit
from engine.triggers.check import SCORE, agreement, checked, score_row
from engine.triggers.hits import HitType
from engine.triggers.model.model_list import check_name
from engine.triggers.shared_settings import DIALOGUE_MODEL, FINGERPRINT

MOST_PAIRS, MOST_WORDS, LONGEST_WORD = 2_000, 100, 100

#: The words around a text, which nobody writes; the last word of an input is this one whether it is given or not.
_END_OF_INPUT = "<eou>"
_RESERVED = ("</s>", "<s>", _END_OF_INPUT)


@dataclass(frozen=True)
class CheckedPair(Record):
    """What is said to the model, and what it should answer, in words as `engine.triggers.model.vocabulary` cuts them.

    log_probs: of the target's words and its end, as a search stored them; () where there is nothing to compare with.
    """

    input: tuple[str, ...] = ()
    target: tuple[str, ...] = ()
    log_probs: tuple[float, ...] = ()


@dataclass(frozen=True)
class TriggerCheckStudy(Study):
    """Pairs to be scored by a dialogue model.

    model: its name. fingerprint: of the model that the search was made with, "" for any. hit_type: one whose
    margin is computed besides those of the paper.
    """

    kind: ClassVar[str] = "trigger-check"
    title: ClassVar[str] = "Check of triggers"
    question: ClassVar[str] = "Do these words make the model say that?"
    needs_model: ClassVar[bool] = False

    model: Annotated[str, DIALOGUE_MODEL] = "chitchat"
    pairs: Annotated[
        tuple[CheckedPair, ...],
        Setting(
            "Pairs",
            "One pair a line. The model knows only words of its training; others are read as <unk>, and cannot be "
            "answered.",
            most_items=MOST_PAIRS,
        ),
    ] = ()
    fingerprint: Annotated[str, FINGERPRINT] = ""
    hit_type: Annotated[
        str,
        Setting(
            "Above all, is it",
            "The hit type that the table is about; all of them are told of each pair.",
        ),
    ] = "o-sample-min-k1"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_name(self.model)
        HitType.called(self.hit_type)

    def check(self) -> None:
        """See `Study.check`."""
        if not self.pairs:
            raise QueryError("There is nothing to check.")
        for pair in self.pairs:
            _check(pair)

    def plan(self) -> Iterator[Unit]:
        """One for all pairs, since loading the model takes longer than scoring them."""
        yield Unit("all", "scoring in float32")

    def carry_out(self, unit: Unit, context: StudyContext) -> Iterator[Row | None]:
        """A row for each pair, in their order. Raises what is wrong with the model or a target."""
        from engine.models.hardware import choose_device, use_physical_cores
        from engine.triggers.model.dialogue_model import load_dialogue_model
        from engine.triggers.search.targets import SeenReplies, target_ids

        device = choose_device()
        use_physical_cores(device)
        model = load_dialogue_model(self.model, device)
        yield None
        searched = HitType.called(self.hit_type)
        room = model.configuration.source_length - 1
        seen = SeenReplies(model.texts.replies)
        yield None
        for number, pair in enumerate(self.pairs):
            words = _said(pair.input)
            target = target_ids(model.vocabulary, pair.target)
            score = score_row(*model.losses(target), " ".join(words), model.thresholds, searched, model.fingerprint)
            yield {
                ROW: SCORE,
                "pair": number,
                "target": list(pair.target),
                **checked(score, pair.log_probs, self.fingerprint),
                "seen": seen.how(target),
                "unknown": list(model.vocabulary.unknown(word for word in words[-room:] if word != "<unk>")),
                "left_out": max(0, len(words) - room),
            }

    def verdict(self, rows: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
        """Whether the stored scores come out again, and what the model reads otherwise than it was written."""
        found = rows_of(rows, SCORE)
        if not found:
            return ()
        sentences = [*agreement(found), *_read_otherwise(found)]
        if not all(row["same_model"] for row in found):
            sentences.append("The model of that name has been trained anew since the search; it is another one now.")
        return tuple(sentences)


#: Studies to begin with.
PRESETS: dict[str, TriggerCheckStudy] = {
    "an example": TriggerCheckStudy(
        model="chitchat-quick", pairs=(CheckedPair(("how", "are", "you", "?"), ("i", "am", "good", ".")),)
    )
}


def _check(pair: CheckedPair) -> None:
    if not _said(pair.input):
        raise QueryError("An input has at least one word.")
    if not pair.target:
        raise QueryError("A target has at least one word.")
    for words in (pair.input, pair.target):
        if len(words) > MOST_WORDS or any(len(word) > LONGEST_WORD for word in words):
            raise LimitError(
                f"Inputs and targets have at most {MOST_WORDS} words of at most {LONGEST_WORD} characters.",
                limit="words",
            )
    if pair.log_probs and len(pair.log_probs) != len(pair.target) + 1:
        raise QueryError("Of a target as many log-probabilities are told as it has words, and one of its end.")
    reserved = next((word for word in _said(pair.input) if word in _RESERVED), None)
    if reserved is not None:
        raise QueryError(f"The word {reserved!r} marks an end in the model's texts, and has no place within an input.")


def _said(words: Sequence[str]) -> tuple[str, ...]:
    """The words of an input, without the padding before them and the end behind them."""
    end = len(words) - 1 if words and words[-1] == _END_OF_INPUT else len(words)
    begin = next((place for place, word in enumerate(words[:end]) if word != "<pad>"), end)
    return tuple(words[begin:end])


def _read_otherwise(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    sentences = []
    unknown = list(dict.fromkeys(word for row in rows for word in row["unknown"]))
    if unknown:
        named, these = ", ".join(repr(word) for word in unknown[:8]), "these words" if len(unknown) > 1 else "this word"
        more = f" and {len(unknown) - 8:,} more" if len(unknown) > 8 else ""
        place = "their place" if len(unknown) > 1 else "its place"
        sentences.append(f"The model does not know {these} and reads <unk> in {place}: {named}{more}.")
    cut = max(row["left_out"] for row in rows)
    if cut:
        of = "The input" if len(rows) == 1 else "The longest input"
        what = "first word is" if cut == 1 else f"first {cut:,} words are"
        sentences.append(f"{of} was too long; its {what} not read.")
    return sentences
