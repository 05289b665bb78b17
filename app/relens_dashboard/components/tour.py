"""The tour on Start: a card with words on the left, a small picture or a live example on the right.

The current step is in the page's address and in the session, so a link opens a step, and a reader who returns from a
page of the tour finds the next step. A cookie, until the browser closes, marks the tour as closed: a reload does not
begin it again.
"""

from __future__ import annotations

from typing import NoReturn

import streamlit as st

from relens.errors import QueryError, RelensError
from relens_dashboard import links
from relens_dashboard.answers import Answer
from relens_dashboard.components.automaton_view import automaton_view
from relens_dashboard.components.explanation import explanation
from relens_dashboard.components.frame import ASSETS
from relens_dashboard.components.run_panel import BAR_KEY, mass_html
from relens_dashboard.components.ticker import ticker
from relens_dashboard.components.verdict import verdict
from relens_dashboard.form import DEFAULT_MODEL, Form
from relens_dashboard.gallery import load_gallery
from relens_dashboard.live_preview import Drawn
from relens_dashboard.places import AUTOMATA as AUTOMATA_PLACE
from relens_dashboard.services import Services, live_preview
from relens_dashboard.text import as_html
from relens_dashboard.tour import ASK, AUTOMATA, PATTERN, RUN, STEPS, TOUR, TYPE, step_number

_REACHED, _CLOSED = "tour_reached", "tour_closed"
#: The field of the live example, and its last text.
_PATTERN, _WRITTEN = "tour_pattern", "tour_written"
_COOKIE, _SEEN = "relens_tour", "seen"
_TYPING_PAUSE = "250ms"
_WAIT_SECONDS, _LOOK_AGAIN = 0.3, 0.3
_MOST_STATES = 24
_FIRST_QUERY = "birth-date"

# A component and not plain HTML, which would be stripped of the drawing; it takes its colour from the theme.
_IDEA = st.components.v2.component(
    "relens.idea",
    html=(ASSETS / "idea.svg").read_text(encoding="utf-8"),
    css=":host, svg { color: var(--st-text-color); width: 100%; height: auto; }",
)
_REMEMBER = st.components.v2.component(
    "relens.tour_seen",
    js=f"""
    export default function () {{
      document.cookie = "{_COOKIE}={_SEEN}; path=/; SameSite=Strict"
    }}
    """,
)


def idea(*, key: str) -> None:
    """The picture of the whole: pattern, automaton, model, answers."""
    _IDEA(key=key)


def tour_is_open() -> bool:
    """Whether the tour is on the page: in the address, begun, or never seen."""
    return _number() is not None


def tour(services: Services) -> None:
    """Show the current step; nothing if the tour was closed."""
    number = _number()
    if number is None:
        _REMEMBER(key="tour_seen", height="content")
        return
    with st.container():
        st.fragment(_tour, key="tour_step")(services)


def open_tour() -> None:
    """Begin at the first step; for a button's `on_click`."""
    _go(1)


def _number() -> int | None:
    seen = bool(st.session_state.get(_CLOSED)) or st.context.cookies.get(_COOKIE) == _SEEN
    return step_number(st.query_params.get(TOUR), st.session_state.get(_REACHED), seen=seen)


def _go(number: int) -> None:
    st.session_state[_REACHED] = number
    st.query_params[TOUR] = str(number)


def _close() -> None:
    st.session_state[_CLOSED] = True
    st.session_state.pop(_REACHED, None)
    st.query_params.pop(TOUR, None)


def _tour(services: Services) -> None:
    number = _number()
    if number is None:  # closed: the page around it changes
        st.rerun()
    step = STEPS[number - 1]
    with st.container(border=True, key="tour"):
        words, picture = st.columns([4, 5], gap="large", vertical_alignment="center")
        with words:
            st.html(
                f'<div class="relens-card" data-tour-step="{number}">'
                f'<div class="topic">Tour, step {number} of {len(STEPS)}</div>'
                f'<h2 class="relens-tour-title">{as_html(step.title)}</h2>'
                f'<p class="relens-lead">{as_html(step.words)}</p></div>'
            )
        with picture:
            pattern = _picture(services, step.picture)
        with st.container(horizontal=True, gap="small"):
            st.button(
                "Back",
                shortcut="Left",
                disabled=number == 1,
                key="tour_back",
                on_click=_go,
                args=(number - 1,),
                help="The step before.",
            )
            st.button(
                "Next",
                shortcut="Right",
                type="primary",
                disabled=number == len(STEPS),
                key="tour_next",
                on_click=_go,
                args=(number + 1,),
                help="The next step.",
            )
            if st.button(
                step.opens,
                icon=":material/open_in_new:",
                key="tour_open",
                help="Opens the page with the example filled in. The tour waits for you on Start.",
            ):
                st.session_state[_REACHED] = min(number + 1, len(STEPS))
                _open(step.picture, pattern)
            st.space("stretch")
            st.button(
                "Close",
                icon=":material/close:",
                type="tertiary",
                key="tour_close",
                on_click=_close,
                help="Close the tour. The button “Tour” opens it again.",
            )


def _picture(services: Services, picture: str) -> str:
    """Draw the picture of a step; returns the pattern of the live example."""
    if picture == ASK:
        idea(key="tour_idea")
    elif picture in (TYPE, AUTOMATA):
        return _live(services, picture)
    elif picture == RUN:
        _bar()
    else:
        _pages()
    return str(st.session_state.get(_WRITTEN, PATTERN))


def _live(services: Services, picture: str) -> str:
    """A field with a live explanation of its pattern, or the two automata of that pattern."""
    kept = str(st.session_state.get(_WRITTEN, PATTERN))
    if picture == TYPE:
        kept = st.text_input(
            "Pattern",
            kept,
            key=_PATTERN,
            live=_TYPING_PAUSE,
            max_chars=200,
            placeholder=PATTERN,
            help="A regular expression to play with; nothing is run.",
        )
        # Kept under a name of its own: Streamlit forgets the field's value on steps that do not draw it.
        st.session_state[_WRITTEN] = kept
    form = Form(pattern=kept)
    answer, problem = _preview(services, form)
    if picture == TYPE:
        verdict(form, answer, problem)
        if answer.value is not None:
            explanation(answer.value.preview)
    elif answer.value is not None:
        sides = (("Characters", answer.value.language, 150), ("Tokens", answer.value.tokens, 280))
        for name, drawn, height in sides:
            st.caption(name)
            automaton_view(
                drawn,
                key=f"tour_{name.lower()}",
                name=f"tour-{name.lower()}",
                alt=f"The automaton of {name.lower()} of {kept}.",
                question=kept,
                height=height,
            )
    elif problem is not None:
        st.caption("Your pattern has a mistake, so it has no automaton. Go back a step and correct it.")
    pending = bool(form.pattern) and problem is None and answer.value is None
    ticker(_LOOK_AGAIN if pending else None, key="tour_looking")
    return kept


def _preview(services: Services, form: Form) -> tuple[Answer[Drawn], RelensError | None]:
    if not form.pattern:
        return Answer(), None
    try:
        answer = live_preview(services).ask(form.query(), DEFAULT_MODEL, wait=_WAIT_SECONDS, most_states=_MOST_STATES)
    except QueryError as error:
        return Answer(), error
    return answer, answer.error


def _bar() -> None:
    """The legend of the bar over the matches; its lengths are of no run."""
    st.html(
        mass_html(
            "The bar over the matches: its full length is everything that the model could write here.",
            0.35,
            0.6,
            BAR_KEY,
        )
        + '<p class="relens-lead small" style="margin-top:1rem">Afterwards: the shares as a chart, the table as CSV or '
        "JSON, a link that restores the query, and the same in Python and for a terminal.</p>"
    )


def _pages() -> None:
    pages = st.session_state["pages"]
    for path, words in (
        ("tokens", "all encodings of a text"),
        ("replay", "a search, round by round"),
        ("bias", "a study: does the answer depend on whom it is about?"),
        ("compare", "runs side by side"),
        ("present", "findings for a room"),
        ("glossary", "what every word means"),
    ):
        if path in pages:
            st.page_link(pages[path], label=f"{pages[path].title}: {words}", icon=pages[path].icon)


def _open(picture: str, pattern: str) -> NoReturn:
    """Go to the page of a step, with its example."""
    if picture == AUTOMATA:
        st.switch_page(st.session_state["pages"]["automata"], query_params={"lesson": pattern or PATTERN})
    if picture in (ASK, TYPE):
        form = Form(pattern="The (cat|dog|door)" if picture == ASK else pattern or PATTERN)
    elif picture == RUN:
        example = next(example for example in load_gallery() if example.id == _FIRST_QUERY)
        form = Form.from_specification(example.specification(DEFAULT_MODEL))
    else:
        st.switch_page(st.session_state["pages"][AUTOMATA_PLACE.page], query_params=dict(AUTOMATA_PLACE.parameters))
    st.switch_page(st.session_state["workbench_page"], query_params=dict(links.parameters(form)))
