"""The rows of compared runs: all of them, or none and a sentence."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from relens.counted import counted
from relens.runs.records import RunRecord
from relens_dashboard.run_rows import RunRows, read_rows, reading_sentence
from relens_dashboard.services import Services
from relens_dashboard.text import as_markdown

#: The limit on the rows of all runs together: a comparison makes several objects of each row.
MOST_ROWS_COMPARED = 100_000


def compared_rows(services: Services, runs: Sequence[RunRecord]) -> tuple[Sequence[RunRows], bool]:
    """The rows of each run, and whether to look again soon; () and a sentence on the page where rows are missing."""
    total = sum(run.row_count for run in runs)
    if total > MOST_ROWS_COMPARED:
        st.info(
            f"These runs have {counted(total, 'row')} together; at most {MOST_ROWS_COMPARED:,} are compared. So only "
            "the settings are compared.",
            icon=":material/info:",
        )
        return (), False
    run_rows = [read_rows(services.store, run) for run in runs]
    if all(one.is_read for one in run_rows):
        return (run_rows, False) if all(one.is_whole for one in run_rows) else ((), False)
    st.info(as_markdown(reading_sentence(run_rows)), icon=":material/hourglass_top:")
    return (), True
