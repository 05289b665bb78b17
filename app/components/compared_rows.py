"""The rows of runs that are compared: all of them, or none and a sentence."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app.run_rows import RunRows, read_rows, reading_sentence
from app.services import Services
from app.text import as_markdown
from engine.counted import counted
from engine.runs.records import RunRecord

#: So many rows of all runs together are compared: a comparison makes several objects of each.
MOST_ROWS_COMPARED = 100_000


def compared_rows(services: Services, runs: Sequence[RunRecord]) -> tuple[Sequence[RunRows], bool]:
    """The rows of each, and whether to look again soon; () where they are not all there, which is said."""
    total = sum(run.row_count for run in runs)
    if total > MOST_ROWS_COMPARED:
        st.info(
            f"These runs have {counted(total, 'row')} together, and up to {MOST_ROWS_COMPARED:,} are compared. What a "
            "part of them says would not hold for all, so nothing but their settings is compared.",
            icon=":material/info:",
        )
        return (), False
    run_rows = [read_rows(services.store, run) for run in runs]
    if all(one.is_read for one in run_rows):
        return (run_rows, False) if all(one.is_whole for one in run_rows) else ((), False)
    st.info(as_markdown(reading_sentence(run_rows)), icon=":material/hourglass_top:")
    return (), True
