"""The dashboard's entry: router and frame.

    relens run      which is: python -m streamlit run app/relens_dashboard/main.py

Every page is a script of `pages/`, run inside the frame that is set up here; in an installed package, of `_pages/`.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from relens.studies.catalogue import study_class
from relens_dashboard.components.frame import frame, name_page, sentence_of_error
from relens_dashboard.components.keyboard import keyboard
from relens_dashboard.components.page_words import page_words
from relens_dashboard.streamlit_patches import patch_streamlit
from relens_dashboard.study_views import module_name, study_views

_PACKAGE = Path(__file__).resolve().parent
_INSTALLED = _PACKAGE / "_pages"
PAGES = _INSTALLED if _INSTALLED.is_dir() else _PACKAGE.parents[1] / "pages"

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

start = st.Page(PAGES / "start.py", title="Start", icon=":material/home:", default=True)
workbench = st.Page(PAGES / "workbench.py", title="Workbench", icon=":material/experiment:", url_path="workbench")
studies = [
    st.Page(
        PAGES / f"{module_name(kind)}.py",
        title=study_class(kind).title,
        icon=_ICONS.get(kind),
        url_path=kind,
    )
    for kind in study_views()
]
learn = [
    st.Page(PAGES / "automata.py", title="Automata", icon=":material/account_tree:", url_path="automata"),
    st.Page(PAGES / "tokens.py", title="Tokens", icon=":material/splitscreen:", url_path="tokens"),
    st.Page(PAGES / "replay.py", title="Search replay", icon=":material/replay:", url_path="replay"),
    st.Page(PAGES / "glossary.py", title="Glossary", icon=":material/menu_book:", url_path="glossary"),
]
runs = [
    st.Page(PAGES / "history.py", title="History", icon=":material/history:", url_path="history"),
    st.Page(PAGES / "compare.py", title="Compare", icon=":material/compare_arrows:", url_path="compare"),
    st.Page(PAGES / "present.py", title="Present", icon=":material/slideshow:", url_path="present"),
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
