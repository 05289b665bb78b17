"""The question as a form: prefix, pattern, what kind of answer is wanted, and what most questions need besides.

Every widget is bound to the link's parameter of its own name (`app.form.Form`), so a reload, a link and the Back button
all restore what was typed. Every tooltip says what the control does to the answer.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from app.components.held import held_form
from app.form import BEST_FIRST, DISTRIBUTION, SAMPLE, SETTINGS, TRAVERSALS, Form, meaning
from app.setting_fields import setting_field

#: Pause after a keystroke before the page looks at the text. Short, because a preview is quick and never blocks.
TYPING_PAUSE = "20ms"

#: What each traversal answers.
ANSWERS = {
    BEST_FIRST: "the likeliest strings, in exact order",
    SAMPLE: "what it writes when asked {samples:,} times",
    DISTRIBUTION: "how probable each string or group is, exactly",
}

#: The settings of each traversal, with the width of their fields in pixels.
_ANSWER_FIELDS = {
    BEST_FIRST: {"matches": 130},
    SAMPLE: {"samples": 140, "seed": 110},
    DISTRIBUTION: {"tolerance": 140},
}


def query_field(name: str, **options: Any) -> None:
    """Draw the field of the form with this name, bound to the link's parameter; options: as for `setting_field`."""
    one, first = SETTINGS[name], getattr(Form, name)
    # A number of the form is as the link has it: seconds are whole there.
    first = first if one.is_number else meaning(name, first)
    setting_field(st, one, first, key=name, bind="query-params", **options)


def expressions() -> None:
    """The two fields for regular expressions."""
    query_field("prefix", live=TYPING_PAUSE)
    query_field("pattern", live=TYPING_PAUSE)


def answer_settings() -> None:
    """What kind of answer is wanted, in plain words, with the settings of that kind; to be put side by side."""
    traversal = st.segmented_control(
        "Answer",
        list(TRAVERSALS),
        default=Form.traversal,
        required=True,
        key="traversal",
        bind="query-params",
        help="**Best first**: all strings that the model can write, the likeliest first. **Sample**: what comes out "
        "when the model writes many times within the pattern; good for large languages, with intervals. "
        "**Distribution**: every string until next to nothing is left, so that shares of strings and groups are exact.",
    )
    for name, width in _ANSWER_FIELDS.get(str(traversal), {}).items():
        query_field(name, persist_state="page", width=width)
    samples = held_form().samples
    st.html(f'<p class="relens-answer">{ANSWERS.get(str(traversal), "").format(samples=samples)}</p>', width="content")


def main_settings(models: list[str]) -> None:
    """The settings that most questions need, to be put side by side."""
    greedy = held_form().greedy
    st.selectbox(
        "Model",
        models,
        key="model",
        bind="query-params",
        accept_new_options=True,
        width=210,
        help="Who is asked. Another model gives another answer. Type a name from the model hub or a folder on the "
        "server, where the operator allows it.",
    )
    query_field("encoding")
    query_field("top_k", width=110, disabled=greedy)
    query_field("top_p", width=110, disabled=greedy)


def current_form() -> Form:
    """What the widgets hold now."""
    return Form.from_values(st.session_state)
