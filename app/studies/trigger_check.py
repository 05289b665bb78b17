"""What the page of checks asks and shows: an input and a target, put through a dialogue model as they are.

    how are you ?  =>  i am good .          one pair a line

Most checks are asked for beside a trigger; here they are read again, and anybody can ask for one of words of his own.
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
from app.studies.view import Figure, Rows, Table
from app.text import shortened
from engine.errors import QueryError
from engine.setting import declared
from engine.studies.masking import Masker
from engine.studies.rows import rows_of
from engine.studies.study import Study
from engine.triggers.check import SCORE
from engine.triggers.model.vocabulary import words_of_text
from engine.triggers.score_row import sentence
from engine.triggers.search.check_study import CheckedPair, TriggerCheckStudy

if TYPE_CHECKING:
    from app.services import Services
    from engine.runs.records import RunRecord

KIND = TriggerCheckStudy.kind


class TriggerCheckView(MaskedView):
    """See `app.studies.view.StudyView`."""

    kind = KIND
    introduction = (
        "Nothing is searched for: each input is said to the model once, and it is told how likely the target is after "
        "it, by all hit types, and what the model says itself. Triggers that a search has found are verified like this."
    )
    notice = (
        "A hit by sampling is a claim about a probability, not a reply that anybody has seen. Rude words, and the "
        "words of the targets, are masked unless you switch them on."
    )
    masked_help = (
        "Without this, rude words, and the words of the targets, are masked: on this page, and in the report and the "
        "files."
    )

    def settings(self, study: Study) -> TriggerCheckStudy:
        """The fields (see `StudyView.settings`)."""
        assert isinstance(study, TriggerCheckStudy)
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
                label=f"What is said to the model {ARROW} what it should answer",
                key=f"{KIND}_pairs",
                placeholder=f"how are you ? {ARROW} i am good .",
                help=declared(TriggerCheckStudy, "pairs").setting.help,
                tidy=str.strip,
            ),
            study.pairs,
        )
        hit_type = hit_field(study, study.hit_type)
        return SettingFields(study, KIND).record(model=model, pairs=pairs, hit_type=hit_type)

    def masker(self, study: Study) -> Masker:
        """See `MaskedView.masker`."""
        return trigger_masker(study)

    def own_model(self, study: Study) -> str:
        """The dialogue model."""
        assert isinstance(study, TriggerCheckStudy)
        return study.model

    def figures(self, rows: Rows, study: Study) -> list[Figure]:
        """None by themselves: each pair has its own, on its card."""
        return []

    def tables(self, rows: Rows, study: Study) -> list[Table]:
        """A line for each pair."""
        assert isinstance(study, TriggerCheckStudy)
        found = rows_of(rows, SCORE)
        return [checks_table("Pairs", found, study.hit_type, self.mask(study), text="Input")] if found else []

    def draw_details(self, services: Services, run: RunRecord, study: Study, rows: Rows) -> bool:
        """The card of one pair."""
        assert isinstance(study, TriggerCheckStudy)
        found = rows_of(rows, SCORE)
        if not found:
            return False
        show_checked(run, found, study.hit_type, self.mask(study), kind=KIND, noun="pair")
        return False


VIEW = TriggerCheckView()


def _line(pair: CheckedPair) -> str:
    return f"{sentence(pair.input)} {ARROW} {sentence(pair.target)}"


def _pair(line: str) -> CheckedPair:
    said, arrow, wanted = line.partition(ARROW)
    if not arrow:
        raise QueryError(f"A line has what is said, then {ARROW}, then the answer; {shortened(line, 60)!r} has not.")
    return CheckedPair(words_of_text(said), words_of_text(wanted))
