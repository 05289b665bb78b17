"""The page of checks of triggers: an input and a target, put through a dialogue model as they are.

    how are you ?  =>  i am good .          one pair a line

Most checks begin at the card of a trigger; this page shows them, and checks any typed words.
"""

from __future__ import annotations

from relens.errors import QueryError
from relens.setting import declared
from relens.triggers.model.vocabulary import words_of_text
from relens.triggers.score_row import sentence
from relens.triggers.search.check_study import CheckedPair, TriggerCheckStudy
from relens_dashboard.setting_fields import SettingFields, all_fields, attempt
from relens_dashboard.studies.check_view import CheckView
from relens_dashboard.studies.own_models import model_field
from relens_dashboard.studies.trigger_fields import checked_field, hit_field
from relens_dashboard.studies.trigger_words import ARROW
from relens_dashboard.text import shortened

KIND = TriggerCheckStudy.kind


class TriggerCheckView(CheckView[TriggerCheckStudy]):
    """See `relens_dashboard.studies.view.StudyView`."""

    kind = KIND
    noun, heading = "pair", "Input"
    introduction = (
        "There is no search: the model reads each input once. The table has the probability of the target, by all hit "
        "types, and the model's greedy reply. The triggers of a search are verified in this way."
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

    def own_model(self, study: TriggerCheckStudy) -> str:
        """The dialogue model."""
        return study.model


VIEW = TriggerCheckView()


def _line(pair: CheckedPair) -> str:
    return f"{sentence(pair.input)} {ARROW} {sentence(pair.target)}"


def _pair(line: str) -> CheckedPair:
    words, arrow, target = line.partition(ARROW)
    if not arrow:
        raise QueryError(f"A line has an input, then {ARROW}, then a target; {shortened(line, 60)!r} has not.")
    return CheckedPair(words_of_text(words), words_of_text(target))
