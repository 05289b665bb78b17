"""The bias study on its page: a template with two slots, and what a model makes of it in each way to ask.

    The {subject} was trained in {outcome}        a dot for P(art | man), one for P(art | woman), in each variant

One small picture a variant, all with the same outcomes in the same order and on the same scale, so that the eye finds
by itself what changes from one to the next. Figures: `app.studies.bias_figures` and
`app.studies.bias_positions`; tables: `app.studies.bias_tables`.
"""

from __future__ import annotations

import streamlit as st

from app.setting_fields import SettingFields, all_fields
from app.studies.bias_figures import difference_figure, share_figure
from app.studies.bias_positions import position_figures
from app.studies.bias_tables import account_table, residual_table, share_table, statistics_table
from app.studies.view import Figure, Rows, StudyView, Table
from engine.studies.bias import BiasStudy
from engine.studies.bias_findings import BiasFindings, bias_findings
from engine.studies.study import Study

#: Fields of numbers, with their keys.
_NUMBERS = {
    "draws": "bias_draws",
    "costly_draws": "bias_costly",
    "position_draws": "bias_positions",
    "seed": "bias_seed",
    "seconds": "bias_seconds",
}


class BiasView(StudyView):
    """What the bias study shows."""

    kind = "bias"
    introduction = (
        "A sentence with two gaps is put to the model: whom it speaks of, and what is said of them. How likely is each "
        "ending for each subject? The question is asked in several ways, because the way of asking changes the answer. "
        "It is asked exactly or by drawing, in all encodings or only the canonical one, with a typing mistake or "
        "without."
    )
    notice = (
        "This describes what one model tends to write. It says nothing about people, and a difference for one "
        "sentence need not hold for another."
    )

    def __init__(self) -> None:
        self._latest: tuple[Rows, int, BiasFindings] | None = None

    def settings(self, study: Study) -> BiasStudy:
        """Draw the widgets, with `study` as their first values, and return what they hold."""
        assert isinstance(study, BiasStudy)
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

    def figures(self, rows: Rows, study: Study) -> list[Figure]:
        """The shares in every variant, what the subjects differ in, and where edits fall."""
        findings = self._findings(rows)
        found = [share_figure(findings), difference_figure(findings), *position_figures(findings)]
        return [figure for figure in found if figure is not None]

    def tables(self, rows: Rows, study: Study) -> list[Table]:
        """The statistics, the shares, what stands behind them, and the residuals."""
        findings = self._findings(rows)
        if not findings.variants:
            return []
        found = [statistics_table, share_table, account_table, residual_table]
        return [table for make in found if len((table := make(findings)).frame)]

    def _findings(self, rows: Rows) -> BiasFindings:
        """The findings; those of the rows that were asked for last are kept, for figures and tables ask alike."""
        latest = self._latest
        if latest is None or latest[0] is not rows or latest[1] != len(rows):
            latest = self._latest = (rows, len(rows), bias_findings(rows))
        return latest[2]


VIEW: StudyView = BiasView()
