"""The source of a study's text: Relens, an uploaded file, or a folder on the server.

Conversations   [ Built in | A file | On the server ]      "" | /cache/texts/4f3a... | /srv/texts/talks.txt
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from relens.errors import QueryError
from relens_dashboard.studies.kept_text import keep_checked

BUILT_IN, UPLOADED, ON_SERVER = "Built in", "A file", "On the server"


def source_field(place: DeltaGenerator, label: str, chosen: str, *, key: str, built_in: str) -> str:
    """Draw the choice; one of `BUILT_IN`, `UPLOADED` and `ON_SERVER`. built_in: the text of Relens, for the help.

    chosen: the file of the study, "" for the built-in one. The keys begin with `key`.
    """
    source = place.segmented_control(
        label,
        (BUILT_IN, UPLOADED, ON_SERVER),
        default=ON_SERVER if chosen else BUILT_IN,
        required=True,
        key=f"{key}_source",
        help=f"**Built in**: {built_in} **A file**: one of your own. **On the server**: a file in a folder that the "
        "operator allows.",
    )
    return str(source)


def file_field(
    source: str,
    label: str,
    chosen: str,
    *,
    key: str,
    types: Sequence[str],
    written: str,
    check: Callable[[str], object] = lambda path: None,
) -> str:
    """Draw the field for the file of a source that is not built in, and return its path. written: its format.

    check: reads an upload, which is small, and raises its errors. Raises `QueryError` where there is no
    file, or the check has complained.
    """
    if source == UPLOADED:
        uploaded = st.file_uploader(
            label, type=list(types), key=f"{key}_file", help=f"UTF-8. {written}", label_visibility="collapsed"
        )
        if uploaded is None:
            raise QueryError(f"Choose a file for “{label}”.")
        return keep_checked(uploaded.name, uploaded.getvalue(), check)
    path = st.text_input(
        "File on the server",
        value=chosen,
        key=f"{key}_path",
        max_chars=1_000,
        help="In a folder that the operator has named in RELENS_TEXTS, or a file that was uploaded before.",
    )
    if not str(path or "").strip():
        raise QueryError(f"Name the file for “{label}”.")
    return str(path).strip()
