"""What the page of checks asks and shows: an input and a target, put through a dialogue model as they are.

    how are you ?  =>  i am good .          one pair a line

Most checks are asked for beside a trigger; here they are read again, and anybody can ask for one of words of his own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from app.setting_fields import SettingFields, all_fields, attempt
from app.studies.masked_view import MaskedView
from app.studies.own_models import model_field
from app.studies.trigger_fields import checked_field, hit_field
from app.studies.trigger_score import revealed, show_score, texts_of
from app.studies.trigger_words import all_hits, masked, reached, seen_in_training, sentence, trigger_masker
from app.studies.view import Figure, Rows, Table
from app.tables import shown_text
from app.text import shortened
from engine.errors import QueryError
from engine.setting import declared
from engine.studies.masking import Masker
from engine.studies.study import Study, rows_of
from engine.triggers.model.vocabulary import words_of_text
from engine.triggers.search.check_study import SCORE, CheckedPair, TriggerCheckStudy

if TYPE_CHECKING:
    from app.services import Services
    from engine.runs.records import RunRecord

KIND = TriggerCheckStudy.kind

#: Between what is said to the model and what it should answer.
ARROW = "=>"

_MOST_LINES = 2_000


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
        found = rows_of(rows, SCORE)[:_MOST_LINES]
        return [_table(found, study.hit_type, self.mask(study))] if found else []

    def draw_details(self, services: Services, run: RunRecord, study: Study, rows: Rows) -> bool:
        """The card of one pair."""
        assert isinstance(study, TriggerCheckStudy)
        found = rows_of(rows, SCORE)
        if not found:
            return False
        mask = self.mask(study)
        st.header("One pair at a time", anchor=False)
        chosen = st.selectbox(
            "Pair",
            range(len(found)),
            format_func=lambda place: _label(found[place], study.hit_type, mask),
            key=f"{KIND}_card_{run.id}",
            help="Which pair the card below shows.",
        )
        row = found[min(chosen or 0, len(found) - 1)]
        with st.container(border=True, key="trigger_check_card"):
            own = revealed(texts_of(row), mask, f"{KIND}_reveal_{run.id}_{row['pair']}")
            show_score(row, study.hit_type, own, f"{KIND}_{run.id}")
        return False


VIEW = TriggerCheckView()


def _line(pair: CheckedPair) -> str:
    return f"{sentence(pair.input)} {ARROW} {sentence(pair.target)}"


def _pair(line: str) -> CheckedPair:
    said, arrow, wanted = line.partition(ARROW)
    if not arrow:
        raise QueryError(f"A line has what is said, then {ARROW}, then the answer; {shortened(line, 60)!r} has not.")
    return CheckedPair(words_of_text(said), words_of_text(wanted))


def _label(row: Mapping[str, Any], hit_type: str, mask: Masker | None) -> str:
    sign = "✓" if reached(row, hit_type) else "✗"
    return f"{sign} {shortened(masked(mask, row['input']), 50)} {ARROW} {shortened(masked(mask, row['target']), 50)}"


def _table(found: Rows, hit_type: str, mask: Masker | None) -> Table:
    frame = pd.DataFrame(
        {
            "Input": [shown_text(masked(mask, row["input"])) for row in found],
            "Target": [shown_text(masked(mask, row["target"])) for row in found],
            "Greedy reply": [shown_text(masked(mask, row["reply"])) for row in found],
            "Reached": [reached(row, hit_type) for row in found],
            "Margin": [round(float(row["margins"][hit_type]), 3) for row in found],
            "Said": [reached(row, "o-greedy") for row in found],
            "A hit of": [all_hits(row) for row in found],
            "Seen in training": [seen_in_training(row) for row in found],
            "Differs by": [row["difference"] for row in found],
        }
    )
    return Table(
        "Pairs",
        frame,
        {
            "Reached": f"Whether it is a hit of type {hit_type}.",
            "Margin": "Nats by which the hit is reached; below 0, missed.",
            "Said": "Whether the greedy reply is the target, word by word.",
            "Seen in training": "Whether the target stands in the replies that the model was trained on.",
            "Differs by": "Nats between a word's log-probability as a search told it and as it is now; empty where "
            "there was nothing to compare with.",
        },
    )
