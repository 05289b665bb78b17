"""The fields of the validator: any match, on a list, of a form, in a text, or a web page.

The canaries.json of a model with planted secrets fills in the list of known values, and prefix and pattern of their
query.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import streamlit as st

from relens import settings
from relens.errors import QueryError
from relens.studies.canaries import FILE, RECIPE, Planted, extraction_study
from relens.studies.memorization import MemorizationStudy
from relens.studies.validators import Answers, InText, OfForm, OnList, Unchecked, Validator
from relens_dashboard.messages import show_error
from relens_dashboard.studies.kept_text import keep_text

KIND = MemorizationStudy.kind

#: The validators by their names on the page.
ALWAYS, LISTED, FORMED, IN_TEXT, ON_THE_WEB = (
    "is any match",
    "is on a list",
    "has a form",
    "is in a text",
    "is a web page",
)
VALIDATORS: dict[str, type[Validator]] = {
    ALWAYS: Unchecked,
    LISTED: OnList,
    FORMED: OfForm,
    IN_TEXT: InText,
    ON_THE_WEB: Answers,
}

#: Known values on a list.
MOST_VALUES = 10_000


def one_line(expression: str) -> str:
    """The same expression for a field that has one line."""
    return expression.replace("\n", r"\n").replace("\r", r"\r").replace("\t", r"\t")


def validator_fields(validator: Validator) -> Validator:
    """Draw the choice of the validator and its fields. Raises `QueryError` for too long a list."""
    first = next(words for words, kind in VALIDATORS.items() if isinstance(validator, kind))
    chosen = st.segmented_control(
        "A match counts if it",
        list(VALIDATORS),
        default=first,
        required=True,
        wrap=True,
        key=f"{KIND}_validator",
        help="A model can make up strings of the right form. A validator decides which count: those in your "
        "text, on a list, of a form, or pages that answer. With “is any match” nothing is checked. Planted secrets are "
        "a list.",
    )
    if chosen == LISTED:
        return _list_fields(validator if isinstance(validator, OnList) else OnList())
    if chosen == FORMED:
        regex = st.text_input(
            "The form that counts",
            value=one_line(validator.regex) if isinstance(validator, OfForm) else "",
            key=f"{KIND}_form",
            help="A regular expression for the whole string, prefix included.",
        )
        return OfForm(regex)
    if chosen == IN_TEXT:
        return _text_fields(validator if isinstance(validator, InText) else InText())
    if chosen == ON_THE_WEB:
        return _web_fields(validator if isinstance(validator, Answers) else Answers())
    return Unchecked()


def _list_fields(validator: OnList) -> OnList:
    lines = st.text_area(
        "Known values, one a line",
        value="\n".join(validator.values),
        key=f"{KIND}_values",
        height=120,
        help="Whole strings, prefix included. With a list, the figures show recall: the part of its values that was "
        "found.",
    )
    st.file_uploader(
        "Or the canaries.json of a model with planted secrets",
        type="json",
        key=f"{KIND}_canaries",
        on_change=_fill_from_canaries,
        help="Fills in prefix, pattern and values. Choose that model too.",
    )
    if problem := st.session_state.get(f"{KIND}_canaries_problem"):
        show_error(problem)
    _recipe()
    values = tuple(dict.fromkeys(line for line in lines.splitlines() if line.strip()))
    if len(values) > MOST_VALUES:
        raise QueryError(f"The list has {len(values):,} known values; at most {MOST_VALUES:,} are compared with.")
    return OnList(values)


def _recipe() -> None:
    """The command that plants secrets in a model."""
    with st.popover("Plant secrets in a model", icon=":material/key:", key=f"{KIND}_recipe"), st.container(width=640):
        st.markdown(
            "Recall is known for a model that was trained on made-up secrets. This command, in the folder of Relens, "
            "trains SmolLM2-135M on some:"
        )
        st.code(RECIPE, language="bash", wrap_lines=True)
        st.markdown(
            f"Upload the {FILE} of the new folder here, choose the folder as the model, and run. The operator has to "
            "allow the folder (RELENS_MODELS). With `--help` the command lists its settings: number of secrets, steps "
            "of training, model and text."
        )


def _fill_from_canaries() -> None:
    """Fill the fields from the uploaded file; a file of another kind changes nothing and gives a sentence."""
    uploaded = st.session_state.get(f"{KIND}_canaries")
    st.session_state[f"{KIND}_canaries_problem"] = ""
    if uploaded is None:
        return
    try:
        st.session_state.update(planted_fields(uploaded.getvalue()))
    except QueryError as error:
        st.session_state[f"{KIND}_canaries_problem"] = error.sentence


def planted_fields(data: bytes) -> dict[str, Any]:
    """The values of the fields for a canaries.json, by key. Raises `QueryError` for a file of another kind."""
    try:
        planted = Planted.from_json(json.loads(data))
        study = extraction_study(planted)
    except (ValueError, RecursionError, QueryError) as error:
        raise QueryError("This file is no list of planted secrets.") from error
    return {
        f"{KIND}_prefix": study.prefix,
        f"{KIND}_pattern": study.pattern,
        f"{KIND}_values": "\n".join(planted.secrets),
        f"{KIND}_new_tokens": list(study.new_tokens),
        f"{KIND}_seconds": study.seconds,
        f"{KIND}_max_tokens": study.max_tokens,
    }


def _text_fields(validator: InText) -> InText:
    path = st.text_input(
        "File or folder",
        value=validator.path,
        key=f"{KIND}_path",
        placeholder="/data/training.txt",
        help="A path on the machine of Relens. The page shows whether a match occurs in the text, and nothing else.",
    )
    uploaded = st.file_uploader(
        "Or a text of your own",
        type=["txt", "md", "csv", "json", "jsonl"],
        key=f"{KIND}_text",
        help="UTF-8. The machine of Relens keeps it for the run.",
    )
    whole_words = st.checkbox(
        "As whole words",
        value=validator.whole_words,
        key=f"{KIND}_whole_words",
        help="A match does not count where it is a part of a longer word or number.",
    )
    return InText(str(keep_text(uploaded.getvalue())) if uploaded is not None else path.strip(), whole_words)


def _web_fields(validator: Answers) -> Answers:
    allowed = st.toggle(
        "Ask web servers",
        value=validator.allowed,
        key=f"{KIND}_web",
        disabled=not settings.https_allowed(),
        help="Only a match whose page answers counts. Off, this study cannot be run.",
    )
    st.caption(
        f"This machine then sends a request without content to each address of the model, over HTTPS: at most "
        f"{validator.per_second:g} a second, each for at most {validator.seconds:g} s. It follows no redirect, and "
        "sends none to a local network. The owners of these servers see the requests."
    )
    return dataclasses.replace(validator, allowed=allowed)
