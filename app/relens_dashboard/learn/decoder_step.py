"""The last step of a lesson: a run scores the paths of the automaton; arcs that the decoder cannot take are dashed."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from relens.errors import QueryError, RelensError
from relens.learn.steps import Lesson
from relens.pictures.drawing import Marks
from relens.pictures.graphs import Graph
from relens.query import Decoding
from relens.runs.records import RunRecord
from relens.runs.specification import StudySpecification
from relens.studies.decoder_view import DecoderFindings, DecoderStudy, decoder_findings
from relens_dashboard import links, narrative
from relens_dashboard.components.automaton_view import automaton_view
from relens_dashboard.components.pin_button import pin_button
from relens_dashboard.components.study_run import begin_study
from relens_dashboard.components.ticker import ticker
from relens_dashboard.learn.decoder_marks import decoder_marks, decoder_sentences
from relens_dashboard.lesson_parameters import TOP_K
from relens_dashboard.messages import show_error
from relens_dashboard.picture import Picture, legend_of, picture_of
from relens_dashboard.present.finding import Finding
from relens_dashboard.present.pinned import page_finding
from relens_dashboard.run_rows import RunRows, read_rows
from relens_dashboard.runs.imported import made_of
from relens_dashboard.services import Services
from relens_dashboard.session import session_name
from relens_dashboard.text import as_html, as_markdown

DEFAULT_TOP_K = 40
_MOST_TOP_K = 100_000
_LOOK = 0.7


def decoder_step(services: Services, lesson: Lesson, graph: Graph, model: str) -> None:
    """Draw `graph`, the automaton of all encodings, with the arcs that a decoder can take, or offer the run for it."""
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
        run, run_rows, is_busy = _look(services, specification)
        if st.button(
            "Ask the model",
            icon=":material/play_arrow:",
            type="secondary" if run else "primary",
            disabled=is_busy or (run is not None and (run.is_live or run.status == "done")),
            key="lesson_ask",
            help="Score every path that the decoder can take with the model, in the queue like any other run.",
        ):
            begin_study(services, lambda: services.store.submit(specification, session_name()))
    if is_busy:
        pass  # the error is shown; whether there is a run is not known
    elif run is None:
        st.caption("No run has these settings yet: the arcs below are all encodings.")
    elif run.is_live:
        st.caption(as_markdown(narrative.status_headline(run, None)))
    elif run.status != "done":
        show_error(run.error or narrative.status_headline(run, None))
    findings = _findings(run, run_rows, study)
    sentences = decoder_sentences(findings, graph) if findings else ()
    marks = decoder_marks(findings, graph) if findings else Marks()
    if findings:
        paragraphs = "".join(f"<p>{as_html(sentence)}</p>" for sentence in sentences)
        st.html(f'<div class="relens-findings">{paragraphs}</div>')
    picture = picture_of(graph, marks)
    alt = f"The automaton of all encodings. {' '.join(sentences) or 'No path is scored yet.'}"
    automaton_view(
        picture,
        key="lesson_automaton",
        name="decoder",
        alt=alt,
        question=f"{lesson.pattern} decoder {run.id if run and findings else ''}",
        height=400,
    )
    if findings:
        plain = "plain: the decoder can take it"
        st.caption(" · ".join(map(as_markdown, [plain, *legend_of(marks)])))
    if run is not None and findings and picture.svg is not None:
        pin_button(services, lambda: _finding(run, study, sentences, picture, alt), key="pin_decoder")
    # A store that is too busy to answer now may do so then.
    ticker(_LOOK if is_busy or (run is not None and run.is_live) else None, key="lesson_decoder")


def _look(services: Services, specification: StudySpecification) -> tuple[RunRecord | None, RunRows | None, bool]:
    """The run of the address, if it has exactly these settings, and its rows; whether the store was too busy."""
    run_id = st.query_params.get(links.RUN)
    try:
        run = services.store.get(run_id) if run_id else None
        if run is None or run.specification != specification.to_json():
            return None, None, False
        run_rows = read_rows(services.store, run)
        return run, run_rows if run_rows.is_whole else None, not run_rows.is_read
    except RelensError as error:
        show_error(error)
        return None, None, True


def _findings(run: RunRecord | None, run_rows: RunRows | None, study: DecoderStudy) -> DecoderFindings | None:
    """The findings of the run, None before its first path."""
    if run is None or run_rows is None:
        return None
    try:
        with made_of(run):
            findings = run_rows.remember("findings", lambda: decoder_findings(run_rows.rows, study))
            return findings if findings.paths else None
    except QueryError as error:
        show_error(error)
        return None


def _finding(run: RunRecord, study: DecoderStudy, sentences: Sequence[str], picture: Picture, alt: str) -> Finding:
    top_k = study.decoding.top_k
    return page_finding(
        f"With top-k {top_k}: {study.pattern}",
        sentences,
        picture.svg,
        alt,
        page="automata",
        question=f"which matches of {study.pattern} can it write with the {top_k} likeliest tokens at each step?",
        model=run.model,
        look_at="Arcs that the decoder cannot take are dashed; the others spell the matches that it can write.",
        not_shown="How often it would write them: an arc shows only that the decoder can take it.",
        run=run.id,
    )
