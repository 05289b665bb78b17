"""What the page of the search for triggers asks and shows: which inputs make a dialogue model say what it should not?

The page names a dialogue model, which was trained on its own page, and no language model. Words of the lists are masked
unless a reader switches them on; the switch belongs to whoever looks and is no setting of the study.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from app.setting_fields import SettingFields, all_fields, attempt
from app.studies import trigger_charts as charts
from app.studies.kept_text import keep_checked
from app.studies.masked_view import MaskedView
from app.studies.own_models import model_field, note_unsayable, page_link
from app.studies.trigger_card import DialogueCards
from app.studies.trigger_fields import hit_field
from app.studies.trigger_tables import tables
from app.studies.trigger_words import CONTENT_NOTICE, file_targets, trigger_masker
from app.studies.view import Figure, Rows, Table
from engine.counted import counted
from engine.runs.study_checks import Checked
from engine.studies.masking import Masker
from engine.studies.rows import rows_of
from engine.studies.study import Study
from engine.triggers.search.search_settings import SearchSettings
from engine.triggers.search.trigger_findings import hit_table
from engine.triggers.search.trigger_study import TRIGGER, TriggerStudy
from engine.triggers.shared_settings import TARGET_FILE

if TYPE_CHECKING:
    from app.services import Services
    from engine.runs.records import RunRecord

KIND = TriggerStudy.kind


class TriggersView(MaskedView):
    """See `app.studies.view.StudyView`."""

    kind = KIND
    introduction = (
        "A dialogue model is given a list of replies, and a search looks for what somebody would have to say to it to "
        "get each of them. Three lists are compared: what the model says anyway, what it should never say, and words "
        "in no order. Only if the first is reached and the last is not does it mean something that the second is."
    )
    notice = CONTENT_NOTICE
    masked_help = (
        "Without this, rude words of the lists, the words of your own targets, and spellings close to them "
        "are masked: on this page, and in the report and the files."
    )

    def settings(self, study: Study) -> TriggerStudy:
        """The fields (see `StudyView.settings`)."""
        assert isinstance(study, TriggerStudy)
        with all_fields():
            return self._fields(study)

    def extent(self, study: Study, checked: Checked) -> str:
        """The targets, and the searches for them."""
        assert isinstance(study, TriggerStudy)
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
        asked = fields.record(model=model, hit_type=hit_type, file=file, search=search.record())
        attempt(lambda: note_unsayable(below, model, targets, is_all=not asked.lists and not file), None)
        return asked

    def masker(self, study: Study) -> Masker:
        """See `MaskedView.masker`."""
        return trigger_masker(study)

    def own_model(self, study: Study) -> str:
        """The dialogue model."""
        assert isinstance(study, TriggerStudy)
        return study.model

    def figures(self, rows: Rows, study: Study) -> list[Figure]:
        """The hit table, the losses, words of targets, restarts."""
        assert isinstance(study, TriggerStudy)
        figures: list[Figure | None] = []
        cells = hit_table(rows)
        if cells:
            figures.append(charts.hits(cells, study.hit_type))
        figures.append(charts.losses(rows))
        shown = charts.closest(rows, study.hit_type)
        if shown:
            figures.append(charts.words(shown, self.mask(study)))
        if not study.search.stop_at_hit:  # or the others are left before they are done, and say nothing
            figures.append(charts.restarts(rows, study.hit_type))
        return [figure for figure in figures if figure is not None]

    def tables(self, rows: Rows, study: Study) -> list[Table]:
        """The hits, the targets and the searches, masked unless this reader chose to see the words."""
        assert isinstance(study, TriggerStudy)
        return tables(rows, study, self.mask(study))

    def draw_details(self, services: Services, run: RunRecord, study: Study, rows: Rows) -> bool:
        """The card of one trigger, with what can be asked of the model about it."""
        assert isinstance(study, TriggerStudy)
        found = rows_of(rows, TRIGGER)
        if not found:
            return False
        waits = DialogueCards(services, run, study, found).show(self.mask(study))
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
    """Settings that few people change; the file of targets, "" for none."""
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
