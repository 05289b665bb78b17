"""The settings of a cloze test as widgets, and passages from a paste or an upload.

    Ann met Bob. Then Bob left Ann            one passage a line,
    {"text": "Ann met Bob. Then Bob ..."}     or one JSON object a line, as OpenAI publishes LAMBADA

The texts become part of the study, so the description of a run is enough to repeat it. A description holds a million
characters; the error for a longer file names how many of its passages fit.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any

import streamlit as st

from relens.counted import counted
from relens.errors import LimitError, QueryError
from relens.runs.sizes import MOST_CHARACTERS
from relens.studies.cloze import ClozeStudy
from relens.studies.passages import Passage, own_passages, passages_of_file, passages_of_lines
from relens_dashboard.setting_fields import SettingFields

OWN, PASTE, UPLOAD, KEPT = "Relens' own", "Paste", "Upload", "Of this study"

MOST_PASTED = 500_000
#: Characters of all passages together as JSON; the rest of the description is far below what this leaves.
MOST_TOGETHER = MOST_CHARACTERS - 20_000

_EXAMPLE = "Ann gave the ring to Shane. “Is it real?” asked Shane.\nOne passage a line; the model finds its last word."


def cloze_settings(study: ClozeStudy) -> ClozeStudy:
    """Draw the widgets, and return what they hold. Raises `QueryError` and `LimitError`."""
    fields = SettingFields(study, "cloze")
    left, right = st.columns([5, 4], gap="medium")
    with left:
        source = _source(study)
        texts = st.container()
        count = fields.draw("count")
    with right:
        fields.draw("variants", wrap=True)
        fields.row("top_k", "answers")
        fields.row("expansions", "answers_with_end")
    with texts:
        passages, path = _passages(study, source, count)
    return fields.record(passages=passages, path=path)


def work_sentence(study: ClozeStudy, total: int) -> str:
    """The work of the study at most. total: the number of its passages."""
    most = total * len(study.variants) * study.expansions
    return (
        f"{counted(total, 'passage')} under {counted(len(study.variants), 'variant')}: after reading them the model"
        f" computes the next token at most {most:,} times."
    )


def pasted_passages(text: str, count: int | None = None) -> tuple[str, ...]:
    """The passages of a pasted text. Raises `QueryError` and `LimitError` with the number of the line."""
    if len(text) > MOST_PASTED:
        raise LimitError(
            f"The pasted passages have {len(text):,} characters, more than the limit of {MOST_PASTED:,}; upload a file"
            " instead.",
            limit="passages",
        )
    # Only line breaks of files divide passages; other characters that Python splits at may stand in one.
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return _together(passages_of_lines(lines, count))


def uploaded_passages(data: bytes, count: int | None = None) -> tuple[str, ...]:
    """The passages of an uploaded file, UTF-8. Raises `QueryError` and `LimitError` with the number of the line."""
    return _together(passages_of_file(io.BytesIO(data), count))


def _together(passages: Sequence[Passage]) -> tuple[str, ...]:
    """The texts of the passages. Raises `LimitError` where they do not fit into the description of a run."""
    texts = tuple(passage.text for passage in passages)
    characters = 0
    for number, text in enumerate(texts):
        characters += len(json.dumps(text)) + len(", ")
        if characters > MOST_TOGETHER:
            raise LimitError(
                f"A run holds about {MOST_TOGETHER:,} characters of passages, and these have more; ask for the first"
                f" {number:,} of them.",
                limit="passages",
            )
    return texts


def _source(study: ClozeStudy) -> str:
    kept = [KEPT] if study.passages or study.path else []
    options = [*kept, OWN, PASTE, UPLOAD]
    if st.session_state.get("cloze_source", OWN) not in options:
        del st.session_state["cloze_source"]  # of another study on this page before
    return st.segmented_control(
        "Passages",
        options,
        default=options[0],
        required=True,
        key="cloze_source",
        help="Texts without their last word, which the model has to find. OpenAI's file of LAMBADA can be uploaded "
        "unchanged.",
    )


def _passages(study: ClozeStudy, source: str, count: int | None) -> tuple[tuple[str, ...], str]:
    """The passages and the path of the study, as the source has them."""
    if source == KEPT:
        st.caption("The passages of the study as they are.")
        return study.passages, study.path
    if source == PASTE:
        text = st.text_area(
            "Passages to paste",
            key="cloze_paste",
            height=160,
            placeholder=_EXAMPLE,
            help="One passage a line, as plain text or as a JSON object with a “text”. Punctuation after the last word "
            "does not matter.",
        )
        if not text.strip():
            raise QueryError("Paste at least one passage, or choose other passages.")
        return pasted_passages(text, count), ""
    if source == UPLOAD:
        file = st.file_uploader(
            "File of passages",
            type=["txt", "jsonl", "json"],
            key="cloze_upload",
            help="One passage a line, UTF-8, as plain text or as a JSON object with a “text”.",
        )
        if file is None:
            raise QueryError("Upload a file of passages, or choose other passages.")
        return _read_once(file, count), ""
    st.caption(f"{len(own_passages())} short passages, written for Relens.")
    return (), ""


def _read_once(file: Any, count: int | None) -> tuple[str, ...]:
    """The passages of an uploaded file, read again only for another file or count: a page is drawn often."""
    key = (file.file_id, count)
    kept = st.session_state.get("cloze_read")
    if kept is None or kept[0] != key:
        kept = st.session_state["cloze_read"] = (key, uploaded_passages(file.getvalue(), count))
    return kept[1]
