"""The page on which a dialogue model is trained: its settings, its figures, its thresholds and its epochs.

A dialogue model is small: it is trained from scratch on one corpus, and kept under its name for the search for
triggers, which has a page of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from relens.percent import percent
from relens.triggers.model.corpus import Form, read_corpus
from relens.triggers.model.model_list import model_names
from relens.triggers.model.training_findings import TrainingFindings
from relens.triggers.model.training_rows import EpochCost, TrainedModel, perplexity
from relens.triggers.model.training_study import DialogueModelStudy
from relens_dashboard.narrative import duration_text
from relens_dashboard.setting_fields import SettingFields, all_fields, attempt
from relens_dashboard.studies.dialogue_charts import LABELS, loss_figure, perplexity_figure
from relens_dashboard.studies.own_models import page_link
from relens_dashboard.studies.text_source import BUILT_IN, UPLOADED, file_field, source_field
from relens_dashboard.studies.view import Figure, StudyView, Table

if TYPE_CHECKING:
    from relens.runs.records import RunRecord
    from relens_dashboard.services import Services

KIND = DialogueModelStudy.kind


class DialogueModelView(StudyView[DialogueModelStudy, TrainingFindings]):
    """See `relens_dashboard.studies.view.StudyView`."""

    kind = KIND
    introduction = (
        "A small model is trained to predict the replies of a corpus of conversations. A second one is trained to "
        "predict single sentences; it later scores how natural a trigger is. Both are measured on held-out "
        "conversations, which gives two thresholds: one for likely replies, one for natural inputs."
    )
    notice = ""

    def settings(self, study: DialogueModelStudy) -> DialogueModelStudy:
        """The fields (see `StudyView.settings`)."""
        with all_fields():
            fields, of_recipe = SettingFields(study, KIND), SettingFields(study.recipe, KIND)
            first, second = st.columns([1, 2])
            name = fields.draw("name", first, max_chars=64)
            if name in model_names():
                first.caption("A model of that name exists and will be replaced.")
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
                f"{'SGD' if recipe.optimiser == 'sgd' else 'Adam'}, learning rate {recipe.rate:g}, batches of "
                f"{recipe.batch} pairs; {percent(study.test_share)} of the conversations are held out."
            )
            return fields.record(recipe=recipe, **corpus)

    def own_model(self, study: DialogueModelStudy) -> str:
        """The model that is trained."""
        return study.name

    def figures(self, findings: TrainingFindings, study: DialogueModelStudy) -> list[Figure]:
        """The perplexities, and the loss."""
        figures = [] if findings.model is None else [perplexity_figure(findings.model)]
        if findings.steps or findings.epochs:
            figures.append(loss_figure(findings))
        return figures

    def tables(self, findings: TrainingFindings, study: DialogueModelStudy) -> list[Table]:
        """The thresholds, and the epochs."""
        tables = [] if findings.model is None else [_thresholds_table(findings.model)]
        if findings.epochs:
            tables.append(_epochs_table(findings.epochs))
        return tables

    def draw_details(
        self, services: Services, run: RunRecord, study: DialogueModelStudy, findings: TrainingFindings
    ) -> bool:
        """The link to the search for triggers, once there is a model."""
        if findings.model is not None:
            name = findings.model.name
            page_link("triggers", f"Search for triggers of {name}", ":material/ads_click:", dialogue=name)
        return False


VIEW = DialogueModelView()


def _corpus_fields(study: DialogueModelStudy, fields: SettingFields[DialogueModelStudy]) -> dict[str, Any]:
    """The settings `corpus`, `form` and `is_cut`; the built-in corpus needs no fields for the last two."""
    source = source_field(
        st.container(),
        "Conversations",
        study.corpus,
        key=KIND,
        built_in="the chitchat dataset (MIT License), 7,168 typed conversations of people getting to know each other.",
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
        attempt(lambda: _check_upload(corpus, form), None)
    return {"corpus": corpus}


@lru_cache(maxsize=16)
def _check_upload(corpus: str, form: Form) -> None:
    """Raise what is wrong with an upload, which is small and does not change, before the run.

    Words are cut at blanks here, which is quick and makes no difference to lines and pairs.
    """
    read_corpus(corpus, form, is_cut=True)


def _thresholds_table(model: TrainedModel) -> Table:
    thresholds = (model.threshold_out, model.threshold_in)
    frame = pd.DataFrame(
        {
            "Threshold": ["T_out", "T_in"],
            "Words of": ["replies, given the input", "sentences by themselves"],
            "Nats a word": [round(value, 3) for value in thresholds],
            "Probability": [f"1 in {perplexity(-value):,.0f}" for value in thresholds],
            "Use": ["a reply is likely where its words are above", "an input is natural where its mean is above"],
        }
    )
    help = {
        "Nats a word": "The mean log-probability on held-out conversations.",
        "Probability": "The geometric mean of the probabilities on held-out conversations.",
    }
    return Table("Thresholds", frame, help)


def _epochs_table(epochs: Sequence[EpochCost]) -> Table:
    frame = pd.DataFrame(
        {
            "Model of": [LABELS[epoch.part] for epoch in epochs],
            "Epoch": [epoch.epoch for epoch in epochs],
            "Nats a word": [round(epoch.nll, 3) for epoch in epochs],
            "Perplexity": [round(epoch.perplexity, 1) for epoch in epochs],
            "Time": [duration_text(epoch.seconds) for epoch in epochs],
        }
    )
    help = {
        "Nats a word": "The cost of a word on held-out conversations.",
        "Perplexity": "The same as a number of equally likely words: e to the power of the cost.",
    }
    return Table("Epochs", frame, help)
