"""One trigger at a time, with checks of it; of dialogue models and of prompts.

    thank you why but i love you       each word shaded by how odd it is in a sentence
    => you are a j···                  reached by: every word likely (k = 1), likely on average (k = 1) ...
    greedy reply: i love you too

    [ thank you why but we love you ]  [Score again]  [Verify]  [Verify all]

A score needs the model, so it is a run of its own (`relens_dashboard.studies.check_run`). `TriggerCards` is the same
for all studies but for the names and the checks of their triggers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

import streamlit as st

from relens.studies.masking import Masker
from relens.studies.study import Study
from relens.triggers.causal.causal_study import CausalTriggerStudy
from relens.triggers.causal.check_study import MOST_CHARACTERS, MOST_TEXTS, CheckedText, PromptCheckStudy, TextScoreRow
from relens.triggers.causal.rows import PromptTriggerRow
from relens.triggers.check import CheckRow
from relens.triggers.model.vocabulary import words_of_text
from relens.triggers.score_row import ScoreRow
from relens.triggers.search.check_study import MOST_PAIRS, CheckedPair, PairScoreRow, TriggerCheckStudy
from relens.triggers.search.rows import TriggerRow
from relens.triggers.search.trigger_study import TriggerStudy
from relens_dashboard.masks import shown
from relens_dashboard.studies.check_run import ask_about, begin_check, current_check, show_check
from relens_dashboard.studies.trigger_score import revealed, show_score
from relens_dashboard.text import shortened

if TYPE_CHECKING:
    from relens.runs.records import RunRecord
    from relens_dashboard.services import Services

RowT = TypeVar("RowT", bound=ScoreRow)


class TriggerCards(ABC, Generic[RowT]):
    """The cards of the triggers of a run. searched: the hit type of the search.

    label, help: of the choice of a trigger. ask_help: of the field with its text, of scoring, of verifying. longest:
    characters of a text; most: triggers of one check. check_kind, checked_row: of its checks.
    """

    kind: ClassVar[str]
    label: ClassVar[str]
    help: ClassVar[str]
    ask_help: ClassVar[tuple[str, str, str]]
    longest: ClassVar[int]
    most: ClassVar[int]
    check_kind: ClassVar[str]
    checked_row: ClassVar[type[CheckRow]]

    def __init__(self, services: Services, run: RunRecord, triggers: Sequence[RowT], searched: str) -> None:
        self.services, self.run, self.searched = services, run, searched
        self.by_unit = {row.unit: row for row in triggers}

    @abstractmethod
    def name(self, row: RowT, mask: Masker | None) -> str:
        """The name of a trigger among the others."""

    def is_last(self, row: RowT) -> bool:
        """Whether a trigger is there for comparison, and comes after all others."""
        return False

    @property
    def model(self) -> str:
        """The model of the listed check."""
        return self.run.model

    @abstractmethod
    def check_of(self, rows: Sequence[RowT], typed: str | None = None) -> Study:
        """The check of the stored texts of some rows, or of a typed text for the target of one."""

    @abstractmethod
    def is_about(self, check: Study, row: RowT) -> bool:
        """Whether a check is of the target of a row."""

    def show(self, mask: Masker | None) -> bool:
        """Draw the choice of a trigger, its card, and its check; whether an answer is still to come."""
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
            own = revealed(row, mask, f"{self.kind}_reveal_{self.run.id}_{row.unit}")
            show_score(row, self.searched, own, f"{self.kind}_card_{self.run.id}")
        self._ask(row, own)
        return self._answer(row, own)

    def _rank(self, row: RowT) -> tuple[bool, float]:
        return self.is_last(row), -row.score.margins.get(self.searched, float("-inf"))

    def _label(self, row: RowT, mask: Masker | None) -> str:
        return f"{'✓' if row.score.is_hit(self.searched) else '✗'} {self.name(row, mask)}"

    def _ask(self, row: RowT, mask: Masker | None) -> None:
        """The field and the buttons; a press submits a check."""
        triggers = list(self.by_unit.values())[: self.most]
        typed, request = ask_about(
            row.score.text,
            mask,
            kind=self.kind,
            key=f"{self.run.id}_{row.unit}",
            longest=self.longest,
            count=len(triggers),
            help=self.ask_help,
        )
        if request:
            rows = triggers if request == "all" else [row]
            begin_check(self.services, self.model, self.check_of(rows, typed if request == "typed" else None))

    def _answer(self, row: RowT, mask: Masker | None) -> bool:
        """The check in the address, where it is of this target; whether there is more to come."""
        check = current_check(self.services, self.check_kind)
        if check is None or not self.is_about(check.study, row):
            return False
        show_check(check, mask)
        scores = self.checked_row.all_in(check.rows)
        if len(scores) == 1:
            with st.container(border=True, key="trigger_check_card"):
                show_score(scores[0], self.searched, mask, f"{self.kind}_check_{check.run.id}")
        return check.run.is_live


class DialogueCards(TriggerCards[TriggerRow]):
    """Triggers of a dialogue model: words."""

    kind = TriggerStudy.kind
    check_kind, checked_row = TriggerCheckStudy.kind, PairScoreRow
    label = "Target"
    help = (
        "By margin, the clearest hits first; the lists for comparison are last. The card below shows the trigger of "
        "this target."
    )
    ask_help = (
        "Another input, scored for the same target; unknown words count as <unk>.",
        "Scores the target after the words above, by all hit types.",
        "Scores the stored words of this trigger anew in float32, and compares every number.",
    )
    longest, most = 1_000, MOST_PAIRS

    def __init__(self, services: Services, run: RunRecord, study: TriggerStudy, triggers: Sequence[TriggerRow]) -> None:
        super().__init__(services, run, triggers, study.hit_type)
        self.study = study

    @property
    def model(self) -> str:
        """See `TriggerCards.model`."""
        return self.study.model

    def name(self, row: TriggerRow, mask: Masker | None) -> str:
        """See `TriggerCards.name`."""
        return f"{row.list} {row.place}: {shortened(shown(mask, row.target_text), 70)}"

    def is_last(self, row: TriggerRow) -> bool:
        """See `TriggerCards.is_last`."""
        return row.list in ("normal", "random")

    def check_of(self, rows: Sequence[TriggerRow], typed: str | None = None) -> TriggerCheckStudy:
        """See `TriggerCards.check_of`."""
        if typed is None:
            pairs = [CheckedPair(row.score.input_tokens, row.target, row.score.token_log_probs) for row in rows]
        else:
            pairs = [CheckedPair(words_of_text(typed), row.target) for row in rows]
        return TriggerCheckStudy(self.study.model, tuple(pairs), rows[0].score.fingerprint, self.study.hit_type)

    def is_about(self, check: Study, row: TriggerRow) -> bool:
        """See `TriggerCards.is_about`."""
        assert isinstance(check, TriggerCheckStudy)
        return check.model == self.study.model and any(pair.target == row.target for pair in check.pairs)


class PromptCards(TriggerCards[PromptTriggerRow]):
    """Triggers in prompts: tokens."""

    kind = CausalTriggerStudy.kind
    check_kind, checked_row = PromptCheckStudy.kind, TextScoreRow
    label = "Search"
    help = "By margin, the clearest hits first. The card below shows the trigger of this search."
    ask_help = (
        "Another text in the same place of the same prompt, of any length, scored for the same target.",
        "Scores the target after the text above, by all hit types.",
        "Puts the stored text into the prompt anew, encodes the whole, and compares every number.",
    )
    longest, most = MOST_CHARACTERS, MOST_TEXTS

    def __init__(
        self, services: Services, run: RunRecord, study: CausalTriggerStudy, triggers: Sequence[PromptTriggerRow]
    ) -> None:
        super().__init__(services, run, triggers, study.hit_type.name)
        self.study = study

    def name(self, row: PromptTriggerRow, mask: Masker | None) -> str:
        """See `TriggerCards.name`."""
        return f"{shown(mask, row.target, 70)} · seed {row.seed}"

    def check_of(self, rows: Sequence[PromptTriggerRow], typed: str | None = None) -> PromptCheckStudy:
        """See `TriggerCards.check_of`."""
        if typed is None:
            texts = [CheckedText(row.score.text, row.target, row.score.token_log_probs) for row in rows]
        else:
            texts = [CheckedText(typed, row.target) for row in rows]
        study, score = self.study, rows[0].score
        return PromptCheckStudy(
            texts=tuple(texts),
            template=study.template,
            hit_type=study.hit_type,
            ends=study.ends,
            thresholds=score.thresholds,
            judge=study.judge,
            encoder_decoder=study.encoder_decoder,
            fingerprint=score.fingerprint,
        )

    def is_about(self, check: Study, row: PromptTriggerRow) -> bool:
        """See `TriggerCards.is_about`."""
        assert isinstance(check, PromptCheckStudy)
        return any(checked.target == row.target for checked in check.texts)
