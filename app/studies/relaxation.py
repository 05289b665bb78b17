"""What the page of the continuous relaxation asks and shows: would the model say it if its input need not be words?"""

from __future__ import annotations

import dataclasses

import pandas as pd
import streamlit as st

from app.narrative import interval_text
from app.setting_fields import all_fields, attempt
from app.studies.fields import number_field
from app.studies.masked_view import MaskedView
from app.studies.own_models import model_field
from app.studies.relaxation_charts import SPACE_LABELS, relaxation_figures
from app.studies.trigger_fields import count_field, lists_field, seed_field
from app.studies.trigger_words import masked, trigger_masker
from app.studies.view import Figure, Rows, Table
from app.tables import shown_text
from engine.studies.masking import Masker
from engine.studies.study import Study, rows_of
from engine.triggers.relaxation.findings import relaxation_hits
from engine.triggers.relaxation.settings import MOST_STEPS, SPACES
from engine.triggers.relaxation.study import MOST_TARGETS, TARGET, RelaxationStudy

KIND = RelaxationStudy.kind

_MOST_LINES = 1_000


class RelaxationView(MaskedView):
    """See `app.studies.view.StudyView`."""

    kind = KIND
    introduction = (
        "Words are replaced by numbers that can be changed a little, and the numbers are moved until the model says "
        "the target. Then the nearest words are put in their place, and it is asked again. Where only the first works, "
        "the numbers say nothing of what somebody could type, and triggers have to be searched for word by word."
    )
    notice = "The lists hold mild insults and commands; such words are masked unless you switch them on."
    masked_help = "Without this, rude words are masked on this page, and in the report and the files."

    def settings(self, study: Study) -> RelaxationStudy:
        """The fields (see `StudyView.settings`)."""
        assert isinstance(study, RelaxationStudy)
        with all_fields():
            return self._fields(study)

    def _fields(self, study: RelaxationStudy) -> RelaxationStudy:
        name = attempt(lambda: model_field(KIND, study.name), study.name)
        first, second = st.columns(2)
        spaces = first.pills(
            "Inputs are",
            SPACES,
            selection_mode="multi",
            default=list(study.spaces),
            format_func=SPACE_LABELS.__getitem__,
            key=f"{KIND}_spaces",
            help="**any numbers**: each place has any embedding. **shares of words**: each place is a mixture of "
            "words, and pays for not being one word.",
        )
        lists = lists_field(second, study.lists, kind=KIND, help="Which targets the numbers are moved for.")
        first, second, third = st.columns(3)
        count = count_field(first, study.count, most=MOST_TARGETS, kind=KIND)
        steps = number_field(
            second,
            "Steps",
            study.steps,
            least=1,
            most=MOST_STEPS,
            key=f"{KIND}_steps",
            help="How often the numbers are moved. More: more targets are reached.",
        )
        seed = seed_field(
            third, study.seed, kind=KIND, help="Another seed begins from other numbers and draws other targets."
        )
        first, second = st.columns(2)
        penalty, mal_penalty = (
            number_field(
                column,
                label,
                value,
                least=0.0,
                most=100.0,
                step=0.1,
                key=f"{KIND}_{name}",
                help="How much a place pays for not being one word, where inputs are shares of words. More: nearer to "
                f"words, and fewer targets reached. {more}",
            )
            for column, label, value, name, more in (
                (first, "Price of mixtures", study.penalty, "penalty", "For all lists but mal."),
                (second, "Price of mixtures, list mal", study.mal_penalty, "mal_penalty", "The paper has less here."),
            )
        )
        return dataclasses.replace(
            study,
            name=name,
            spaces=tuple(space for space in SPACES if space in spaces),
            lists=lists,
            count=count,
            steps=steps,
            penalty=penalty,
            mal_penalty=mal_penalty,
            seed=seed,
        )

    def masker(self, study: Study) -> Masker:
        """See `MaskedView.masker`."""
        return trigger_masker(study)

    def own_model(self, study: Study) -> str:
        """The dialogue model."""
        assert isinstance(study, RelaxationStudy)
        return study.name

    def figures(self, rows: Rows, study: Study) -> list[Figure]:
        """Table 1 as bars, the descent, and figures 2 and 3 of the paper."""
        return relaxation_figures(rows)

    def tables(self, rows: Rows, study: Study) -> list[Table]:
        """The hits, and a line for each target."""
        return _tables(rows, self.mask(study))


VIEW = RelaxationView()


def _tables(rows: Rows, mask: Masker | None) -> list[Table]:
    lines, found = relaxation_hits(rows), rows_of(rows, TARGET)[:_MOST_LINES]
    if not lines:
        return []
    hits = pd.DataFrame(
        {
            "Inputs are": [SPACE_LABELS.get(line.space, line.space) for line in lines],
            "List": [line.list for line in lines],
            "Targets": [line.targets for line in lines],
            "Said to numbers": [line.hits for line in lines],
            "95 %": [interval_text(line.share.low, line.share.high) for line in lines],
            "Said to the words": [line.projected_hits for line in lines],
            "95 % of words": [interval_text(line.projected_share.low, line.projected_share.high) for line in lines],
        }
    )
    targets = pd.DataFrame(
        {
            "Inputs are": [SPACE_LABELS.get(row["space"], row["space"]) for row in found],
            "List": [row["list"] for row in found],
            "Target": [shown_text(masked(mask, row["target"])) for row in found],
            "Said to numbers": [bool(row["hit"]) for row in found],
            "Reply to numbers": [shown_text(masked(mask, row["reply"])) for row in found],
            "Nearest words": [shown_text(masked(mask, row["projected"])) for row in found],
            "Reply to words": [shown_text(masked(mask, row["projected_reply"])) for row in found],
            "Nats a word": [round(float(row["cost"]), 3) for row in found],
        }
    )
    return [
        Table("Hits", hits, {"Said to the words": "When the nearest words take the place of the numbers."}),
        Table("Targets", targets, {"Nats a word": "What a word of the target costs after these numbers."}),
    ]
