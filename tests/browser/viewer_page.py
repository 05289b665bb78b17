"""A page with one viewer on graphs made for looking at it: what `streamlit run` starts for test_graph_viewer.py."""

from __future__ import annotations

import sys
from pathlib import Path

import streamlit as st

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from relens.pictures.drawing import Marks
from relens_dashboard.components.automaton_view import automaton_view
from relens_dashboard.picture import legend_of, picture_of
from tests.browser.viewer_graphs import large, marked, small

which = st.query_params.get("graph", "small")
if which == "steps":
    # The same drawing with other marks, as a lesson has it from step to step.
    step = int(st.button("Next step"))
    graph = large(40)[0]
    marks = Marks(states={3 + step: "current"})
else:
    graph, marks = {"small": small, "marked": marked}[which]() if not which.isdigit() else large(int(which))
picture = picture_of(graph, marks)
chosen = automaton_view(
    picture, key="viewer", name="a-graph", alt="A graph to look at", height=420, selectable=True, question=which
)
st.write(f"Chosen: {chosen.kind} {chosen.number}" if chosen else "Chosen: nothing")
st.caption(" · ".join([*legend_of(marks), picture.note]))
