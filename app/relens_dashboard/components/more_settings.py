"""Advanced settings in a popover: decoding, reading the text as tokens, limits."""

from __future__ import annotations

import streamlit as st

from relens_dashboard.components.held import held_form
from relens_dashboard.components.query_form import query_field
from relens_dashboard.form import BEST_FIRST, SAMPLE


def more_settings() -> None:
    """Show the popover."""
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
            query_field("temperature")
            query_field("end_of_text")
            query_field("rank", wrap=True, disabled=form.traversal != BEST_FIRST)
        with reading:
            st.caption("READING THE TEXT AS TOKENS")
            query_field("boundary")
            query_field("prefix_encoding", disabled=form.boundary == "Free")
            query_field("begin_of_text")
            query_field("prefix_by", wrap=True, disabled=form.traversal != SAMPLE)
            query_field("max_tokens")
        with limits:
            st.caption("LIMITS")
            query_field("seconds")
            query_field("expansions")
