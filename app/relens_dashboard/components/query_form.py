"""The query as a form: prefix, pattern, kind of answer, and the settings that most queries need.

Every widget is bound to the link's parameter of its own name (`relens_dashboard.form.Form`), so a reload, a link and
the Back button all restore the query.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from relens_dashboard.components.held import held_form
from relens_dashboard.form import BEST_FIRST, DISTRIBUTION, SAMPLE, SETTINGS, TRAVERSALS, Form, meaning
from relens_dashboard.setting_fields import setting_field

#: Pause after a keystroke before the page looks at the text. Short, because a preview is quick and never blocks.
TYPING_PAUSE = "20ms"

MODEL_HELP = (
    "The language model to ask. You can also type a name from the model hub or a folder on the server, where the "
    "operator allows it."
)

#: The answer of each traversal.
ANSWERS = {
    BEST_FIRST: "the likeliest strings, in exact order",
    SAMPLE: "what the model writes in {samples:,} draws",
    DISTRIBUTION: "the exact probability of each string or group",
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
    # A number of the form has the type of the link's: whole seconds.
    first = first if one.is_number else meaning(name, first)
    setting_field(st, one, first, key=name, bind="query-params", **options)


def expressions() -> None:
    """The two fields for regular expressions."""
    query_field("prefix", live=TYPING_PAUSE)
    query_field("pattern", live=TYPING_PAUSE)


def answer_settings() -> None:
    """The kind of answer, in plain words, with its settings, for a horizontal container."""
    traversal = st.segmented_control(
        "Answer",
        list(TRAVERSALS),
        default=Form.traversal,
        required=True,
        key="traversal",
        bind="query-params",
        help="**Best first**: all strings that the model can write, the likeliest first. **Sample**: random draws of "
        "the model within the pattern; good for large languages, with intervals. **Distribution**: all strings until "
        "almost no mass is unexplored; the shares of strings and groups are then exact.",
    )
    for name, width in _ANSWER_FIELDS.get(str(traversal), {}).items():
        query_field(name, persist_state="page", width=width)
    samples = held_form().samples
    st.html(f'<p class="relens-answer">{ANSWERS.get(str(traversal), "").format(samples=samples)}</p>', width="content")


def main_settings(models: list[str]) -> None:
    """The settings that most queries need, for a horizontal container."""
    greedy = held_form().greedy
    st.selectbox(
        "Model",
        models,
        key="model",
        bind="query-params",
        accept_new_options=True,
        width=210,
        help=MODEL_HELP,
    )
    query_field("encoding")
    query_field("top_k", width=110, disabled=greedy)
    query_field("top_p", width=110, disabled=greedy)


def current_form() -> Form:
    """The form of the widgets' values now."""
    return Form.from_values(st.session_state)
