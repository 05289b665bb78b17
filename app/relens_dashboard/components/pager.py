"""A long table, a page of lines at a time.

    table of 12,345 lines        lines 501 to 1,000 are made, sent and drawn
    ‹ 1 [2] 3 ... 25 ›           Lines 501 to 1,000 of 12,345

Each rerun makes and sends one page, however long the table is.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import streamlit as st

#: Lines of a table that are shown at once.
LINES = 500
_PAGES_NAMED = 7


def paged_lines(count: int, draw: Callable[[int, int], None], *, key: str) -> None:
    """Call `draw` with start and stop of the lines on the chosen page, and show the choice of pages below.

    count: the lines of the table. key: of the chosen page in the session. A table of one page has no choice.
    """
    if count <= LINES:
        draw(0, count)
        return
    table = st.container()
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"pager_{key}"):
        page = st.pagination(math.ceil(count / LINES), max_visible_pages=_PAGES_NAMED, key=key)
        start = (page - 1) * LINES
        stop = min(start + LINES, count)
        st.caption(f"Lines {start + 1:,} to {stop:,} of {count:,}")
    with table:
        draw(start, stop)
