"""The dashboard's entry: router and frame.

    python -m streamlit run app/main.py

Every page is a script of `pages/`, run inside the frame that is set up here.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# `streamlit run` puts the folder of this file on the path, `python -m streamlit run` the current one. With the root on
# the path, both find `app` and `engine`.
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

import streamlit as st  # noqa: E402

from app.components.frame import frame, name_page, sentence_of_error  # noqa: E402
from app.components.keyboard import keyboard  # noqa: E402
from app.components.page_words import page_words  # noqa: E402
from app.streamlit_patches import patch_streamlit  # noqa: E402
from app.study_views import module_name, study_views  # noqa: E402
from engine.studies.catalogue import study_class  # noqa: E402

_ICONS = {
    "bias": ":material/balance:",
    "brute-force": ":material/apps:",
    "causal-triggers": ":material/terminal:",
    "cloze": ":material/edit_note:",
    "dialogue-model": ":material/model_training:",
    "knowledge": ":material/school:",
    "memorization": ":material/history_edu:",
    "prompt-check": ":material/rule:",
    "relaxation": ":material/blur_on:",
    "toxicity": ":material/report:",
    "trigger-ablation": ":material/stacked_line_chart:",
    "trigger-check": ":material/fact_check:",
    "triggers": ":material/ads_click:",
}

start = st.Page(ROOT / "pages" / "start.py", title="Start", icon=":material/home:", default=True)
workbench = st.Page(
    ROOT / "pages" / "workbench.py", title="Workbench", icon=":material/experiment:", url_path="workbench"
)
studies = [
    st.Page(
        ROOT / "pages" / f"{module_name(kind)}.py",
        title=study_class(kind).title,
        icon=_ICONS.get(kind),
        url_path=kind,
    )
    for kind in study_views()
]
learn = [
    st.Page(ROOT / "pages" / "automata.py", title="Automata", icon=":material/account_tree:", url_path="automata"),
    st.Page(ROOT / "pages" / "tokens.py", title="Tokens", icon=":material/splitscreen:", url_path="tokens"),
    st.Page(ROOT / "pages" / "replay.py", title="Search replay", icon=":material/replay:", url_path="replay"),
    st.Page(ROOT / "pages" / "glossary.py", title="Glossary", icon=":material/menu_book:", url_path="glossary"),
]
runs = [
    st.Page(ROOT / "pages" / "history.py", title="History", icon=":material/history:", url_path="history"),
    st.Page(ROOT / "pages" / "compare.py", title="Compare", icon=":material/compare_arrows:", url_path="compare"),
    st.Page(ROOT / "pages" / "present.py", title="Present", icon=":material/slideshow:", url_path="present"),
]
frame()
sections = {"": [start, workbench], "Studies": studies, "Learn": learn, "Runs": runs}
page = st.navigation({name: pages for name, pages in sections.items() if pages}, position="top")
st.session_state["workbench_page"] = workbench
st.session_state["pages"] = {one.url_path: one for pages in sections.values() for one in pages}
name_page(page.title)
keyboard()
with sentence_of_error(page.title):
    patch_streamlit()
    page.run()
    page_words(page.url_path)
