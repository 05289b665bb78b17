"""The question as a form: prefix, pattern, and what the decoder may do.

Every widget is bound to the link's parameter of its own name (`app.form.Form`), so a reload, a link and the Back button
all restore what was typed. Every tooltip says what the control does to the answer.
"""

from __future__ import annotations

import streamlit as st

from app.form import BEGINNINGS, BOUNDARIES, ENCODINGS, MOST, RANKS, Form

#: Pause after a keystroke before the page looks at the text. Short, because a preview is quick and never blocks.
TYPING_PAUSE = "20ms"

_UNTOUCHED = Form()


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
        help="The form of the answer, as a regular expression in Python's syntax. The results are all strings of this "
        "form, the likeliest first. It usually starts with a space, as words after a prefix do.",
    )


def main_settings(models: list[str]) -> None:
    """The settings that most questions need, to be put side by side."""
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
        "sum. **Canonical**: only the way the tokenizer itself would; fewer results, found faster.",
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
        disabled=bool(st.session_state.get("greedy")),
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
        disabled=bool(st.session_state.get("greedy")),
        help="Only the fewest tokens that together reach this probability may come next: few where the model is "
        "sure, many where it is not. Empty: any token.",
    )
    st.number_input(
        "Matches",
        min_value=1,
        max_value=MOST["matches"],
        value=_UNTOUCHED.matches,
        step=10,
        key="matches",
        bind="query-params",
        width=130,
        help="Stop after this many results. They come best first, so a larger number only adds less likely ones.",
    )


def more_settings() -> None:
    """The settings for who knows what they are after."""
    with st.popover("More", icon=":material/tune:", key="more_settings", help="Settings that few questions need."):
        decoding, reading, limits = st.container(width=760).columns(3, gap="medium")
        with decoding:
            st.caption("DECODING")
            st.toggle(
                "Greedy",
                key="greedy",
                bind="query-params",
                help="Only the likeliest token at every step: at most one result for each prefix. Overrides top-k and "
                "top-p.",
            )
            st.number_input(
                "Temperature",
                min_value=0.01,
                max_value=100.0,
                value=_UNTOUCHED.temperature,
                step=0.1,
                key="temperature",
                bind="query-params",
                help="Below 1 makes likely strings likelier still, above 1 evens the probabilities out. Under top-k "
                "the order of whole strings can change too.",
            )
            st.toggle(
                "Must end here",
                key="end_of_text",
                bind="query-params",
                help="Count a string only where the model ends its text right after it, and include the probability of "
                "that end. Off: more text may follow.",
            )
            st.segmented_control(
                "Order by",
                list(RANKS),
                default=_UNTOUCHED.rank,
                required=True,
                wrap=True,
                key="rank",
                bind="query-params",
                help="**Given the prefix**: every prefix competes on equal terms. **Whole string**: an unlikely prefix "
                "also moves its strings down. The same order where there is one prefix only.",
            )
        with reading:
            st.caption("READING THE TEXT AS TOKENS")
            free = st.session_state.get("boundary") == "Free"
            st.segmented_control(
                "Boundary",
                list(BOUNDARIES),
                default=_UNTOUCHED.boundary,
                required=True,
                key="boundary",
                bind="query-params",
                help="**Token**: the prefix is a finished prompt and the pattern starts with a new token, as in a "
                "chat window. **Free**: a token may begin in the prefix and end in the pattern. The answer changes "
                "where the tokenizer would not cut there, such as after a space.",
            )
            st.segmented_control(
                "Encoding of the prefix",
                list(ENCODINGS),
                default=_UNTOUCHED.prefix_encoding,
                required=True,
                key="prefix_encoding",
                bind="query-params",
                disabled=free,
                help="**Canonical**: the prefix in the tokenizer's own tokens, as any prompt is. **All**: every "
                "spelling of the prefix counts as another prompt. With a free boundary it follows the encoding above.",
            )
            st.segmented_control(
                "Begin of text",
                list(BEGINNINGS),
                default=_UNTOUCHED.begin_of_text,
                required=True,
                key="begin_of_text",
                bind="query-params",
                help="Whether the model is told that a new document starts here. It expects other things at the start "
                "of a document than in its middle. Without a prefix most models need it.",
            )
            st.number_input(
                "Longest, in tokens",
                min_value=1,
                max_value=MOST["max_tokens"],
                value=_UNTOUCHED.max_tokens,
                key="max_tokens",
                bind="query-params",
                help="Longer strings, prefix included, are left out. Matters for patterns without an end such as "
                "`[a-z]+`.",
            )
        with limits:
            st.caption("LIMITS")
            st.number_input(
                "Seconds",
                min_value=1,
                max_value=MOST["seconds"],
                value=_UNTOUCHED.seconds,
                key="seconds",
                bind="query-params",
                help="Stop after this much time. What was found until then is exact and in order; less likely strings "
                "may be missing.",
            )
            st.number_input(
                "Expansions",
                min_value=1,
                max_value=MOST["expansions"],
                value=_UNTOUCHED.expansions,
                step=1000,
                key="expansions",
                bind="query-params",
                help="Stop after asking the model this often what comes next. The same on every machine, unlike "
                "seconds.",
            )


def current_form() -> Form:
    """What the widgets hold now."""
    return Form.from_values(st.session_state)
