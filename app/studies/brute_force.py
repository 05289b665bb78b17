"""What the page of brute force asks and shows: what does a small model of characters say to every input there is?"""

from __future__ import annotations

from typing import Any

import streamlit as st

from app.setting_fields import SettingFields, all_fields, attempt
from app.studies.brute_force_charts import learning_figure, lists_figure
from app.studies.brute_force_tables import coverage_table, lists_table, outside_tables, said_tables, search_table
from app.studies.masked_view import MaskedView
from app.studies.text_source import BUILT_IN, file_field, source_field
from app.studies.trigger_words import file_targets, trigger_masker
from app.studies.view import Figure, Rows, Table
from engine.counted import counted
from engine.studies.masking import Masker
from engine.studies.study import Study
from engine.triggers.brute_force.findings import coverage, list_hits, searches_found
from engine.triggers.brute_force.study import BruteForceStudy

KIND = BruteForceStudy.kind


class BruteForceView(MaskedView):
    """See `app.studies.view.StudyView`."""

    kind = KIND
    introduction = (
        "A model is trained to answer the letters of a word with those of the word that comes next in a text; some "
        "words have a wrong letter, so that it sees more inputs than there are words. Its alphabet is so small that "
        "every short input can be tried, so what it can be made to say is known and not searched for: how many words "
        "that it was trained with, and does it ever say one backwards, some letters again and again, or what it should "
        "never say?"
    )
    notice = "The list mal holds mild insults and commands; rude words are masked unless you switch them on."
    masked_help = (
        "Without this, rude words, and those of phrases of your own, are masked: on this page, and in the report and "
        "the files."
    )

    def settings(self, study: Study) -> BruteForceStudy:
        """The fields (see `StudyView.settings`)."""
        assert isinstance(study, BruteForceStudy)
        with all_fields():
            asked = self._fields(study)
        st.caption(f"{counted(asked.inputs(), 'input')} will be tried, if the text has as many characters.")
        return asked

    def _fields(self, study: BruteForceStudy) -> BruteForceStudy:
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
        return fields.record(targets=targets, recipe=recipe.record(), **corpus)

    def masker(self, study: Study) -> Masker:
        """See `MaskedView.masker`."""
        return trigger_masker(study)

    def own_model(self, study: Study) -> str:
        """The model is trained by the study itself."""
        return "characters"

    def figures(self, rows: Rows, study: Study) -> list[Figure]:
        """The lists (tables 5 and 6 of the paper), and the loss of the training."""
        return [
            figure for figure in (lists_figure(list_hits(rows), bool(coverage(rows))), learning_figure(rows)) if figure
        ]

    def tables(self, rows: Rows, study: Study) -> list[Table]:
        """The lists, what was tried and said, what a search finds of it, and replies that are no word (table 7)."""
        mask, lines = self.mask(study), list_hits(rows)
        tried = [lists_table(lines), coverage_table(rows), *said_tables(lines, mask)] if coverage(rows) else []
        searched = [search_table(rows)] if searches_found(rows) else []
        return [*tried, *searched, *outside_tables(rows, mask)]


VIEW = BruteForceView()


def _corpus_fields(study: BruteForceStudy, fields: SettingFields[BruteForceStudy]) -> dict[str, Any]:
    """The file of the text, as a setting, and a field for how it is written; of the built-in one that is known."""
    label = "Text to learn words from"
    source = source_field(
        st.container(),
        label,
        study.corpus,
        key=f"{KIND}_corpus",
        built_in="the chitchat dataset, people who got to know each other by typing.",
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
    """The file of the phrases of "mal", "" for those that are built in."""
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
        written="One a line; blanks do not count, and of a longer one the first ten letters are looked for.",
        check=file_targets,
    )
