"""What the page on which a dialogue model is trained asks and shows.

A dialogue model is small: it learns from scratch, from one corpus, and is kept under its name for the search for
triggers, which is a page of its own.
"""

from __future__ import annotations

import dataclasses
from functools import lru_cache
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from app.narrative import duration_text
from app.setting_fields import all_fields, attempt
from app.studies import dialogue_charts as charts
from app.studies.fields import number_field
from app.studies.own_models import page_link
from app.studies.text_source import BUILT_IN, UPLOADED, file_field, source_field
from app.studies.trigger_fields import context_field, seed_field
from app.studies.view import Figure, Rows, StudyView, Table
from engine.percent import percent
from engine.studies.study import Study, rows_of
from engine.triggers.model.corpus import FORMS, Form, read_corpus
from engine.triggers.model.model_list import check_name, model_names
from engine.triggers.model.training_study import EPOCH, MODEL, DialogueModelStudy

if TYPE_CHECKING:
    from app.services import Services
    from engine.runs.records import RunRecord

KIND = DialogueModelStudy.kind

_FORM_LABELS = {
    "auto": "as it looks",
    "dialogues": "a line each, a blank line between dialogues",
    "eou": "a dialogue on a line, <eou> between",
    "pairs": "input, tab, reply",
    "json": "JSON lines",
}


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
        first, second = st.columns([1, 2])
        name = first.text_input(
            "Name of the model",
            value=study.name,
            key=f"{KIND}_name",
            max_chars=64,
            help="What it will be called in the search for triggers: small letters, digits, '.', '_' and '-'. A model "
            "of that name is replaced.",
        )
        attempt(lambda: check_name(name), None)
        if name in model_names():
            first.caption("There is one of that name; it will be replaced.")
        with second:
            corpus, form, is_cut = attempt(lambda: _corpus_fields(study), (study.corpus, study.form, study.is_cut))
        first, second, third, fourth = st.columns(4)
        pairs = number_field(
            first,
            "Pairs at most",
            study.pairs,
            least=1,
            most=3_000_000,
            key=f"{KIND}_pairs",
            placeholder="all",
            help="Train with so many pairs of input and reply, drawn from the corpus. Fewer: quicker, and a model that "
            "knows less. Empty: all.",
        )
        vocabulary = number_field(
            second,
            "Words at most",
            study.vocabulary,
            least=6,
            most=200_000,
            key=f"{KIND}_vocabulary",
            help="The most frequent words of the corpus are known; all others are one unknown word. Only known words "
            "can be in a target.",
        )
        embedding = number_field(
            third,
            "Numbers of a word",
            study.embedding,
            least=1,
            most=4096,
            key=f"{KIND}_embedding",
            help="How finely words are told apart. The paper has 300.",
        )
        hidden = number_field(
            fourth,
            "Numbers of a state",
            study.hidden,
            least=1,
            most=4096,
            key=f"{KIND}_hidden",
            help="How much the model remembers of what it has read. More: better replies, and slower. The paper "
            "has 600.",
        )
        first, second, third, fourth = st.columns(4)
        context = context_field(
            first,
            study.context,
            kind=KIND,
            help="**Its last state**: one summary of the whole input. **Attention**: at each word, all places of the "
            "input, weighed anew. The paper tries both.",
        )
        epochs = number_field(
            second,
            "Epochs",
            study.recipe.epochs,
            least=1,
            most=1000,
            key=f"{KIND}_epochs",
            help="How often all pairs are gone through. Time grows in proportion.",
        )
        dropout = number_field(
            third,
            "Dropout",
            study.dropout,
            least=0.0,
            most=0.95,
            step=0.1,
            key=f"{KIND}_dropout",
            help="The share of numbers that are hidden at random while it learns, so that it learns less by heart.",
        )
        seed = seed_field(
            fourth,
            study.seed,
            kind=KIND,
            help="Another seed begins with other weights and sets other conversations aside.",
        )
        recipe = attempt(lambda: dataclasses.replace(study.recipe, epochs=epochs), study.recipe)
        st.caption(
            f"Learns by {recipe.optimiser.upper() if recipe.optimiser == 'sgd' else 'Adam'}, rate {recipe.rate:g}, "
            f"{recipe.batch} pairs at a time; {percent(study.test_share)} of the conversations are set aside to "
            "measure on."
        )
        return dataclasses.replace(
            study,
            name=name,
            corpus=corpus,
            form=form,
            is_cut=is_cut,
            pairs=pairs,
            vocabulary=vocabulary,
            context=context,
            embedding=embedding,
            hidden=hidden,
            dropout=dropout,
            recipe=recipe,
            seed=seed,
        )

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


def _corpus_fields(study: DialogueModelStudy) -> tuple[str, str, bool]:
    """The file of the corpus, "" for the one that is built in, its form, and whether its words are cut already."""
    source = source_field(
        st.container(),
        "Conversations",
        study.corpus,
        key=KIND,
        built_in="people who got to know each other by typing (the chitchat dataset, MIT License, 7,168 "
        "conversations).",
    )
    if source == BUILT_IN:
        return "", "auto", False
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
    form = first.selectbox(
        "How it is written",
        FORMS,
        index=FORMS.index(study.form),
        format_func=_FORM_LABELS.__getitem__,
        key=f"{KIND}_form",
        help="What a line of the file is. **As it looks** finds out by itself.",
    )
    is_cut = second.checkbox(
        "Words are cut already",
        value=study.is_cut,
        key=f"{KIND}_is_cut",
        help="Blanks stand between all words and signs, as in “do n't”. Off: the text is cut as the paper does.",
    )
    if source == UPLOADED and corpus:
        attempt(lambda: _look_at(corpus, form), None)
    return corpus, form, is_cut


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
