"""One trigger at a time, and what can be asked of the model about it; of dialogue models and of prompts.

    thank you why but i love you       each word shaded by how odd it is in a sentence
    => you are a j···                  reached by: every word likely (k = 1), likely on average (k = 1) ...
    the model says: i love you too

    [ thank you why but we love you ]  [Score again]  [Verify]  [Verify all]

Scoring needs the model, so it is a run of its own (`app.studies.check_run`): a study says how its triggers are named
and checked (`TriggerCards`), and the rest is the same for all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import streamlit as st

from app.masks import shown
from app.studies.check_run import ask_about, asked_check, begin_check, show_check
from app.studies.trigger_score import revealed, show_score, texts_of
from app.studies.trigger_words import ARROW, target_text
from app.text import shortened
from engine.studies.masking import Masker
from engine.studies.rows import rows_of
from engine.studies.study import Study
from engine.triggers.causal.causal_study import SETTING, CausalTriggerStudy
from engine.triggers.causal.check_study import MOST_CHARACTERS, MOST_TEXTS, CheckedText, PromptCheckStudy
from engine.triggers.check import SCORE
from engine.triggers.hits import Thresholds
from engine.triggers.model.vocabulary import words_of_text
from engine.triggers.score_row import ScoreRow
from engine.triggers.search.check_study import MOST_PAIRS, CheckedPair, TriggerCheckStudy
from engine.triggers.search.trigger_study import TriggerStudy

if TYPE_CHECKING:
    from app.services import Services
    from app.studies.view import Rows
    from engine.runs.records import RunRecord

Row = Mapping[str, Any]


class TriggerCards(ABC):
    """The cards of the triggers that a run found, `found`, for those who searched for the hit type `searched`.

    label, help: of the choice of a trigger. ask_help: of the field with its text, of scoring, of verifying. longest:
    characters of a text; most: triggers that are verified at once.
    """

    kind: ClassVar[str]
    label: ClassVar[str]
    help: ClassVar[str]
    ask_help: ClassVar[tuple[str, str, str]]
    longest: ClassVar[int]
    most: ClassVar[int]
    check_kind: ClassVar[str]

    def __init__(self, services: Services, run: RunRecord, found: Rows, searched: str) -> None:
        self.services, self.run, self.searched = services, run, searched
        self.by_unit = {str(row["unit"]): row for row in found}

    @abstractmethod
    def name(self, row: Row, mask: Masker | None) -> str:
        """What tells a trigger from the others."""

    def is_last(self, row: Row) -> bool:
        """Whether a trigger is there to compare with, and comes after all others."""
        return False

    @property
    def model(self) -> str:
        """The model that a check is listed under."""
        return self.run.model

    @abstractmethod
    def check_of(self, rows: Sequence[Row], typed: str | None = None) -> Study:
        """The check of the stored texts of some rows, or of a text that was typed for the target of one."""

    @abstractmethod
    def is_about(self, check: Study, row: Row) -> bool:
        """Whether a check is of the target of a row."""

    def show(self, mask: Masker | None) -> bool:
        """Draw the choice of a trigger, its card, and what was asked about it; whether an answer is still to come."""
        st.header("One trigger at a time", anchor=False)
        order = sorted(self.by_unit, key=lambda unit: self._rank(self.by_unit[unit]))
        chosen = st.selectbox(
            self.label,
            order,
            format_func=lambda unit: self._label(self.by_unit[unit], mask),
            key=f"{self.kind}_card_{self.run.id}",
            help=self.help,
        )
        row = self.by_unit[chosen if chosen in self.by_unit else order[0]]
        with st.container(border=True, key="trigger_card"):
            own = revealed(texts_of(row), mask, f"{self.kind}_reveal_{self.run.id}_{row['unit']}")
            show_score(row, self.searched, own, f"{self.kind}_card_{self.run.id}")
        self._ask(row, own)
        return self._answer(row, own)

    def _rank(self, row: Row) -> tuple[bool, float]:
        return self.is_last(row), -ScoreRow.of(row).margins.get(self.searched, float("-inf"))

    def _label(self, row: Row, mask: Masker | None) -> str:
        sign = "✓" if ScoreRow.of(row).hits.get(self.searched) else "✗"
        return f"{sign} {self.name(row, mask)}"

    def _ask(self, row: Row, mask: Masker | None) -> None:
        """The field and the buttons; what they ask for is submitted."""
        found = list(self.by_unit.values())[: self.most]
        typed, asked = ask_about(
            ScoreRow.of(row).text,
            mask,
            kind=self.kind,
            key=f"{self.run.id}_{row['unit']}",
            longest=self.longest,
            count=len(found),
            help=self.ask_help,
        )
        if asked:
            rows = found if asked == "all" else [row]
            begin_check(self.services, self.model, self.check_of(rows, typed if asked == "typed" else None))

    def _answer(self, row: Row, mask: Masker | None) -> bool:
        """The answer of the check in the address, where it is of this target; whether there is more to come."""
        check = asked_check(self.services, self.check_kind)
        if check is None or not self.is_about(check.study, row):
            return False
        show_check(check, mask)
        scores = rows_of(check.rows, SCORE)
        if len(scores) == 1:
            with st.container(border=True, key="trigger_check_card"):
                show_score(scores[0], self.searched, mask, f"{self.kind}_check_{check.run.id}")
        return check.run.is_live


class DialogueCards(TriggerCards):
    """Triggers of a dialogue model: words."""

    kind, check_kind = TriggerStudy.kind, TriggerCheckStudy.kind
    label = "Target"
    help = (
        "The clearest hits come first, then what came closest; the lists to compare with are last. The card below "
        "shows the trigger that was found."
    )
    ask_help = (
        "Other words to say to the model, scored for the same target; words that it does not know count as <unk>.",
        "Asks the model how likely the target is after the words above, by all hit types.",
        "Replays the stored words of this trigger in float32, one by one, and compares every number.",
    )
    longest, most = 1_000, MOST_PAIRS

    def __init__(self, services: Services, run: RunRecord, study: TriggerStudy, found: Rows) -> None:
        super().__init__(services, run, found, study.hit_type)
        self.study = study

    @property
    def model(self) -> str:
        """See `TriggerCards.model`."""
        return self.study.model

    def name(self, row: Row, mask: Masker | None) -> str:
        """See `TriggerCards.name`."""
        return f"{row['list']} {row['place']}: {shortened(shown(mask, target_text(row)), 70)}"

    def is_last(self, row: Row) -> bool:
        """See `TriggerCards.is_last`."""
        return row["list"] in ("normal", "random")

    def check_of(self, rows: Sequence[Row], typed: str | None = None) -> TriggerCheckStudy:
        """See `TriggerCards.check_of`."""
        pairs = []
        for row in rows:
            score, target = ScoreRow.of(row), tuple(row["target"])
            if typed is None:
                pairs.append(CheckedPair(score.input_tokens, target, score.token_log_probs))
            else:
                pairs.append(CheckedPair(words_of_text(typed), target))
        fingerprint = ScoreRow.of(next(iter(self.by_unit.values()))).fingerprint
        return TriggerCheckStudy(self.study.model, tuple(pairs), fingerprint, self.study.hit_type)

    def is_about(self, check: Study, row: Row) -> bool:
        """See `TriggerCards.is_about`."""
        assert isinstance(check, TriggerCheckStudy)
        return check.model == self.study.model and any(pair.target == tuple(row["target"]) for pair in check.pairs)


class PromptCards(TriggerCards):
    """Triggers in prompts: tokens."""

    kind, check_kind = CausalTriggerStudy.kind, PromptCheckStudy.kind
    label = "Search"
    help = "The clearest hits come first, then what came closest. The card below shows the trigger that was found."
    ask_help = (
        "Another text in the same place of the same prompt, of any length, scored for the same target.",
        "Asks the model how likely the target is after the text above, by all hit types.",
        "Puts the stored text into the prompt anew, encodes the whole, and compares every number.",
    )
    longest, most = MOST_CHARACTERS, MOST_TEXTS

    def __init__(self, services: Services, run: RunRecord, study: CausalTriggerStudy, found: Rows, rows: Rows) -> None:
        super().__init__(services, run, found, study.hit_type.name)
        self.study = study
        self._settings = {str(row["unit"]): row for row in rows_of(rows, SETTING)}

    def name(self, row: Row, mask: Masker | None) -> str:
        """See `TriggerCards.name`."""
        return f"{shown(mask, target_text(row), 70)} · seed {row['seed']}"

    def check_of(self, rows: Sequence[Row], typed: str | None = None) -> PromptCheckStudy:
        """See `TriggerCards.check_of`."""
        study, texts = self.study, []
        for row in rows:
            score, target = ScoreRow.of(row), target_text(row)
            if typed is None:
                texts.append(CheckedText(score.text, target, score.token_log_probs))
            else:
                texts.append(CheckedText(typed, target))
        return PromptCheckStudy(
            texts=tuple(texts),
            template=study.template,
            hit_type=study.hit_type,
            ends=study.ends,
            thresholds=Thresholds.from_json(rows[0]["thresholds"]),
            judge=study.judge,
            encoder_decoder=study.encoder_decoder,
            fingerprint=str(self._settings.get(str(rows[0]["unit"]), {}).get("fingerprint", "")),
        )

    def is_about(self, check: Study, row: Row) -> bool:
        """See `TriggerCards.is_about`."""
        assert isinstance(check, PromptCheckStudy)
        return any(asked.target == row["target"] for asked in check.texts)


def show_checked(run: RunRecord, found: Rows, searched: str, mask: Masker | None, *, kind: str, noun: str) -> None:
    """The choice of a row of a check, and its card; noun: what a row is of."""
    st.header(f"One {noun} at a time", anchor=False)
    chosen = st.selectbox(
        noun.capitalize(),
        range(len(found)),
        format_func=lambda place: _checked_label(found[place], searched, mask),
        key=f"{kind}_card_{run.id}",
        help=f"Which {noun} the card below shows.",
    )
    row = found[min(chosen or 0, len(found) - 1)]
    with st.container(border=True, key="trigger_check_card"):
        own = revealed(texts_of(row), mask, f"{kind}_reveal_{run.id}_{row['pair']}")
        show_score(row, searched, own, f"{kind}_{run.id}")


def _checked_label(row: Row, searched: str, mask: Masker | None) -> str:
    score = ScoreRow.of(row)
    text, target = (shortened(shown(mask, one), 50) for one in (score.text, target_text(row)))
    return f"{'✓' if score.hits.get(searched) else '✗'} {text} {ARROW} {target}"
