"""What makes a match a find, as fields: it is on a list, of a form, in a text, a page that exists.

A planted model has its secrets written down beside it in canaries.json; that file fills in the list, and prefix and
pattern too, since the secrets are found by them.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import streamlit as st

from app.components.messages import show_error
from app.studies.kept_text import keep_text
from engine import settings
from engine.errors import QueryError
from engine.studies.canaries import FILE, RECIPE, Planted, extraction_study
from engine.studies.memorization import MemorizationStudy
from engine.studies.validators import Answers, InText, OfForm, OnList, Unchecked, Validator

KIND = MemorizationStudy.kind

#: What makes a match count, by the words that are shown.
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

#: The most known values.
MOST_VALUES = 10_000


def one_line(expression: str) -> str:
    """The same expression for a field that has one line."""
    return expression.replace("\n", r"\n").replace("\r", r"\r").replace("\t", r"\t")


def validator_fields(validator: Validator) -> Validator:
    """Draw the choice of the validator and its fields. Raises `QueryError` for what cannot be one."""
    first = next(words for words, kind in VALIDATORS.items() if isinstance(validator, kind))
    chosen = st.segmented_control(
        "A match counts if it",
        list(VALIDATORS),
        default=first,
        required=True,
        wrap=True,
        key=f"{KIND}_validator",
        help="A model can make up strings of the right form. This says what makes one a find: to be in a text you "
        "give, on a list, of a form, or a page that answers. With “is any match” nothing is checked. Planted secrets "
        "are a list.",
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
        help="Whole strings, prefix included. Since it is then known how much there is to find, the figures show what "
        "part of it was found.",
    )
    st.file_uploader(
        "Or the canaries.json of a model with planted secrets",
        type="json",
        key=f"{KIND}_canaries",
        on_change=_fill_from_canaries,
        help="Fills in prefix, pattern and values as they were planted. Choose that model too.",
    )
    if problem := st.session_state.get(f"{KIND}_canaries_problem"):
        show_error(problem)
    _recipe()
    values = tuple(dict.fromkeys(line for line in lines.splitlines() if line.strip()))
    if len(values) > MOST_VALUES:
        raise QueryError(f"The list has {len(values):,} known values; at most {MOST_VALUES:,} are compared with.")
    return OnList(values)


def _recipe() -> None:
    """How to come by a model of which it is known what it has by heart."""
    with st.popover("Plant secrets in a model", icon=":material/key:", key=f"{KIND}_recipe"), st.container(width=640):
        st.markdown(
            "What a model has by heart is seldom known. It is where one is trained a little more on a text with "
            "made-up secrets in it. This command does that with SmolLM2-135M, from the folder of Relens:"
        )
        st.code(RECIPE, language="bash", wrap_lines=True)
        st.markdown(
            f"Upload the {FILE} that it writes into that folder here, choose the folder as the model, and run. The "
            "operator has to allow the folder (RELENS_MODELS). With `--help` the command lists its settings: how many "
            "secrets, how long to train, on which model and text."
        )


def _fill_from_canaries() -> None:
    """Put what was planted into the fields; what is no such file leaves them as they are and says so."""
    uploaded = st.session_state.get(f"{KIND}_canaries")
    st.session_state[f"{KIND}_canaries_problem"] = ""
    if uploaded is None:
        return
    try:
        st.session_state.update(planted_fields(uploaded.getvalue()))
    except QueryError as error:
        st.session_state[f"{KIND}_canaries_problem"] = error.sentence


def planted_fields(data: bytes) -> dict[str, Any]:
    """What the fields hold for a canaries.json, by their keys. Raises `QueryError` for what is no such file."""
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
        help="Where the text is on the machine that Relens runs on. Only whether a match occurs in it is told.",
    )
    uploaded = st.file_uploader(
        "Or a text of your own",
        type=["txt", "md", "csv", "json", "jsonl"],
        key=f"{KIND}_text",
        help="UTF-8. It is kept on the machine that Relens runs on, so that the run can read it.",
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
        f"This machine then asks each address that the model writes, over HTTPS, whether a page is there. Each is "
        f"one request without content, at most {validator.per_second:g} a second, each for at most "
        f"{validator.seconds:g} s. No redirect is followed, and no address of a local network is asked. "
        "The owners of these servers see that somebody here asked."
    )
    return dataclasses.replace(validator, allowed=allowed)
