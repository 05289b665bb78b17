"""The settings of a recorded search: the few that a small search needs."""

from __future__ import annotations

from typing import Final

import streamlit as st

from relens.studies.replay import ReplayStudy
from relens.studies.replay_findings import ReplayFindings
from relens_dashboard.setting_fields import SettingFields
from relens_dashboard.studies.view import Figure, StudyView, Table

#: The small fields, with their widths.
_WIDTHS: Final = {
    "encoding": "content",
    "rank": "content",
    "top_k": 110,
    "batch": 150,
    "matches": 110,
    "expansions": 160,
}
_LONGEST = 300


class ReplayView(StudyView[ReplayStudy, ReplayFindings]):
    """Settings alone: a recording is shown as steps (`relens_dashboard.learn.replay_player`)."""

    kind = "replay"
    introduction = ""
    notice = ""

    def settings(self, study: ReplayStudy) -> ReplayStudy:
        """See `StudyView`."""
        fields = SettingFields(study, "replay")
        grid = st.grid(2, min_column_width=300, gap="small")
        fields.draw("prefix", grid.cell(), max_chars=_LONGEST)
        fields.draw("pattern", grid.cell(), key="replay_pattern", max_chars=_LONGEST)
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            for name, width in _WIDTHS.items():
                fields.draw(name, width=width)
        return fields.record()

    def figures(self, findings: ReplayFindings, study: ReplayStudy) -> list[Figure]:
        """None: see the class."""
        return []

    def tables(self, findings: ReplayFindings, study: ReplayStudy) -> list[Table]:
        """None: see the class."""
        return []
