"""The settings of a cloze test as widgets, and the passages that somebody pastes or uploads.

    Ann met Bob. Then Bob left Ann            one passage a line,
    {"text": "Ann met Bob. Then Bob ..."}     or one JSON object a line, as OpenAI publishes LAMBADA

The texts become part of the study, so that a run can be repeated by whoever has its description. That holds a million
characters; of a longer file one asks for as many passages as fit, and is told how many these are.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any

import streamlit as st

from app.setting_fields import SettingFields
from engine.errors import LimitError, QueryError
from engine.runs.sizes import MOST_CHARACTERS
from engine.studies.cloze import ClozeStudy
from engine.studies.passages import Passage, own_passages, passages_of_file, passages_of_lines

OWN, PASTE, UPLOAD, KEPT = "Relens' own", "Paste", "Upload", "Of this study"

MOST_PASTED = 500_000
#: Characters of all passages together as JSON; the rest of the description is far below what this leaves.
MOST_TOGETHER = MOST_CHARACTERS - 20_000

_EXAMPLE = "Ann gave the ring to Shane. “Is it real?” asked Shane.\nOne passage a line; its last word is to be found."


def cloze_settings(study: ClozeStudy) -> ClozeStudy:
    """Draw the widgets, and return what they hold. Raises `QueryError` and `LimitError`."""
    fields = SettingFields(study, "cloze")
    left, right = st.columns([5, 4], gap="medium")
    with left:
        source = _source(study)
        given = st.container()
        count = fields.draw("count")
    with right:
        fields.draw("variants", wrap=True)
        fields.row("top_k", "answers")
        fields.row("expansions", "answers_with_end")
    with given:
        passages, path = _passages(study, source, count)
    return fields.record(passages=passages, path=path)


def work_sentence(study: ClozeStudy, total: int) -> str:
    """How much work the study is at most, `total` being the number of its passages."""
    most = total * len(study.variants) * study.expansions
    return (
        f"{total:,} {'passage' if total == 1 else 'passages'}, asked in {len(study.variants)}"
        f" {'way' if len(study.variants) == 1 else 'ways'}: besides reading them the model is asked at most {most:,}"
        " times what comes next."
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
        del st.session_state["cloze_source"]  # of another study that was shown here
    return st.segmented_control(
        "Passages",
        options,
        default=options[0],
        required=True,
        key="cloze_source",
        help="Texts whose last word is to be found. The file that OpenAI publishes of LAMBADA can be uploaded as it "
        "is.",
    )


def _passages(study: ClozeStudy, source: str, count: int | None) -> tuple[tuple[str, ...], str]:
    """The passages and the path of the study, as the source has them."""
    if source == KEPT:
        st.caption("The passages of the study as it was asked.")
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
    st.caption(f"{len(own_passages())} short passages that were written for Relens.")
    return (), ""


def _read_once(file: Any, count: int | None) -> tuple[str, ...]:
    """The passages of an uploaded file, read again only where it or the count is another: a page is drawn often."""
    asked = (file.file_id, count)
    held = st.session_state.get("cloze_read")
    if held is None or held[0] != asked:
        held = st.session_state["cloze_read"] = (asked, uploaded_passages(file.getvalue(), count))
    return held[1]
