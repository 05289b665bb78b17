"""The last step of a lesson: the model is asked, as a run of its own, and what its decoder cannot take is dashed."""

from __future__ import annotations

import streamlit as st

from app import links, narrative
from app.components.automaton_view import automaton_view
from app.components.messages import show_error
from app.components.pin_button import pin_button
from app.components.study_run import begin_study
from app.components.ticker import ticker
from app.learn.decoder_marks import DecoderFound, decoder_found
from app.learn.parameters import TOP_K
from app.picture import Picture, legend_of, picture_of
from app.present.finding import Finding
from app.present.pinned import page_finding
from app.run_rows import read_rows
from app.runs.imported import made_of
from app.services import Services
from app.session import session_name
from app.studies.view import Rows
from app.text import as_html, as_markdown
from engine.errors import QueryError, RelensError
from engine.learn.steps import Lesson
from engine.pictures.graphs import Graph
from engine.query import Decoding
from engine.runs.records import RunRecord
from engine.runs.specification import StudySpecification
from engine.studies.decoder_view import DecoderStudy

DEFAULT_TOP_K = 40
_MOST_TOP_K = 100_000
_LOOK = 0.7


def decoder_step(services: Services, lesson: Lesson, graph: Graph, model: str) -> None:
    """Show what the decoder can take of `graph`, the automaton of all encodings, or offer to find out."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        top_k = st.number_input(
            "Top-k",
            1,
            _MOST_TOP_K,
            DEFAULT_TOP_K,
            key=TOP_K,
            bind="query-params",
            persist_state="page",
            width=130,
            help="The decoder takes only the k likeliest of all tokens at each step; arcs that need another one are "
            "dashed. A larger k leaves more arcs.",
        )
        study = DecoderStudy(lesson.pattern, edits=lesson.options.edits, decoding=Decoding(top_k=int(top_k or 1)))
        specification = StudySpecification(model, study)
        run, rows, is_busy = _look(services, specification)
        if st.button(
            "Ask the model",
            icon=":material/play_arrow:",
            type="secondary" if run else "primary",
            disabled=is_busy or (run is not None and (run.is_live or run.status == "done")),
            key="lesson_ask",
            help="Ask the model about every path that the decoder can take, in the queue like any other run.",
        ):
            begin_study(services, lambda: services.store.submit(specification, session_name()))
    if is_busy:
        pass  # which has been said; what was asked is not known
    elif run is None:
        st.caption("Nothing was asked of the model with these settings yet: the arcs below are all encodings.")
    elif run.is_live:
        st.caption(as_markdown(narrative.status_headline(run, None)))
    elif run.status != "done":
        show_error(run.error or narrative.status_headline(run, None))
    found = _found(run, rows, graph)
    if found is not None:
        sentences = "".join(f"<p>{as_html(sentence)}</p>" for sentence in found.sentences)
        st.html(f'<div class="relens-findings">{sentences}</div>')
    picture = picture_of(graph, found.marks) if found else picture_of(graph)
    alt = f"The automaton of all encodings. {' '.join(found.sentences) if found else 'The model was not asked yet.'}"
    automaton_view(
        picture,
        key="lesson_automaton",
        name="decoder",
        alt=alt,
        question=f"{lesson.pattern} decoder {run.id if run and found else ''}",
        height=400,
    )
    if found is not None:
        plain = "plain: the decoder can take it"
        st.caption(" · ".join(map(as_markdown, [plain, *legend_of(found.marks)])))
    if run is not None and found is not None and picture.svg is not None:
        pin_button(services, lambda: _finding(run, study, found, picture, alt), key="pin_decoder")
    # A store that is too busy to answer now may do so then.
    ticker(_LOOK if is_busy or (run is not None and run.is_live) else None, key="lesson_decoder")


def _look(services: Services, specification: StudySpecification) -> tuple[RunRecord | None, Rows, bool]:
    """The run of the address, where it asked exactly this, and its rows; whether the store was too busy to say."""
    run_id = st.query_params.get(links.RUN)
    try:
        run = services.store.get(run_id) if run_id else None
        if run is None or run.specification != specification.to_json():
            return None, [], False
        found = read_rows(services.store, run)
        return run, found.rows if found.is_whole else (), not found.is_read
    except RelensError as error:
        show_error(error)
        return None, [], True


def _found(run: RunRecord | None, rows: Rows, graph: Graph) -> DecoderFound | None:
    try:
        if run is not None and rows:
            with made_of(run):
                return decoder_found(rows, graph)
    except QueryError as error:
        show_error(error)
    return None


def _finding(run: RunRecord, study: DecoderStudy, found: DecoderFound, picture: Picture, alt: str) -> Finding:
    top_k = study.decoding.top_k
    return page_finding(
        f"With top-k {top_k}: {study.pattern}",
        found.sentences,
        picture.svg,
        alt,
        page="automata",
        asked=f"what of the pattern {study.pattern} can it write where only the {top_k} likeliest tokens are taken?",
        model=run.model,
        look_at="Arcs that the decoder cannot take are dashed; what is left is what it can write of the pattern.",
        not_shown="How often it would write any of it: an arc says what the decoder can take.",
        run=run.id,
    )
