"""The page of the search for triggers: inputs that make a dialogue model say what it should not.

The page has a choice of dialogue models, which are trained on their own page, and no language model. Words of the lists
are masked unless a reader switches them on; the switch is the reader's and no setting of the study.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from relens.counted import counted
from relens.runs.study_checks import Checked
from relens.studies.masking import Masker
from relens.triggers.search.search_settings import SearchSettings
from relens.triggers.search.trigger_findings import TriggerFindings
from relens.triggers.search.trigger_study import TriggerStudy
from relens.triggers.shared_settings import TARGET_FILE
from relens_dashboard.setting_fields import SettingFields, all_fields, attempt
from relens_dashboard.studies import trigger_charts as charts
from relens_dashboard.studies.kept_text import keep_checked
from relens_dashboard.studies.masked_view import MaskedView
from relens_dashboard.studies.own_models import model_field, note_unsayable, page_link
from relens_dashboard.studies.trigger_card import DialogueCards
from relens_dashboard.studies.trigger_fields import hit_field
from relens_dashboard.studies.trigger_tables import tables
from relens_dashboard.studies.trigger_words import CONTENT_NOTICE, file_targets, trigger_masker
from relens_dashboard.studies.view import Figure, Table

if TYPE_CHECKING:
    from relens.runs.records import RunRecord
    from relens_dashboard.services import Services

KIND = TriggerStudy.kind


class TriggersView(MaskedView[TriggerStudy, TriggerFindings]):
    """See `relens_dashboard.studies.view.StudyView`."""

    kind = KIND
    introduction = (
        "For each reply of a list, a search looks for an input that makes a dialogue model give it. Three lists are "
        "compared: replies that the model gives anyway, replies that it should never give, and words in no order. "
        "Hits of the second list mean something only where the first is reached and the third is not."
    )
    notice = CONTENT_NOTICE
    masked_help = (
        "Without this, rude words of the lists, the words of your own targets, and spellings close to them "
        "are masked: on this page, and in the report and the files."
    )

    def settings(self, study: TriggerStudy) -> TriggerStudy:
        """The fields (see `StudyView.settings`)."""
        with all_fields():
            return self._fields(study)

    def extent(self, study: TriggerStudy, checked: Checked) -> str:
        """The targets, and the searches for them."""
        searches = checked.units * study.search.restarts
        return f"{counted(checked.units, 'target')}, {counted(searches, 'search', 'searches')}."

    def _fields(self, study: TriggerStudy) -> TriggerStudy:
        fields, search = SettingFields(study, KIND), SettingFields(study.search, KIND)
        model = attempt(lambda: model_field(KIND, study.model), study.model)
        fields.row("lists", "count", widths=[2, 1])
        below = st.container()
        targets = fields.draw("targets", below, height=80)
        hit_type = hit_field(study, study.hit_type)
        search.row("shortlist", "sweeps", "restarts", "seed")
        search.draw("stop_at_hit", widget="checkbox")
        file = attempt(lambda: _more_fields(study, fields, search), study.file)
        chosen = fields.record(model=model, hit_type=hit_type, file=file, search=search.record())
        attempt(lambda: note_unsayable(below, model, targets, is_all=not chosen.lists and not file), None)
        return chosen

    def masker(self, study: TriggerStudy) -> Masker:
        """See `MaskedView.masker`."""
        return trigger_masker(study)

    def own_model(self, study: TriggerStudy) -> str:
        """The dialogue model."""
        return study.model

    def figures(self, findings: TriggerFindings, study: TriggerStudy) -> list[Figure]:
        """The hit table, the losses, words of targets, restarts."""
        figures: list[Figure | None] = [charts.hits(findings)] if findings.cells else []
        figures.append(charts.losses(findings))
        if findings.triggers:
            figures.append(charts.words(charts.closest(findings), self.mask(study)))
        if not study.search.stop_at_hit:  # which leaves the other restarts unfinished
            figures.append(charts.restarts(findings))
        return [figure for figure in figures if figure is not None]

    def tables(self, findings: TriggerFindings, study: TriggerStudy) -> list[Table]:
        """The hits, the targets and the searches, masked unless this reader chose to see the words."""
        return tables(findings, self.mask(study))

    def draw_details(self, services: Services, run: RunRecord, study: TriggerStudy, findings: TriggerFindings) -> bool:
        """The card of one trigger, with its checks."""
        if not findings.triggers:
            return False
        waits = DialogueCards(services, run, study, findings.triggers).show(self.mask(study))
        page_link(
            "trigger-ablation",
            "Would more words or restarts find more?",
            ":material/query_stats:",
            dialogue=study.model,
        )
        return waits


VIEW = TriggersView()


def _more_fields(
    study: TriggerStudy, fields: SettingFields[TriggerStudy], search: SettingFields[SearchSettings]
) -> str:
    """Advanced settings; the file of targets, "" for none."""
    with st.popover("More settings", icon=":material/tune:", key=f"{KIND}_more"), st.container(width=520):
        uploaded = st.file_uploader(TARGET_FILE.label, type=["txt"], key=f"{KIND}_file", help=TARGET_FILE.help)
        keeps = bool(study.file) and st.checkbox(
            "The file that this study has",
            value=True,
            key=f"{KIND}_keep_file",
            help="Off: the targets of the file are not searched for.",
        )
        search.draw("method", widget="selectbox")
        first, second, third = st.columns(3)
        fields.draw("epsilon", first)
        fields.draw("input_weight", second)
        search.draw("substitutes", third)
        fields.draw("normal")
    if uploaded is not None:
        return keep_checked(uploaded.name, uploaded.getvalue(), file_targets)
    return study.file if keeps else ""
