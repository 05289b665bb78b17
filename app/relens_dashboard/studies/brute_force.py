"""The page of brute force: its settings, its figures and its tables."""

from __future__ import annotations

from typing import Any

import streamlit as st

from relens.counted import counted
from relens.studies.masking import Masker
from relens.triggers.brute_force.findings import BruteForceFindings
from relens.triggers.brute_force.study import BruteForceStudy
from relens_dashboard.setting_fields import SettingFields, all_fields, attempt
from relens_dashboard.studies.brute_force_charts import lists_figure, training_figure
from relens_dashboard.studies.brute_force_tables import (
    coverage_table,
    hits_tables,
    lists_table,
    outside_tables,
    search_table,
)
from relens_dashboard.studies.masked_view import MaskedView
from relens_dashboard.studies.text_source import BUILT_IN, file_field, source_field
from relens_dashboard.studies.trigger_words import file_targets, trigger_masker
from relens_dashboard.studies.view import Figure, Table

KIND = BruteForceStudy.kind


class BruteForceView(MaskedView[BruteForceStudy, BruteForceFindings]):
    """See `relens_dashboard.studies.view.StudyView`."""

    kind = KIND
    introduction = (
        "A model is trained to predict the letters of the next word of a text from those of a word; some words have a "
        "wrong letter, which makes more inputs. Its alphabet is so small that every short input is tried. So it is "
        "known, without a search, which targets some input reaches: words of the training, these words backwards, some "
        "letters again and again, and phrases it should never say."
    )
    notice = "The list mal holds mild insults and commands; rude words are masked unless you switch them on."
    masked_help = (
        "Without this, rude words, and those of phrases of your own, are masked: on this page, and in the report and "
        "the files."
    )

    def settings(self, study: BruteForceStudy) -> BruteForceStudy:
        """The fields (see `StudyView.settings`)."""
        with all_fields():
            fields, recipe = SettingFields(study, KIND), SettingFields(study.recipe, KIND)
            left, right = st.columns(2)
            with left:
                corpus = attempt(lambda: _corpus_fields(study, fields), {})
            with right:
                targets = attempt(lambda: _targets_field(study), study.targets)
            first, second, third, fourth = st.columns(4)
            fields.draw("depth", first)
            fields.draw("pairs", second)
            recipe.draw("epochs", third)
            fields.draw("hidden", fourth)
            first, second, third, fourth = st.columns(4)
            fields.draw("noise", first)
            fields.draw("context", second, widget="selectbox")
            fields.draw("random_count", third)
            fields.draw("seed", fourth)
            study = fields.record(targets=targets, recipe=recipe.record(), **corpus)
        st.caption(f"{counted(study.inputs(), 'input')} will be tried, if the text has enough characters.")
        return study

    def masker(self, study: BruteForceStudy) -> Masker:
        """See `MaskedView.masker`."""
        return trigger_masker(study)

    def own_model(self, study: BruteForceStudy) -> str:
        """The study trains its own model."""
        return "characters"

    def figures(self, findings: BruteForceFindings, study: BruteForceStudy) -> list[Figure]:
        """The lists (tables 5 and 6 of the paper), and the loss of the training."""
        figures = [lists_figure(findings.lists)] if findings.coverage and findings.lists else []
        if findings.steps:
            figures.append(training_figure(findings.steps))
        return figures

    def tables(self, findings: BruteForceFindings, study: BruteForceStudy) -> list[Table]:
        """The lists, the coverage, the hits, the search, and replies that are no word (table 7)."""
        mask, tables = self.mask(study), []
        if findings.coverage:
            tables = [
                lists_table(findings.lists),
                coverage_table(findings.coverage),
                *hits_tables(findings.lists, mask),
            ]
        if findings.searches:
            tables.append(search_table(findings.searches))
        return [*tables, *outside_tables(findings.outside, mask)]


VIEW = BruteForceView()


def _corpus_fields(study: BruteForceStudy, fields: SettingFields[BruteForceStudy]) -> dict[str, Any]:
    """The settings `corpus` and `is_cut`; the built-in text needs no field for the second."""
    label = "Text to train with"
    source = source_field(
        st.container(),
        label,
        study.corpus,
        key=f"{KIND}_corpus",
        built_in="the chitchat dataset, typed conversations of people getting to know each other.",
    )
    if source == BUILT_IN:
        return {"corpus": "", "is_cut": False}
    corpus = attempt(
        lambda: file_field(
            source,
            label,
            study.corpus,
            key=f"{KIND}_corpus",
            types=("txt", "tsv", "json", "jsonl"),
            written="Any text of some thousand words; its lines may be dialogues, or pairs with a tab between.",
        ),
        study.corpus,
    )
    fields.draw("is_cut", widget="checkbox")
    return {"corpus": corpus}


def _targets_field(study: BruteForceStudy) -> str:
    """The file of the phrases of "mal", "" for the built-in ones."""
    label = "Phrases of the list “mal”"
    source = source_field(
        st.container(),
        label,
        study.targets,
        key=f"{KIND}_mal",
        built_in="some hundred mild insults and commands of at most ten letters.",
    )
    if source == BUILT_IN:
        return ""
    return file_field(
        source,
        label,
        study.targets,
        key=f"{KIND}_mal",
        types=("txt",),
        written="One a line; blanks do not count, and a longer one is cut to ten letters.",
        check=file_targets,
    )
