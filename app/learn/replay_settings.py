"""What a recorded search is asked: the few settings that a small search needs."""

from __future__ import annotations

from typing import Final

import streamlit as st

from app.setting_fields import SettingFields
from app.studies.view import Figure, Rows, StudyView, Table
from engine.studies.replay import ReplayStudy
from engine.studies.study import Study

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


class ReplayView(StudyView):
    """Settings alone: what a replay found is not figures but steps (`app.learn.replay_player`)."""

    kind = "replay"
    introduction = ""
    notice = ""

    def settings(self, study: Study) -> Study:
        """See `StudyView`."""
        assert isinstance(study, ReplayStudy)
        fields = SettingFields(study, "replay")
        grid = st.grid(2, min_column_width=300, gap="small")
        fields.draw("prefix", grid.cell(), max_chars=_LONGEST)
        fields.draw("pattern", grid.cell(), key="replay_pattern", max_chars=_LONGEST)
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            for name, width in _WIDTHS.items():
                fields.draw(name, width=width)
        return fields.record()

    def figures(self, rows: Rows, study: Study) -> list[Figure]:
        """None: see the class."""
        return []

    def tables(self, rows: Rows, study: Study) -> list[Table]:
        """None: see the class."""
        return []
