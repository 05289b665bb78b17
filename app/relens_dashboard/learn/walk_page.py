"""The part of the page on random walks: a histogram that grows, and one walk followed crossing by crossing.

No model is needed. A limited child process draws all walks at once (`relens.runs.learning`); the page then shows the
first hundred, two hundred, ... of them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import streamlit as st

from relens.errors import RelensError
from relens.learn.random_walks import MOST_DRAWS, Draws, RandomWalks, Walk
from relens.models.catalogue import available_models
from relens.pictures.drawing import ArcName, Marks, arc_name
from relens.runs.learning import WalkAnswers
from relens_dashboard import charts
from relens_dashboard.components.automaton_view import automaton_view
from relens_dashboard.components.pin_button import pin_button
from relens_dashboard.components.ticker import ticker
from relens_dashboard.learn.walk_figures import (
    RULE_NAMES,
    RULE_WORDS,
    crossing_table,
    cumulative_chart,
    edits_listed,
    findings,
    positions_chart,
)
from relens_dashboard.messages import show_error, show_no_model
from relens_dashboard.narrative import probability_text
from relens_dashboard.picture import legend_of, picture_of
from relens_dashboard.present.pinned import page_finding
from relens_dashboard.services import Services
from relens_dashboard.shared import shared
from relens_dashboard.text import as_html, as_markdown, visible

_FIRST = "The ((cat)|(dog))"
_AT_A_TIME, _PACE = 100, 0.5
_DRAWN, _PLAYING, _TURNED, _CROSSING = "walk_drawn", "walk_playing", "walk_turned", "walk_crossing"
_MOST_STATES = 80


@shared
def walk_answers() -> WalkAnswers:
    """The child process for random walks; it starts with the first question."""
    return WalkAnswers()


def walk_page(services: Services) -> None:
    """Settings, histograms, one walk."""
    st.html(
        '<p class="relens-lead small">A random walk through its automaton draws a string of a pattern. If every way on '
        "from a state is equally likely, the strings are not: with one typing mistake allowed, nearly all mistakes are "
        "at the first character.</p>"
    )
    walks = _walks()
    if walks is None:
        return
    with st.container():
        st.fragment(_histograms, key="walk_histograms")(services, walks)
    with st.container():
        st.fragment(_one_walk, key="walk_followed")(walks)


def _walks() -> RandomWalks | None:
    names = [entry.name for entry in available_models()]
    if not names:
        show_no_model()
        return None
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        pattern = st.text_input(
            "Pattern, and everything one edit away",
            _FIRST,
            key="walk_pattern",
            bind="query-params",
            max_chars=300,
            width=420,
            help="A small pattern with a few strings. The walks draw from these and all strings with one character "
            "inserted, deleted or replaced.",
        )
        model = st.selectbox(
            "Tokens of",
            names,
            key="walk_model",
            bind="query-params",
            width=220,
            help="The model whose tokens spell the strings. Only walks by token paths depend on it.",
        )
        seed = st.number_input(
            "Seed",
            0,
            None,
            0,
            key="walk_seed",
            bind="query-params",
            width=110,
            help="The same seed draws the same walks.",
        )
    try:
        with st.spinner("Drawing walks"):
            return walk_answers().walks(pattern, str(model), int(seed))
    except RelensError as error:
        show_error(error)
        return None


def _histograms(services: Services, walks: RandomWalks) -> None:
    drawn = _draw_bar()
    st.html("".join(f'<p class="relens-lead small">{as_html(sentence)}</p>' for sentence in findings(walks)))
    grid = st.grid(3, min_column_width=320, gap="medium")
    for draws in walks.draws:
        with grid.cell():
            st.markdown(f"**{RULE_NAMES[draws.rule]}**")
            st.caption(RULE_WORDS[draws.rule])
            chart = positions_chart(draws, drawn)
            st.plotly_chart(chart.figure, key=f"walk_{draws.rule}", config=charts.CONFIG, alt=chart.alt)
            title = f"Random edits: {RULE_NAMES[draws.rule].lower()}"
            sentences = [f"{RULE_NAMES[draws.rule]}: {RULE_WORDS[draws.rule]}.", chart.alt]
            _pin(services, walks, title, sentences, chart, "The bars are the walks drawn; the marks, the exact shares.")
    st.markdown("**The three on one scale**")
    st.caption(
        "The share of edits up to each character: lines exactly, dots as drawn. A straight line: edits are spread"
        " evenly. A leap at the start: most edits are there."
    )
    chart = cumulative_chart(walks, drawn)
    st.plotly_chart(chart.figure, key="walk_cumulative", config=charts.CONFIG, alt=chart.alt)
    look_at = "A straight line: edits are spread evenly. A leap at the start: most edits are there."
    _pin(services, walks, "Where a random edit falls", findings(walks), chart, look_at)
    ticker(_PACE if st.session_state.get(_PLAYING) else None, key="walk_clock")


def _pin(
    services: Services, walks: RandomWalks, title: str, sentences: Sequence[str], chart: charts.Chart, look_at: str
) -> None:
    pin_button(
        services,
        lambda: page_finding(
            title,
            sentences,
            chart.figure,
            chart.alt,
            page="replay",
            question=f"where are the edits when strings near {walks.pattern} are drawn at random?",
            model=str(st.session_state.get("walk_model", "")),
            look_at=look_at,
        ),
        key=f"pin_walks_{title}",
    )


def _draw_bar() -> int:
    """The number of walks shown; while it plays, a hundred more every half second."""
    now = time.monotonic()
    if st.session_state.get(_PLAYING) and now - st.session_state.get(_TURNED, 0.0) >= 0.6 * _PACE:
        st.session_state[_TURNED] = now
        st.session_state[_DRAWN] = min(st.session_state.get(_DRAWN, _AT_A_TIME) + _AT_A_TIME, MOST_DRAWS)
    if st.session_state.get(_DRAWN, _AT_A_TIME) >= MOST_DRAWS:
        st.session_state[_PLAYING] = False
    playing = bool(st.session_state.get(_PLAYING))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.button(
            "Pause" if playing else "Draw",
            icon=":material/pause:" if playing else ":material/casino:",
            type="primary",
            key="walk_play",
            on_click=_play,
            help=f"Add {_AT_A_TIME} walks at a time, by each of the three rules, up to {MOST_DRAWS:,}.",
        )
        return int(
            st.slider(
                "Walks drawn",
                _AT_A_TIME,
                MOST_DRAWS,
                step=_AT_A_TIME,
                key=_DRAWN,
                help="The number of walks in the bars. The more, the nearer they come to the exact marks.",
            )
        )


def _play() -> None:
    playing = st.session_state[_PLAYING] = not st.session_state.get(_PLAYING)
    st.session_state[_TURNED] = time.monotonic()
    if playing and st.session_state.get(_DRAWN, 0) >= MOST_DRAWS:
        st.session_state[_DRAWN] = _AT_A_TIME


def _one_walk(walks: RandomWalks) -> None:
    st.header("Follow one walk", anchor=False)
    followed = {RULE_NAMES[draws.rule]: draws for draws in walks.draws if draws.walks}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        name = st.segmented_control(
            "Drawn",
            list(followed),
            default=next(iter(followed)),
            required=True,
            key="walk_rule",
            on_change=_from_the_start,
            help="The rule that drew the walk. The table below has the probabilities by both rules.",
        )
        draws: Draws = followed[name]
        texts = edits_listed([visible(walk.text) for walk in draws.walks])
        chosen = st.selectbox(
            "Walk",
            texts,
            key=f"walk_number_{draws.rule}",
            width=300,
            on_change=_from_the_start,
            help="The first few walks of this rule.",
        )
        walk = draws.walks[texts.index(chosen)]
        step = _crossing_bar(len(walk.turns) - 1)
    _crossing(walks, walk, step)


def _crossing_bar(last: int) -> int:
    if not 0 <= st.session_state.get(_CROSSING, 0) <= last:
        st.session_state[_CROSSING] = 0
    st.button(
        "Back",
        icon=":material/skip_previous:",
        disabled=not st.session_state.get(_CROSSING, 0),
        key="walk_previous",
        on_click=_go,
        args=(-1, last),
        help="One character back.",
    )
    st.button(
        "On",
        icon=":material/skip_next:",
        icon_position="right",
        disabled=st.session_state.get(_CROSSING, 0) >= last,
        key="walk_next",
        on_click=_go,
        args=(1, last),
        help="One character on.",
    )
    if last:
        st.slider("Character", 0, last, key=_CROSSING, help="The place of the walk.", width=240)
    return int(st.session_state.get(_CROSSING, 0))


def _go(by: int, last: int) -> None:
    st.session_state[_CROSSING] = min(max(st.session_state.get(_CROSSING, 0) + by, 0), last)


def _from_the_start() -> None:
    st.session_state[_CROSSING] = 0


def _crossing(walks: RandomWalks, walk: Walk, step: int) -> None:
    crossing = walks.crossings[walk.crossings[step]]
    taken = crossing.turns[walk.turns[step]]
    read = visible(walk.text[:step])
    what = f"reads “{visible(walk.text[step])}”" if step < len(walk.text) else "stops"
    at = f"After “{read}” the walk" if read else "At the start the walk"
    st.html(
        f'<p class="relens-lead small" data-walk-step="{step}">{as_html(at)} {as_html(what)}. The way it takes has '
        f"{as_html(probability_text(taken.by_strings))} by strings and {as_html(probability_text(taken.by_edges))} by "
        f"edges; {as_html(taken.walks)} {'string lies' if taken.walks == '1' else 'strings lie'} behind it.</p>"
    )
    grid = st.grid(2, min_column_width=420, gap="medium")
    with grid.cell():
        marks = _walk_marks(walks, walk, step)
        picture = picture_of(walks.graph, marks, _MOST_STATES)
        automaton_view(
            picture,
            key="walk_automaton",
            name="random-walk",
            alt=f"The automaton over characters, the walk {at.lower()} in state {crossing.state}.",
            height=380,
        )
        st.caption(" · ".join([*map(as_markdown, legend_of(marks)), as_markdown(picture.note)]).strip(" ·"))
    with grid.cell():
        st.dataframe(
            crossing_table(crossing, walk.turns[step]),
            key="walk_crossing_table",
            hide_index=True,
            height="content",
            alt=f"The {len(crossing.turns)} ways on from here with their probabilities.",
            column_config={
                "Taken": st.column_config.CheckboxColumn(help="The way that this walk takes."),
                "Way on": st.column_config.TextColumn(help="The characters that lead to the same state."),
                "Characters": st.column_config.NumberColumn(help="The number of these characters.", format="localized"),
                "Strings behind": st.column_config.TextColumn(help="The number of strings on this way: its weight."),
                "By strings": st.column_config.NumberColumn(
                    format="percent", help="Strings on this way, of all strings behind this state."
                ),
                "By edges": st.column_config.NumberColumn(
                    format="percent", help="Its characters, of all that may follow, the stop included."
                ),
            },
        )


def _walk_marks(walks: RandomWalks, walk: Walk, step: int) -> Marks:
    """The states and arcs of the walk so far, and those of this step."""
    states: dict[int, str] = {}
    arcs: dict[ArcName, str] = {}
    for place in range(step + 1):
        crossing = walks.crossings[walk.crossings[place]]
        turn = crossing.turns[walk.turns[place]]
        if crossing.state is None:
            continue
        states[crossing.state] = "current" if place == step else "match"
        if turn.target is not None:
            for arc in walks.graph.arcs:
                if (arc.source, arc.target) == (crossing.state, turn.target):
                    arcs[arc_name(arc)] = "current" if place == step else "match"
    return Marks(states=states, arcs=arcs)
