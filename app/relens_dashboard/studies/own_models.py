"""The choice of a dialogue model, and a link to the training of the first."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from relens.counted import counted
from relens.errors import QueryError
from relens.triggers.model.model_list import ListedModel, listed_model, listed_vocabulary, model_names
from relens.triggers.model.vocabulary import words_of_text
from relens.triggers.search.targets import check_searchable, target_list
from relens.triggers.shared_settings import DIALOGUE_MODEL
from relens_dashboard.text import as_markdown

TRAINING = "dialogue-model"


def model_field(kind: str, chosen: str) -> str:
    """Draw the choice of a dialogue model; chosen: the first value, where it is there.

    Raises `QueryError` where there is none.
    """
    names = list(model_names())
    if not names:
        st.info("There is no dialogue model yet. Training the quick one takes a few minutes.", icon=":material/info:")
        page_link(TRAINING, "Train a dialogue model", ":material/model_training:")
        raise QueryError("Train a dialogue model first; then triggers can be searched for.")
    preferred = str(st.query_params.get("dialogue", "")) or chosen
    name = st.selectbox(
        DIALOGUE_MODEL.label,
        names,
        index=names.index(preferred) if preferred in names else 0,
        key=f"{kind}_model",
        help=DIALOGUE_MODEL.help,
    )
    if preferred not in names:
        st.caption(as_markdown(f"There is no model called “{preferred[:64]}” here; another is chosen."))
    model = listed_model(name)
    if model is not None:
        st.caption(as_markdown(model_sentence(model)))
    return str(name)


def note_unsayable(place: DeltaGenerator, model: str, typed: Sequence[str], *, is_all: bool) -> None:
    """Name the typed targets with unknown words in a caption at that place.

    Raises `QueryError` where there are no other targets (`is_all`) and none of these can be searched for.
    """
    vocabulary = listed_vocabulary(model)
    if vocabulary is None or not typed:
        return
    targets = target_list("own", vocabulary, map(words_of_text, typed))
    if is_all:
        check_searchable([targets])
    if targets.dropped:
        reason = targets.dropped[0].reason
        count = len(targets.dropped)
        begin = "Left out" if count == 1 else f"{count:,} targets are left out; for instance"
        place.caption(as_markdown(f"{begin}: {reason[0].lower()}{reason[1:]}"))


def model_sentence(model: ListedModel) -> str:
    """The corpus of a model, and its perplexity."""
    training = model.training
    known = f"Trained on {counted(training.pairs, 'pair')} of “{training.corpus[:80]}”" if training.pairs else "Trained"
    if training.perplexity is None:
        return f"{known}."
    return (
        f"{known}; perplexity {training.perplexity:,.0f} on real replies (T_out {model.thresholds.out:.2f}, T_in "
        f"{model.thresholds.into:.2f})."
    )


def page_link(url_path: str, label: str, icon: str, **parameters: str) -> None:
    """A link to another page of the dashboard; nothing where that page is not there."""
    page = st.session_state.get("pages", {}).get(url_path)
    if page is not None:
        st.page_link(page, label=label, icon=icon, query_params=parameters or None)
