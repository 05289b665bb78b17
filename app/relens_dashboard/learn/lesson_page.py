"""The page of lessons: a pattern, and one operation a step from it to the automaton of a model's tokens.

All of it is one fragment. A child process makes the lesson (`relens_dashboard.learn.sources`); meanwhile the one before
stays, so typing does not blink.
"""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from relens.learn.steps import STAGES, Lesson, LessonOptions, Step
from relens.pictures.graphs import Graph
from relens_dashboard import links
from relens_dashboard.charts import CONFIG
from relens_dashboard.components.automaton_view import automaton_view
from relens_dashboard.components.pin_button import pin_button
from relens_dashboard.components.status import status_line
from relens_dashboard.components.ticker import ticker
from relens_dashboard.components.verdict import complaint
from relens_dashboard.form import one_line
from relens_dashboard.glossary import term
from relens_dashboard.learn.decoder_step import decoder_step
from relens_dashboard.learn.lesson_marks import growth_chart, growth_sentence, marks_of, sizes_table, sizes_text
from relens_dashboard.learn.sources import get_lessons
from relens_dashboard.lesson_parameters import EDITS, LESSON_MODEL, STEP, TEXT
from relens_dashboard.lesson_parameters import LESSON as PATTERN
from relens_dashboard.messages import show_no_model
from relens_dashboard.picture import legend_of, picture_of
from relens_dashboard.present.pinned import page_finding
from relens_dashboard.services import Services
from relens_dashboard.text import as_html, as_markdown, shortened, visible

_SHOWN, _PILLS = "lesson_shown", "lesson_pills"
#: The last step, which needs the model and is not part of the lesson.
DECODER = "With top-k"

_EXAMPLES = {
    "The ((cat)|(dog))": "The example of the paper: two strings with many encodings",
    "(a|b)*abb": "The example of textbooks: a nondeterministic automaton, and states that merge",
    "caf(é|e)s?": "A character outside ASCII, which is two bytes",
    "[0-9]{2,3}": "Digits, which some tokenizers take one by one",
    "I'm (sure|fine)": "An apostrophe, where tokenizers cut a text before they merge",
}
_WAIT_SECONDS, _LOOK_AGAIN = 0.4, 0.4
_LONGEST_PATTERN = 500


def lesson_page(services: Services, models: list[str]) -> None:
    """Heading, settings, steps."""
    status_line(services)
    st.html(
        '<h1 class="relens-title study">From a pattern to the model’s automaton</h1>'
        '<p class="relens-lead small">A regular expression becomes an automaton over characters, and then one over the '
        "tokens that a language model reads. Each step is one operation: two sentences explain it, and the drawing "
        "marks what is new.</p>"
    )
    if not models:
        show_no_model()
        return
    with st.container():
        st.fragment(_lesson, key="lesson_page")(services, models)


def _lesson(services: Services, models: list[str]) -> None:
    pattern, model, options = _settings(models)
    if not pattern:
        _examples("Write a pattern, or take one of these:")
        return
    answer = get_lessons().ask((pattern, model, options), _WAIT_SECONDS)
    if answer.error is not None:
        complaint(answer.error)
    if answer.value is not None:
        st.session_state[_SHOWN] = answer.value
    lesson: Lesson | None = st.session_state.get(_SHOWN)
    if answer.is_pending:
        st.caption("The lesson is being made …" + ("" if lesson is None else " Below is the last one."))
    elif answer.value is None and lesson is not None:
        st.caption("Below is the lesson of the last pattern that had one.")
    if lesson is not None:
        _show(services, lesson, model)
    else:
        _examples("Or take one of these:")
    ticker(_LOOK_AGAIN if answer.is_pending else None, key="lesson_looking")


def _settings(models: list[str]) -> tuple[str, str, LessonOptions]:
    pattern = st.text_input(
        "Pattern",
        key=PATTERN,
        bind="query-params",
        live="250ms",
        max_chars=_LONGEST_PATTERN,
        placeholder="for example:  The ((cat)|(dog))",
        on_change=_begin_again,
        help="A regular expression in Python's syntax, of at most 60 characters with counts written out, and 300 "
        "states. Small ones are easiest to follow.",
    )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        model = st.selectbox(
            "Model",
            models,
            key=LESSON_MODEL,
            bind="query-params",
            width=210,
            on_change=_begin_again,
            help="The model whose tokens are used. Another tokenizer has other tokens and other merges.",
        )
        edits = st.toggle(
            "Within one edit",
            key=EDITS,
            bind="query-params",
            on_change=_begin_again,
            help="Strings with one character inserted, deleted or replaced match too: one more operation, and a much "
            "larger automaton.",
        )
    text = st.session_state.get(TEXT) or st.query_params.get(TEXT) or ""
    return pattern or "", model or "", LessonOptions(bool(edits), str(text)[:200])


def _begin_again() -> None:
    st.session_state[STEP] = 1


def _examples(words: str) -> None:
    st.caption(words)
    linked = "".join(
        f'<a class="relens-link" target="_self" href="?{as_html(urlencode({PATTERN: one_line(example)}))}" '
        f'title="{as_html(why)}"><code>{as_html(example)}</code> <span>{as_html(why)}</span></a>'
        for example, why in _EXAMPLES.items()
    )
    st.html(f'<div class="relens-lesson-examples">{linked}</div>')


def _show(services: Services, lesson: Lesson, model: str) -> None:
    everything = _all_encodings(lesson)
    last = len(lesson.steps) + (everything is not None)
    number = _step_bar(lesson, last)
    if number > len(lesson.steps) and everything is not None:
        _sentences(
            number,
            last,
            lesson.pattern,
            "With a decoding rule",
            "A decoder takes only the likeliest tokens at each step; a string with another one is never written.",
            "Arcs that the decoder cannot take are dashed; the others spell the strings that the model can write.",
        )
        decoder_step(services, lesson, everything, model)
    else:
        _picture(services, lesson, number, last, model)
    if lesson.note:
        st.info(as_markdown(lesson.note), icon=":material/info:")
    _sizes_and_growth(services, lesson, model)
    with st.expander("Other patterns", icon=":material/lightbulb:"):
        _examples("Each opens a lesson of its own:")


def _step_bar(lesson: Lesson, last: int) -> int:
    """Previous, next, the operations and a slider; the number of the step to show, from 1."""
    if not 1 <= st.session_state.get(STEP, 1) <= last:
        st.session_state[STEP] = last if st.session_state.get(STEP, 1) > last else 1
    if STEP not in st.session_state and STEP not in st.query_params and links.RUN in st.query_params:
        st.session_state[STEP] = last  # a link to a run of the model, which the last step shows
    number = int(st.session_state.get(STEP) or _from_address(last))
    stages = _stages(lesson, last)
    current = [name for name, first in stages.items() if first <= number][-1]
    # Each operation has pills of its own, and only those of the last drawing count. A browser that has not drawn the
    # last step yet sends the operation before it with its next request, as if somebody had clicked on that one.
    pills = st.session_state[_PILLS] = f"lesson_stage_{list(stages).index(current)}"
    st.session_state[pills] = current
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.button(
            "Previous",
            icon=":material/arrow_back:",
            shortcut="Left",
            disabled=number == 1,
            key="lesson_previous",
            on_click=_go,
            args=(number - 1,),
            help="One step back.",
        )
        st.button(
            "Next",
            icon=":material/arrow_forward:",
            icon_position="right",
            shortcut="Right",
            type="primary",
            disabled=number == last,
            key="lesson_next",
            on_click=_go,
            args=(number + 1,),
            help="One step on.",
        )
        st.slider(
            f"Step, of {last}",
            1,
            last,
            key=STEP,
            bind="query-params",
            help="Every step of the lesson; the buttons and the arrow keys go one by one.",
        )
    with st.container(key="lesson_stage"):
        st.pills(
            "Operation",
            list(stages),
            key=pills,
            on_change=_go_to_stage,
            args=(pills, stages),
            label_visibility="collapsed",
            help="Jump to the first step of an operation.",
        )
    return number


def _from_address(last: int) -> int:
    """The step in the address, before the slider that is bound to it is drawn."""
    text = st.query_params.get(STEP, "1")
    return min(max(int(text), 1), last) if text.isdecimal() else 1


def _go(number: int) -> None:
    st.session_state[STEP] = number


def _go_to_stage(pills: str, stages: dict[str, int]) -> None:
    name = st.session_state.get(pills)
    if name in stages and pills == st.session_state[_PILLS]:
        st.session_state[STEP] = stages[name]


def _stages(lesson: Lesson, last: int) -> dict[str, int]:
    """The first step of each operation, by its name."""
    stages: dict[str, int] = {}
    for number, step in enumerate(lesson.steps, start=1):
        stages.setdefault(STAGES[step.stage], number)
    if last > len(lesson.steps):
        stages[DECODER] = last
    return stages


def _picture(services: Services, lesson: Lesson, number: int, last: int, model: str) -> None:
    step = lesson.steps[number - 1]
    _sentences(number, last, lesson.pattern, step.title, step.happened, step.look)
    marks = marks_of(step)
    picture = picture_of(step.graph, marks)
    alt = f"{STAGES[step.stage]}, step {number} of {last}: {step.title}. {step.happened} {step.look}"
    automaton_view(
        picture,
        key="lesson_automaton",
        name=f"lesson-{step.key}",
        alt=alt,
        question=f"{lesson.pattern} {step.key}",
        height=400,
    )
    notes = [*legend_of(marks), *([picture.note] if picture.note else [])]
    if step.graph.finals:
        notes.append("double circle: a match may end here")
    notes.append("click a state or an arc for its details")
    st.caption(" · ".join([as_markdown(sizes_text(step.sizes)), *map(as_markdown, notes)]))
    if picture.svg is not None:
        pin_button(
            services,
            lambda: page_finding(
                f"{STAGES[step.stage]}: {lesson.pattern}",
                [step.title, step.happened, step.look],
                picture.svg,
                alt,
                page="automata",
                question=f"how does the pattern {lesson.pattern} become an automaton over the tokens of this model?",
                model=model,
                look_at=step.look,
                not_shown="How likely any text is: an automaton shows only the allowed texts.",
            ),
            key="pin_lesson",
        )


def _sentences(number: int, last: int, pattern: str, title: str, happened: str, look: str) -> None:
    st.html(
        f'<div class="relens-findings study" data-lesson-step="{number}" data-lesson="{as_html(pattern)}">'
        f'<p><b>{as_html(title)}</b> <span style="opacity:.65">step {number} of {last}</span></p>'
        f"<p>{as_html(happened)}</p><p>{as_html(look)}</p></div>"
    )


def _all_encodings(lesson: Lesson) -> Graph | None:
    """The automaton of all encodings, None where a lesson shows only a part of it."""
    tokens: list[Step] = [step for step in lesson.steps if step.stage == "tokens"]
    return tokens[-1].graph if tokens and not tokens[-1].graph.unfinished else None


def _sizes_and_growth(services: Services, lesson: Lesson, model: str) -> None:
    grid = st.grid(2, min_column_width=330, gap="medium")
    with grid.cell():
        st.markdown("**Sizes**, after each operation")
        st.dataframe(
            sizes_table(lesson),
            key="lesson_sizes",
            hide_index=True,
            height="content",
            alt="The size of the automaton after each operation",
            column_config={
                "States": st.column_config.NumberColumn(format="localized", help=term("state")),
                "Arcs": st.column_config.NumberColumn(
                    format="localized",
                    help=f"{term('arc')} Counted as drawn; from the shortcuts on, each token is one.",
                ),
                "Strings": st.column_config.TextColumn(help="Strings that match the pattern."),
                "Encodings": st.column_config.TextColumn(
                    help=f"Token sequences of these strings. {term('all encodings')}"
                ),
            },
        )
    with grid.cell():
        st.markdown("**How fast encodings grow** with a text")
        st.text_input(
            "Text to count",
            key=TEXT,
            bind="query-params",
            placeholder=visible(lesson.text, spaces=False),
            max_chars=48,
            help="The text whose encodings are counted. Empty: a string of the pattern.",
        )
        if lesson.growth:
            chart = growth_chart(lesson.growth)
            st.caption(as_markdown(growth_sentence(lesson.growth)))
            st.plotly_chart(chart.figure, key="lesson_growth", config=CONFIG, alt=chart.alt)
            text = shortened(lesson.growth[-1].text, 60)
            pin_button(
                services,
                lambda: page_finding(
                    "How fast encodings grow",
                    [growth_sentence(lesson.growth)],
                    chart.figure,
                    chart.alt,
                    page="automata",
                    question=f"how many encodings do “{text}” and its beginnings have?",
                    model=model,
                    look_at="Each further character multiplies the number of encodings; the scale is logarithmic.",
                    not_shown="How likely each encoding is.",
                ),
                key="pin_growth",
            )
