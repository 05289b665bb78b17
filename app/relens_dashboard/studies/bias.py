"""The page of the bias study: a template with two slots, and the shares of outcomes by subject in each variant.

    The {subject} was trained in {outcome}        a dot for P(art | man), one for P(art | woman), in each variant

Figures: `relens_dashboard.studies.bias_figures` and `relens_dashboard.studies.bias_positions`; tables:
`relens_dashboard.studies.bias_tables`.
"""

from __future__ import annotations

import streamlit as st

from relens.studies.bias import BiasStudy
from relens.studies.bias_findings import BiasFindings
from relens_dashboard.setting_fields import SettingFields, all_fields
from relens_dashboard.studies.bias_figures import difference_figure, share_figure
from relens_dashboard.studies.bias_positions import position_figures
from relens_dashboard.studies.bias_tables import account_table, residual_table, share_table, statistics_table
from relens_dashboard.studies.view import Figure, StudyView, Table

#: Fields of numbers, with their keys.
_NUMBERS = {
    "draws": "bias_draws",
    "costly_draws": "bias_costly",
    "position_draws": "bias_positions",
    "seed": "bias_seed",
    "seconds": "bias_seconds",
}


class BiasView(StudyView[BiasStudy, BiasFindings]):
    """See `relens_dashboard.studies.view.StudyView`."""

    kind = "bias"
    introduction = (
        "A sentence has two gaps: a subject and an outcome. How likely is each outcome for each subject? There are "
        "several ways to ask, because they change the answer: exactly or by drawing, in all encodings or only the "
        "canonical one, with a typing mistake or without."
    )
    notice = (
        "This describes the tendency of one model. It says nothing about people, and a difference for one sentence "
        "need not hold for another."
    )

    def settings(self, study: BiasStudy) -> BiasStudy:
        """The fields (see `StudyView.settings`)."""
        with all_fields():
            return self._fields(study)

    def _fields(self, study: BiasStudy) -> BiasStudy:
        fields = SettingFields(study, "bias")
        fields.draw("template", max_chars=400)
        fields.row("subjects", "outcomes", max_chars=4_000, height=180)
        fields.draw("variants")
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            for name, key in _NUMBERS.items():
                fields.draw(name, st.container(width=140), key=key)
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            fields.draw("boundary")
            fields.draw("end_of_text", key="bias_end")
            with st.popover("More", icon=":material/tune:", key="bias_more"), st.container(width=560):
                st.caption("DECODING")
                fields.inner("decoding")
                st.caption("EXACT WAYS OF ASKING")
                fields.draw("tolerance", st.container(width=200))
                st.caption("EDITS")
                fields.inner("edits", ("insertions", "deletions", "substitutions"), ("alphabet",))
        return fields.record()

    def figures(self, findings: BiasFindings, study: BiasStudy) -> list[Figure]:
        """The shares in every variant, the differences between subjects, and the positions of edits."""
        figures = [share_figure(findings), difference_figure(findings), *position_figures(findings)]
        return [figure for figure in figures if figure is not None]

    def tables(self, findings: BiasFindings, study: BiasStudy) -> list[Table]:
        """The statistics, the shares, the draws and the work behind them, and the residuals."""
        if not findings.variants:
            return []
        tables = [make(findings) for make in (statistics_table, share_table, account_table, residual_table)]
        return [table for table in tables if len(table.frame)]


VIEW = BiasView()
