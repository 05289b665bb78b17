"""The page of checks of triggers: an input and a target, put through a dialogue model as they are.

    how are you ?  =>  i am good .          one pair a line

Most checks begin at the card of a trigger; this page shows them, and checks any typed words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.setting_fields import SettingFields, all_fields, attempt
from app.studies.masked_view import MaskedView
from app.studies.own_models import model_field
from app.studies.trigger_card import show_checked
from app.studies.trigger_fields import checked_field, hit_field
from app.studies.trigger_tables import checks_table
from app.studies.trigger_words import ARROW, trigger_masker
from app.studies.view import Figure, Table
from app.text import shortened
from engine.errors import QueryError
from engine.setting import declared
from engine.studies.masking import Masker
from engine.triggers.model.vocabulary import words_of_text
from engine.triggers.score_row import sentence
from engine.triggers.search.check_study import CheckedPair, PairCheckFindings, TriggerCheckStudy

if TYPE_CHECKING:
    from app.services import Services
    from engine.runs.records import RunRecord

KIND = TriggerCheckStudy.kind


class TriggerCheckView(MaskedView[TriggerCheckStudy, PairCheckFindings]):
    """See `app.studies.view.StudyView`."""

    kind = KIND
    introduction = (
        "There is no search: the model reads each input once. The table has the probability of the target, by all hit "
        "types, and the model's greedy reply. The triggers of a search are verified in this way."
    )
    notice = (
        "A hit by sampling is a claim about a probability; no reply was sampled. Rude words, and the words of the "
        "targets, are masked unless you switch them on."
    )
    masked_help = (
        "Without this, rude words, and the words of the targets, are masked: on this page, and in the report and the "
        "files."
    )

    def settings(self, study: TriggerCheckStudy) -> TriggerCheckStudy:
        """The fields (see `StudyView.settings`)."""
        with all_fields():
            return self._fields(study)

    def _fields(self, study: TriggerCheckStudy) -> TriggerCheckStudy:
        model = attempt(lambda: model_field(KIND, study.model), study.model)
        pairs = attempt(
            lambda: checked_field(
                study.pairs,
                _line,
                _pair,
                noun="pair",
                label=f"Input {ARROW} target",
                key=f"{KIND}_pairs",
                placeholder=f"how are you ? {ARROW} i am good .",
                help=declared(TriggerCheckStudy, "pairs").setting.help,
                tidy=str.strip,
            ),
            study.pairs,
        )
        hit_type = hit_field(study, study.hit_type)
        return SettingFields(study, KIND).record(model=model, pairs=pairs, hit_type=hit_type)

    def masker(self, study: TriggerCheckStudy) -> Masker:
        """See `MaskedView.masker`."""
        return trigger_masker(study)

    def own_model(self, study: TriggerCheckStudy) -> str:
        """The dialogue model."""
        return study.model

    def figures(self, findings: PairCheckFindings, study: TriggerCheckStudy) -> list[Figure]:
        """None: each pair has its figures on its card."""
        return []

    def tables(self, findings: PairCheckFindings, study: TriggerCheckStudy) -> list[Table]:
        """A line for each pair."""
        if not findings.scores:
            return []
        return [checks_table("Pairs", findings.scores, study.hit_type, self.mask(study), text="Input")]

    def draw_details(
        self, services: Services, run: RunRecord, study: TriggerCheckStudy, findings: PairCheckFindings
    ) -> bool:
        """The card of one pair."""
        if findings.scores:
            show_checked(run, findings.scores, study.hit_type, self.mask(study), kind=KIND, noun="pair")
        return False


VIEW = TriggerCheckView()


def _line(pair: CheckedPair) -> str:
    return f"{sentence(pair.input)} {ARROW} {sentence(pair.target)}"


def _pair(line: str) -> CheckedPair:
    words, arrow, target = line.partition(ARROW)
    if not arrow:
        raise QueryError(f"A line has an input, then {ARROW}, then a target; {shortened(line, 60)!r} has not.")
    return CheckedPair(words_of_text(words), words_of_text(target))
