"""Where the question is written: fields, verdict, explanation, Run and Stop, and both automata, live.

All of it is one fragment: a keystroke reruns this and nothing else of the page. For a preview that is not there after a
moment the fragment does not wait but looks again, so that the fields, the results and everybody else go on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import links, snippets
from app.components.automaton_view import automaton_view
from app.components.explanation import explanation
from app.components.gallery_cards import gallery_links
from app.components.query_form import current_form, expressions, main_settings, more_settings
from app.components.ticker import ticker
from app.form import Form
from app.gallery import load_gallery
from app.live_preview import Answer, Drawn
from app.narrative import count_text
from app.services import Services, live_preview
from app.text import as_html, caret_excerpt, shortened, visible
from engine.errors import ModelError, QueryError, RegexError, RelensError
from engine.runs.preview import Graph, Preview
from engine.runs.records import RunRecord
from engine.runs.specification import SearchSpecification

AUTOMATA, MATCHES = "Automata", "Matches"

#: A preview that takes longer than this is not waited for, but looked for again.
_WAIT_SECONDS, _LOOK_AGAIN = 0.2, 0.3

#: States of a drawing that one can take in, and that is there at once.
_FEW_STATES = 36

_EXAMPLES_SHOWN = 3
_EXAMPLES_OFFERED = 6


def query_panel(services: Services, models: list[str], shown: RunRecord | None, pictures: DeltaGenerator) -> None:
    """Show the panel. `shown` is the run on the page; the automata are drawn into `pictures`."""
    st.fragment(_query_panel, key="query_panel")(services, models, shown, pictures)


def _query_panel(services: Services, models: list[str], shown: RunRecord | None, pictures: DeltaGenerator) -> None:
    left, right = st.columns([7, 5], gap="large")
    with left:
        expressions()
        verdict = st.container(key="verdict")
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    with row:
        main_settings(models)
        more_settings()
        st.space("stretch")
        buttons = st.container(horizontal=True, vertical_alignment="bottom", gap="small", width="content")

    form = current_form()
    specification, problem = _specification(form)
    answer = Answer()
    if specification is not None:
        most_states = None if st.session_state.get("large_drawings") else _FEW_STATES
        answer = live_preview(services).ask(
            specification.query, specification.model, wait=_WAIT_SECONDS, most_states=most_states
        )
        problem = answer.error or problem
    if answer.drawn is not None:
        st.session_state["last_drawn"] = answer.drawn

    with verdict:
        _verdict(form, answer, problem)
    with buttons:
        # What a preview could not do in its short time a run may still do; a query without meaning it cannot.
        hopeless = isinstance(problem, (QueryError, ModelError))
        _buttons(services, None if hopeless else specification, form, shown)
    drawn: Drawn | None = st.session_state.get("last_drawn") if form.pattern else None
    with right:
        _explanation(drawn)
    with pictures:
        _automata(drawn, fresh=answer.drawn is not None)
    ticker(_LOOK_AGAIN if specification is not None and answer.is_pending and problem is None else None, key="typing")


def _specification(form: Form) -> tuple[SearchSpecification | None, RelensError | None]:
    if not form.pattern:
        return None, None
    try:
        return form.specification(), None
    except QueryError as error:
        return None, error


def _verdict(form: Form, answer: Answer, problem: RelensError | None) -> None:
    if problem is not None:
        st.error(problem.sentence, icon=":material/error:")
        if isinstance(problem, RegexError) and problem.position is not None:
            st.code(caret_excerpt(problem.source, problem.position), language=None)
        return
    if not form.pattern:
        st.html('<div class="relens-verdict"><span class="label">Write a pattern, or open an example.</span></div>')
        return
    if answer.drawn is None:
        st.html(
            '<div class="relens-verdict" data-pending="1"><span class="label">A large pattern: working out its '
            "automaton …</span></div>"
        )
        return
    st.html(verdict_html(answer.drawn.preview, form.prefix))
    for note in answer.drawn.preview.notes:
        st.caption(as_caption(note))


def verdict_html(preview: Preview, prefix: str) -> str:
    """How many strings the query has, and a few of them without the prefix where that is plain; all text escaped."""
    noun = "string" if preview.strings == "1" else "strings"
    pieces = [f"<span><b>{as_html(preview.strings[:1].upper() + preview.strings[1:])} {noun}</b></span>"]
    given = literal(prefix) or ""
    if preview.examples:
        examples = " ".join(
            f"<code>{as_html(shortened(visible(example.removeprefix(given)), 60))}</code>"
            for example in preview.examples[:_EXAMPLES_SHOWN]
        )
        pieces.append(f'<span><span class="label">such as</span> {examples}</span>')
    return f'<div class="relens-verdict">{"".join(pieces)}</div>'


def literal(expression: str) -> str | None:
    """The one string that an expression without any operator stands for; None where there is an operator."""
    plain = re.sub(r"\\([^\w\s])", "", expression)
    if any(character in ".^$*+?{}[]()|\\" for character in plain):
        return None
    return re.sub(r"\\([^\w\s])", r"\1", expression)


def as_caption(text: str) -> str:
    """`text` for a caption, which reads Markdown: every sign that has a meaning there is escaped."""
    return "".join(f"\\{character}" if character in "\\`*_{}[]()<>#+-.!|$~:&" else character for character in text)


def _buttons(
    services: Services, specification: SearchSpecification | None, form: Form, shown: RunRecord | None
) -> None:
    live = shown is not None and shown.is_live
    if st.button(
        "Run",
        type="primary",
        icon=":material/play_arrow:",
        shortcut="Ctrl+Enter",
        disabled=specification is None,
        key="run_button",
        help="Ask the model. Results appear under Matches as they are found.",
    ):
        _submit(services, specification)
    if (
        st.button(
            "Stop",
            icon=":material/stop:",
            shortcut="Esc",
            disabled=not live,
            key="stop_button",
            help="End the run; what it has found stays.",
        )
        and live
    ):
        try:
            services.store.request_stop(shown.id)
        except RelensError as error:
            st.error(error.sentence)
    if specification is not None:
        with st.popover("Share", icon=":material/ios_share:", key="share"):
            _share(specification, form)
    if shown is not None and specification is not None and shown.kind == "search":
        _other_query(shown, specification)


def _submit(services: Services, specification: SearchSpecification | None) -> None:
    if specification is None:
        return
    try:
        run_id = services.store.submit(specification)
    except RelensError as error:
        st.error(error.sentence)
        return
    services.ensure_worker()
    show_run(run_id)


def show_run(run_id: str) -> None:
    """Put a run into the address of the page, turn to its matches, and draw the page anew."""
    st.query_params[links.RUN] = run_id
    st.session_state["turn_to"] = MATCHES
    st.rerun()


def _other_query(shown: RunRecord, specification: SearchSpecification) -> None:
    """Say so where the results on the page are not those of the question in the fields."""
    try:
        asked = Form.from_specification(SearchSpecification.from_json(_without_kind(shown.specification)))
        now = Form.from_specification(specification)
    except QueryError:
        return
    if asked == now:
        return
    if st.button(
        "Matches are of another query",
        type="tertiary",
        icon=":material/undo:",
        key="restore_query",
        help="The fields have changed since this run. Click to put its query back.",
    ):
        st.switch_page(st.session_state["workbench_page"], query_params=links.parameters(asked) | {links.RUN: shown.id})


def _share(specification: SearchSpecification, form: Form) -> None:
    st.caption("A link that restores this query; it runs only when somebody presses Run.")
    st.code(links.link(st.context.url or "", form), language=None, wrap_lines=True)
    st.caption("The same in Python")
    st.code(snippets.as_python(specification), language="python", wrap_lines=True)
    st.caption("The same in a terminal")
    st.code(snippets.as_command(specification), language="bash", wrap_lines=True)


def _explanation(drawn: Drawn | None) -> None:
    if drawn is None:
        st.html(
            '<div class="relens-parts"><h5>In one minute</h5>'
            "<p>The <b>prefix</b> is where the model starts, the <b>pattern</b> what its answer has to look like. "
            "Relens finds every answer of that form that the model can write, the likeliest first.</p>"
            "<p><code>(cat|dog)</code> one of two words · <code>\\d{4}</code> four digits · <code>[a-z]+</code> a word "
            "in small letters · <code>.</code> any character · <code>\\.</code> a full stop</p></div>"
        )
        return
    with st.container(height=210, border=False):
        explanation(drawn.preview.prefix_parts, drawn.preview.pattern_parts)


def _automata(drawn: Drawn | None, *, fresh: bool) -> None:
    if drawn is None:
        st.caption("The automata of your query are drawn here while you type. Or start from an example:")
        gallery_links(load_gallery()[:_EXAMPLES_OFFERED])
        return
    if not fresh:
        st.caption("These are the automata of the last query that could be drawn.")
    preview = drawn.preview
    cut = drawn.language.note or drawn.tokens.note
    if cut or st.session_state.get("large_drawings"):
        st.toggle("Larger drawings", key="large_drawings", help="Draw more states. Takes longer, and more zooming.")
    grid = st.grid(2, min_column_width=420, gap="medium")
    sides = (
        (
            "Automaton of the language",
            "character by character",
            drawn.language,
            preview.language_graph,
            _sizes(preview.language_states, preview.language_arcs),
            "language_automaton",
        ),
        (
            "Automaton of the model's tokens",
            "token by token",
            drawn.tokens,
            preview.token_graph,
            _sizes(preview.token_states, preview.token_arcs),
            "token_automaton",
        ),
    )
    for title, how, picture, graph, sizes, key in sides:
        with grid.cell():
            st.markdown(f"**{title}**, {how}")
            automaton_view(
                picture,
                key=key,
                name=key.replace("_", "-"),
                alt=f"{title}: {sizes}",
                question=repr(drawn.query),
                height=330,
            )
            st.caption(" · ".join([sizes, *_legend(graph, picture.note)]))


def _sizes(states: int | None, arcs: int | None) -> str:
    if states is None or arcs is None:
        return "Made as it is explored: too large to count"
    return f"{count_text(states, 'state')}, {count_text(arcs, 'arc')}"


def _legend(graph: Graph, note: str) -> Sequence[str]:
    parts = []
    if any(arc.in_prefix for arc in graph.arcs):
        parts.append("prefix in orange")
    parts.append("double circle: a match may end here")
    if note:
        parts.append(as_caption(note))
    return parts


def _without_kind(specification: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in specification.items() if name != "kind"}
