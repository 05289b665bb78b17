"""A recorded search on the page: one step at a time, forwards and backwards, or played.

    /replay?run=4f3a&step=3       Previous  Play  Next  ───●───     automaton | tree     frontier | matches shown

The step is in the page's address, so that a link opens at it. All of it is one fragment, alone in its container; while
it plays, a clock in the browser (`relens_dashboard.components.ticker`) makes it run again.
"""

from __future__ import annotations

import time

import streamlit as st

from relens.counted import counted
from relens.errors import RelensError
from relens.runs.records import RunRecord
from relens.runs.specification import StudySpecification
from relens.studies.replay import ReplayStudy
from relens.studies.replay_findings import ReplayFindings, replay_findings
from relens_dashboard.components.automaton_view import automaton_view
from relens_dashboard.components.pin_button import pin_button
from relens_dashboard.components.ticker import ticker
from relens_dashboard.glossary import term
from relens_dashboard.learn.replay_figures import automaton_marks, frontier_table, search_tree, shown_table
from relens_dashboard.learn.replay_sentences import headline, mass_text, sentences
from relens_dashboard.messages import show_error
from relens_dashboard.picture import legend_of, picture_of
from relens_dashboard.present.pinned import page_finding
from relens_dashboard.run_rows import READ_ON, RunRows, read_rows
from relens_dashboard.runs.imported import made_of
from relens_dashboard.services import Services
from relens_dashboard.text import as_html, as_markdown

#: Seconds that a step is shown while it plays.
_PACE = 1.6
#: The parameter of the page's address that holds the step, and the widget bound to it.
STEP = "step"
_PLAYING, _TURNED = "replay_playing", "replay_turned"
_MOST_STATES = 80


def replay_player(services: Services, run: RunRecord) -> None:
    """The steps of this run, or a sentence where it has none."""
    with st.container():
        st.fragment(_player, key="replay_player")(services, run)


def _player(services: Services, run: RunRecord) -> None:
    try:
        run_rows = read_rows(services.store, run)
        if not run_rows.is_whole:
            st.info(as_markdown(run_rows.cut_sentence() or run_rows.reading_sentence()))
            ticker(None if run_rows.is_read else READ_ON, key="replay_clock")
            return
        with made_of(run):
            _play_through(services, run_rows, run)
    except RelensError as error:
        show_error(error)


def _play_through(services: Services, run_rows: RunRows, run: RunRecord) -> None:
    if not run_rows.rows:
        return
    study = StudySpecification.from_json(run.specification).study
    assert isinstance(study, ReplayStudy)  # `addressed_study` takes no other
    findings = run_rows.remember("findings", lambda: replay_findings(run_rows.rows, study))
    if not findings.has_steps:
        st.caption("This recording has no steps.")
        return
    step = _step_bar(findings)
    st.html(
        f'<div class="relens-findings study" data-replay-step="{step}" data-replay-run="{as_html(run.id)}">'
        f"<p><b>{as_html(headline(findings, step))}</b></p>"
        + "".join(f'<p class="minor">{as_html(sentence)}</p>' for sentence in sentences(findings, step))
        + "</div>"
    )
    _pictures(services, run, findings, step)
    _tables(findings, step)
    playing = bool(st.session_state.get(_PLAYING))
    ticker(_PACE if playing else None, key="replay_clock")


def _step_bar(findings: ReplayFindings) -> int:
    """Previous, play, next and a slider; the step to show."""
    if STEP not in st.session_state:
        # The slider reads the address too, but it comes after the buttons.
        number = st.query_params.get(STEP, "0")
        st.session_state[STEP] = int(number) if number.isdecimal() else 0
    if not 0 <= st.session_state[STEP] <= findings.last:
        st.session_state[STEP] = 0
    if st.session_state.get(_PLAYING):
        _turn_when_due(findings.last)
    step = int(st.session_state.get(STEP, 0))
    playing = bool(st.session_state.get(_PLAYING))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.button(
            "Previous",
            icon=":material/skip_previous:",
            shortcut="Left",
            disabled=step == 0,
            key="replay_previous",
            on_click=_go,
            args=(-1, findings.last),
            help="One round of the search back.",
        )
        st.button(
            "Pause" if playing else "Play",
            icon=":material/pause:" if playing else ":material/play_arrow:",
            shortcut="P",
            key="replay_play",
            on_click=_play,
            args=(findings.last,),
            disabled=not findings.last,
            help="Show one step after the other.",
        )
        st.button(
            "Next",
            icon=":material/skip_next:",
            icon_position="right",
            shortcut="Right",
            type="primary",
            disabled=step == findings.last,
            key="replay_next",
            on_click=_go,
            args=(1, findings.last),
            help="One round of the search on: a forward of the model, or matches that may be shown.",
        )
        if findings.last:
            st.slider(
                "Step",
                0,
                findings.last,
                key=STEP,
                bind="query-params",
                help="Step 0 is before the first forward; each later step is one round of the search.",
            )
    return int(st.session_state.get(STEP, 0))


def _go(by: int, last: int) -> None:
    st.session_state[_PLAYING] = False
    st.session_state[STEP] = min(max(st.session_state.get(STEP, 0) + by, 0), last)


def _play(last: int) -> None:
    playing = st.session_state[_PLAYING] = not st.session_state.get(_PLAYING)
    st.session_state[_TURNED] = time.monotonic()
    if playing and st.session_state.get(STEP, 0) >= last:
        st.session_state[STEP] = 0


def _turn_when_due(last: int) -> None:
    """Turn to the next step once this one has had its time: while it plays, the page runs for other reasons too."""
    now = time.monotonic()
    if now - st.session_state.get(_TURNED, 0.0) >= 0.8 * _PACE:
        st.session_state[_TURNED] = now
        st.session_state[STEP] = min(int(st.session_state.get(STEP, 0)) + 1, last)
    if st.session_state.get(STEP, 0) >= last:
        st.session_state[_PLAYING] = False


def _pictures(services: Services, run: RunRecord, findings: ReplayFindings, step: int) -> None:
    entry = findings.rounds[step]
    grid = st.grid(2, min_column_width=420, gap="medium")
    with grid.cell():
        st.markdown("**Where the search stands**, in the automaton of tokens", help=term("automaton"))
        marks = automaton_marks(findings, step)
        picture = picture_of(findings.graph, marks, _MOST_STATES)
        states = ", ".join(f"state {state}: {word}" for state, word in sorted(marks.states.items()))
        automaton_view(
            picture,
            key="replay_automaton",
            name=f"search-automaton-{step}",
            alt=f"The automaton of tokens at step {step}; {states}.",
            height=420,
        )
        st.caption(" · ".join([*map(as_markdown, legend_of(marks)), as_markdown(picture.note)]).strip(" ·"))
    with grid.cell():
        st.markdown("**The tree of paths so far**, each with its cost", help=term("shortest path"))
        tree, tree_marks = search_tree(findings, step)
        drawn = picture_of(tree, tree_marks, _MOST_STATES)
        alt = (
            f"The search tree at step {step}: {counted(len(tree.arcs), 'arc')},"
            f" {counted(len(entry.frontier), 'open path')} drawn."
        )
        automaton_view(drawn, key="replay_tree", name=f"search-tree-{step}", alt=alt, height=420)
        st.caption(" · ".join([*map(as_markdown, legend_of(tree_marks)), as_markdown(drawn.note)]).strip(" ·"))
        if drawn.svg is not None:
            pin_button(
                services,
                lambda: page_finding(
                    f"Search, step {step}",
                    [headline(findings, step), *sentences(findings, step)],
                    drawn.svg,
                    alt,
                    page="replay",
                    question=ReplayStudy.question,
                    model=run.model,
                    look_at="Each circle is a path of tokens with its cost; the cheapest open one is expanded next.",
                    run=run.id,
                ),
                key="pin_tree",
            )


def _tables(findings: ReplayFindings, step: int) -> None:
    entry = findings.rounds[step]
    grid = st.grid(2, min_column_width=420, gap="medium")
    with grid.cell():
        listed = len(entry.frontier)
        among = f", the {listed} cheapest of {entry.open:,}" if entry.open > listed else ""
        st.markdown(f"**The frontier**: {counted(entry.open, 'open path')}{among}", help=term("frontier"))
        st.dataframe(
            frontier_table(findings, step),
            key="replay_frontier",
            hide_index=True,
            height="content",
            alt=f"The frontier at step {step}: {counted(listed, 'line')}",
            column_config={
                "Path": st.column_config.TextColumn(help="Its tokens; ␣ is a space."),
                "Cost": st.column_config.NumberColumn(
                    format="%.2f", help="Negative log-probability of the path in nats; the cheapest is first."
                ),
                "State": st.column_config.TextColumn(help="Where the path ends in the automaton on the left above."),
            },
        )
    with grid.cell():
        shown = shown_table(findings, step)
        st.markdown(f"**Shown so far**: {counted(len(shown), 'match', 'matches')}")
        if len(shown):
            st.dataframe(
                shown,
                key="replay_shown",
                hide_index=True,
                height="content",
                alt=f"Matches shown by step {step}: {counted(len(shown), 'line')}",
                column_config={
                    "Cost": st.column_config.NumberColumn(format="%.2f", help="Never falls from one to the next."),
                    "Canonical": st.column_config.CheckboxColumn(help=term("canonical")),
                },
            )
        st.caption(as_markdown(mass_text(findings, step)))
