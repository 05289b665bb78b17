"""The dashboard's entry: router and frame.

    python -m streamlit run app/main.py

Every page is a script of `pages/`, run inside the frame that is set up here.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# `streamlit run` puts the folder of this file on the path, `python -m streamlit run` the current one; with the root
# there, both find `app` and `engine`.
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

import streamlit as st  # noqa: E402

from app.components.frame import frame  # noqa: E402
from app.study_views import study_views  # noqa: E402
from engine.studies.catalogue import study_class  # noqa: E402

_ICONS = {
    "bias": ":material/balance:",
    "cloze": ":material/edit_note:",
    "knowledge": ":material/school:",
    "memorization": ":material/history_edu:",
    "toxicity": ":material/report:",
}

start = st.Page(ROOT / "pages" / "start.py", title="Start", icon=":material/home:", default=True)
workbench = st.Page(
    ROOT / "pages" / "workbench.py", title="Workbench", icon=":material/experiment:", url_path="workbench"
)
studies = [
    st.Page(ROOT / "pages" / f"{kind}.py", title=study_class(kind).title, icon=_ICONS.get(kind), url_path=kind)
    for kind in study_views()
]
frame()
page = st.navigation({"": [start, workbench]} | ({"Studies": studies} if studies else {}), position="top")
st.session_state["workbench_page"] = workbench
page.run()
