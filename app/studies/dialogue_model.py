"""What the page on which a dialogue model is trained asks and shows.

A dialogue model is small: it learns from scratch, from one corpus, and is kept under its name for the search for
triggers, which is a page of its own.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from app.narrative import duration_text
from app.setting_fields import SettingFields, all_fields, attempt
from app.studies import dialogue_charts as charts
from app.studies.own_models import page_link
from app.studies.text_source import BUILT_IN, UPLOADED, file_field, source_field
from app.studies.view import Figure, Rows, StudyView, Table
from engine.percent import percent
from engine.studies.rows import rows_of
from engine.studies.study import Study
from engine.triggers.model.corpus import Form, read_corpus
from engine.triggers.model.model_list import model_names
from engine.triggers.model.training_study import EPOCH, MODEL, DialogueModelStudy

if TYPE_CHECKING:
    from app.services import Services
    from engine.runs.records import RunRecord

KIND = DialogueModelStudy.kind


class DialogueModelView(StudyView):
    """See `app.studies.view.StudyView`."""

    kind = KIND
    introduction = (
        "A small model learns from a corpus of conversations what people answer. A second one learns what sentences "
        "are like; it later judges whether a trigger reads like one. Both are measured on conversations that were set "
        "aside, which gives the two thresholds that say when a reply counts as likely, and an input as ordinary."
    )
    notice = ""

    def settings(self, study: Study) -> DialogueModelStudy:
        """The fields (see `StudyView.settings`)."""
        assert isinstance(study, DialogueModelStudy)
        with all_fields():
            return self._fields(study)

    def _fields(self, study: DialogueModelStudy) -> DialogueModelStudy:
        fields, of_recipe = SettingFields(study, KIND), SettingFields(study.recipe, KIND)
        first, second = st.columns([1, 2])
        name = fields.draw("name", first, max_chars=64)
        if name in model_names():
            first.caption("There is one of that name; it will be replaced.")
        with second:
            corpus = attempt(lambda: _corpus_fields(study, fields), {})
        fields.row("pairs", "vocabulary", "embedding", "hidden")
        first, second, third, fourth = st.columns(4)
        fields.draw("context", first, widget="selectbox")
        of_recipe.draw("epochs", second)
        fields.draw("dropout", third)
        fields.draw("seed", fourth)
        recipe = attempt(of_recipe.record, study.recipe)
        st.caption(
            f"Learns by {recipe.optimiser.upper() if recipe.optimiser == 'sgd' else 'Adam'}, rate {recipe.rate:g}, "
            f"{recipe.batch} pairs at a time; {percent(study.test_share)} of the conversations are set aside to "
            "measure on."
        )
        return fields.record(recipe=recipe, **corpus)

    def own_model(self, study: Study) -> str:
        """The model that is trained."""
        assert isinstance(study, DialogueModelStudy)
        return study.name

    def figures(self, rows: Rows, study: Study) -> list[Figure]:
        """The loss, and the perplexities."""
        return [figure for figure in (charts.certainty(rows), charts.learning(rows)) if figure is not None]

    def tables(self, rows: Rows, study: Study) -> list[Table]:
        """The thresholds, and the epochs."""
        return [*_thresholds(rows), *_epochs(rows)]

    def draw_details(self, services: Services, run: RunRecord, study: Study, rows: Rows) -> bool:
        """The way on, once there is a model."""
        for row in rows_of(rows, MODEL)[-1:]:
            page_link(
                "triggers", f"Search for triggers of {row['name']}", ":material/ads_click:", dialogue=str(row["name"])
            )
        return False


VIEW = DialogueModelView()


def _corpus_fields(study: DialogueModelStudy, fields: SettingFields[DialogueModelStudy]) -> dict[str, Any]:
    """The file of the corpus, as a setting, and fields for how it is written; of the built-in one that is known."""
    source = source_field(
        st.container(),
        "Conversations",
        study.corpus,
        key=KIND,
        built_in="people who got to know each other by typing (the chitchat dataset, MIT License, 7,168 "
        "conversations).",
    )
    if source == BUILT_IN:
        return {"corpus": "", "form": "auto", "is_cut": False}
    corpus = attempt(
        lambda: file_field(
            source,
            "Conversations",
            study.corpus,
            key=KIND,
            types=("txt", "tsv", "json", "jsonl"),
            written="A line “input, tab, reply”; or one utterance a line, with a blank line between dialogues.",
        ),
        "",
    )
    first, second = st.columns(2, vertical_alignment="bottom")
    form = fields.draw("form", first, widget="selectbox")
    fields.draw("is_cut", second, widget="checkbox")
    if source == UPLOADED and corpus:
        attempt(lambda: _look_at(corpus, form), None)
    return {"corpus": corpus}


@lru_cache(maxsize=16)
def _look_at(corpus: str, form: Form) -> None:
    """Say at once what is wrong with an upload, which is small and does not change, and not after Run.

    Words are only cut at blanks for that, which is quick; how they are cut decides nothing about lines and pairs.
    """
    read_corpus(corpus, form, is_cut=True)


def _thresholds(rows: Rows) -> list[Table]:
    found = rows_of(rows, MODEL)
    if not found:
        return []
    row = found[-1]
    values = (row["threshold_out"], row["threshold_in"])
    frame = pd.DataFrame(
        {
            "Threshold": ["T_out", "T_in"],
            "Of": ["words of replies, given what was said", "words of sentences by themselves"],
            "Nats a word": [round(value, 3) for value in values],
            "That is": [f"{charts.one_in(value)} a word" for value in values],
            "What it decides": [
                "a reply counts as likely when its words are likelier than this",
                "an input counts as ordinary when its words are likelier than this, on average",
            ],
        }
    )
    return [
        Table(
            "Thresholds",
            frame,
            {
                "Nats a word": "The average log-probability on conversations that were set aside.",
                "That is": "The same as a chance: the geometric mean of the probabilities.",
            },
        )
    ]


def _epochs(rows: Rows) -> list[Table]:
    found = rows_of(rows, EPOCH)
    if not found:
        return []
    frame = pd.DataFrame(
        {
            "Model of": [charts.LABELS.get(row["part"], row["part"]) for row in found],
            "Epoch": [row["epoch"] for row in found],
            "Nats a word": [round(float(row["nll"]), 3) for row in found],
            "Perplexity": [round(float(row["perplexity"]), 1) for row in found],
            "Time": [duration_text(float(row["seconds"])) for row in found],
        }
    )
    return [
        Table(
            "Epochs",
            frame,
            {
                "Nats a word": "What a word costs, on conversations that were set aside.",
                "Perplexity": "The same as a number of equally likely words: e to the power of it.",
            },
        )
    ]
