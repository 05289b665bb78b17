"""The question as a form: prefix, pattern, what kind of answer is wanted, and what most questions need besides.

Every widget is bound to the link's parameter of its own name (`app.form.Form`), so a reload, a link and the Back button
all restore what was typed. Every tooltip says what the control does to the answer.
"""

from __future__ import annotations

import streamlit as st

from app.components.held import held_form
from app.form import BEST_FIRST, DISTRIBUTION, ENCODINGS, LARGEST_TOLERANCE, MOST, SAMPLE, TRAVERSALS, Form

#: Pause after a keystroke before the page looks at the text. Short, because a preview is quick and never blocks.
TYPING_PAUSE = "20ms"

_UNTOUCHED = Form()

#: What each traversal answers.
ANSWERS = {
    BEST_FIRST: "the likeliest strings, in exact order",
    SAMPLE: "what it writes when asked {samples:,} times",
    DISTRIBUTION: "how probable each string or group is, exactly",
}


def expressions() -> None:
    """The two fields for regular expressions."""
    st.text_input(
        "Prefix",
        key="prefix",
        bind="query-params",
        live=TYPING_PAUSE,
        placeholder="optional: George Washington was born on",
        help="What the model is given to go on from; it is never predicted. A regular expression too: "
        "`The (man|woman) was` asks about both. Escape `.` and `?` with a backslash.",
    )
    st.text_input(
        "Pattern",
        key="pattern",
        bind="query-params",
        live=TYPING_PAUSE,
        placeholder=r"for example:  ((January)|(July)) \d{1,2}, \d{4}",
        help="The form of the answer, as a regular expression in Python's syntax. The matches are strings of this "
        "form. It usually starts with a space, as words after a prefix do. Name a part, `(?P<subject>man|woman)`, and "
        "the matches can be counted by it.",
    )


def answer_settings() -> None:
    """What kind of answer is wanted, in plain words, with the settings of that kind; to be put side by side."""
    traversal = st.segmented_control(
        "Answer",
        list(TRAVERSALS),
        default=_UNTOUCHED.traversal,
        required=True,
        key="traversal",
        bind="query-params",
        help="**Best first**: all strings that the model can write, the likeliest first. **Sample**: what comes out "
        "when the model writes many times within the pattern; good for large languages, with intervals. "
        "**Distribution**: every string until next to nothing is left, so that shares of strings and groups are exact.",
    )
    if traversal == BEST_FIRST:
        st.number_input(
            "Matches",
            min_value=1,
            max_value=MOST["matches"],
            value=_UNTOUCHED.matches,
            step=10,
            key="matches",
            bind="query-params",
            persist_state="page",
            width=130,
            help="Stop after this many matches. They come best first, so a larger number only adds less likely ones.",
        )
    elif traversal == SAMPLE:
        st.number_input(
            "Draws",
            min_value=1,
            max_value=MOST["samples"],
            value=_UNTOUCHED.samples,
            step=1000,
            key="samples",
            bind="query-params",
            persist_state="page",
            width=140,
            help="How often the model is asked. Four times as many make the intervals half as wide.",
        )
        st.number_input(
            "Seed",
            min_value=0,
            max_value=MOST["seed"],
            value=_UNTOUCHED.seed,
            key="seed",
            bind="query-params",
            persist_state="page",
            width=110,
            help="The same seed draws the same sample again; another one draws another sample.",
        )
    elif traversal == DISTRIBUTION:
        st.number_input(
            "Tolerance",
            min_value=0.0,
            max_value=LARGEST_TOLERANCE,
            value=_UNTOUCHED.tolerance,
            step=0.001,
            format="%g",
            key="tolerance",
            bind="query-params",
            persist_state="page",
            width=140,
            help="The search ends when what it has not looked at yet is at most this part of what it has found: 0.001 "
            "leaves every share right to about a tenth of a percent. 0 looks at everything.",
        )
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
    st.segmented_control(
        "Encoding",
        list(ENCODINGS),
        default=_UNTOUCHED.encoding,
        required=True,
        key="encoding",
        bind="query-params",
        help="Which token sequences count. **All**: every way to spell a string in tokens; its probability is the "
        "sum. **Canonical**: only the way the tokenizer itself would; fewer matches, found faster.",
    )
    st.number_input(
        "Top-k",
        min_value=1,
        max_value=MOST["top_k"],
        value=None,
        step=1,
        key="top_k",
        bind="query-params",
        placeholder="off",
        width=110,
        disabled=greedy,
        help="Only the k likeliest tokens may come next; strings that need another one cannot appear at all. "
        "40 is what GPT-2 is usually sampled with. Empty: any token.",
    )
    st.number_input(
        "Top-p",
        min_value=0.0001,
        max_value=1.0,
        value=None,
        step=0.05,
        key="top_p",
        bind="query-params",
        placeholder="off",
        width=110,
        disabled=greedy,
        help="Only the fewest tokens that together reach this probability may come next: few where the model is "
        "sure, many where it is not. Empty: any token.",
    )


def current_form() -> Form:
    """What the widgets hold now."""
    return Form.from_values(st.session_state)
