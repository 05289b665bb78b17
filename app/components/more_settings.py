"""The settings that few questions need, in a popover: decoding, reading the text as tokens, limits."""

from __future__ import annotations

import streamlit as st

from app.components.held import held_form
from app.form import BEGINNINGS, BEST_FIRST, BOUNDARIES, ENCODINGS, MOST, PREFIX_DRAWS, RANKS, SAMPLE, Form

_UNTOUCHED = Form()


def more_settings() -> None:
    """Advanced settings."""
    form = held_form()
    with st.popover("More", icon=":material/tune:", key="more_settings", help="Settings that few questions need."):
        decoding, reading, limits = st.container(width=760).columns(3, gap="medium")
        with decoding:
            st.caption("DECODING")
            st.toggle(
                "Greedy",
                key="greedy",
                bind="query-params",
                help="Only the likeliest token at every step: at most one match for each prefix. Overrides top-k and "
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
                disabled=form.traversal != BEST_FIRST,
                help="Of a best-first search. **Given the prefix**: every prefix competes on equal terms. **Whole "
                "string**: an unlikely prefix also moves its strings down. The same order where there is one prefix "
                "only.",
            )
        with reading:
            st.caption("READING THE TEXT AS TOKENS")
            boundary = st.segmented_control(
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
                disabled=boundary == "Free",
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
            st.segmented_control(
                "Draw the prefix by",
                list(PREFIX_DRAWS),
                default=_UNTOUCHED.prefix_by,
                required=True,
                wrap=True,
                key="prefix_by",
                bind="query-params",
                disabled=form.traversal != SAMPLE,
                help="Of a sample whose prefix has several strings. **Strings**: each is drawn equally often. **Token "
                "paths**: one with more encodings is drawn more often. **Edges**: a coin is thrown at every character, "
                "which crowds to strings that branch off early; it is there to be compared.",
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
                help="Stop after this much time. What was found until then is kept; less likely strings may be "
                "missing, and a sample has fewer draws.",
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
