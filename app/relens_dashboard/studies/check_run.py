"""Checks from a card: each is a run of its own, submitted and followed under the card.

    [ how are you ]  [Score again]  [Verify]          ->  a run, whose id is in the address as "check"
    Verified: scored anew in float32, ...

A reload has the check in the address. A check of another target is not shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from relens.errors import RelensError
from relens.runs.specification import StudySpecification
from relens.studies.masking import Masker
from relens.studies.study import Study
from relens_dashboard import narrative
from relens_dashboard.masks import shown
from relens_dashboard.messages import show_error
from relens_dashboard.run_rows import read_all_rows
from relens_dashboard.services import study_check
from relens_dashboard.session import session_name
from relens_dashboard.text import as_html, as_markdown

if TYPE_CHECKING:
    from relens.runs.records import RunRecord
    from relens_dashboard.services import Services

#: The parameter of the address with the run of a check.
CHECK = "check"


@dataclass(frozen=True)
class Check:
    """A check, as far as it is done. position: its place in the queue, None outside it."""

    run: RunRecord
    study: Study
    rows: Sequence[Mapping[str, Any]]
    position: int | None


def ask_about(
    text: str, mask: Masker | None, *, kind: str, key: str, longest: int, count: int, help: tuple[str, str, str]
) -> tuple[str, Literal["", "typed", "this", "all"]]:
    """A field with a trigger, and the buttons of its checks: the typed text, and the pressed button.

    kind: the beginning of the widgets' keys; key: of this trigger. count: of the triggers. help: of the field, of
    scoring, of verifying.
    """
    # A masked trigger cannot be edited: the typed text would be the mask.
    is_hidden = mask is not None and mask(text) != text
    typed = st.text_input(
        "Change the trigger",
        value="" if is_hidden else text,
        placeholder="Switch on “Show the words of this one” to begin from the trigger itself" if is_hidden else "",
        key=f"{kind}_edit_{key}_{is_hidden}",
        max_chars=longest,
        help=help[0],
    )
    request: Literal["", "typed", "this", "all"] = ""
    with st.container(horizontal=True, gap="small"):
        if st.button("Score again", icon=":material/calculate:", key=f"{kind}_score_again", help=help[1]):
            request = "typed"
        if st.button("Verify", icon=":material/verified:", key=f"{kind}_verify", help=help[2]):
            request = "this"
        if st.button(
            f"Verify all {count:,}",
            icon=":material/verified:",
            key=f"{kind}_verify_all",
            help="The same for every trigger of this run.",
        ):
            request = "all"
    return typed or "", request


def begin_check(services: Services, model: str, check: Study) -> None:
    """Submit a check to the queue, with its run in the address; show what is wrong with it."""
    try:
        if study_check(services).check(check) is None:
            show_error("The server is busy, so nothing was checked; please try again in a moment.")
            return
        run_id = services.store.submit(StudySpecification(model, check), session_name())
    except RelensError as error:
        show_error(error)
        return
    services.ensure_worker()
    st.query_params[CHECK] = run_id


def current_check(services: Services, kind: str) -> Check | None:
    """The check in the address, where it is of this kind."""
    run_id = st.query_params.get(CHECK)
    if not run_id:
        return None
    try:
        run = services.store.get(run_id)
        if run is None or run.specification.get("study", {}).get("kind") != kind:
            return None
        study = StudySpecification.from_json(run.specification).study
        rows = read_all_rows(services.store, run)
        position = services.store.queue_position(run_id) if run.status == "queued" else None
    except RelensError as error:
        show_error(error)
        return None
    return Check(run, study, rows.rows if rows.is_whole else (), position)


def show_check(check: Check, mask: Masker | None) -> None:
    """Its progress, and its verdict."""
    if check.run.is_live or check.run.error:
        headline = narrative.status_headline(check.run, check.position)
        st.caption(as_markdown(f"{headline}{f': {check.run.error}' if check.run.error else ''}"))
    sentences = "".join(f"<p>{as_html(shown(mask, line))}</p>" for line in check.study.verdict(check.rows))
    if sentences:
        st.html(
            f'<div class="relens-findings study" data-trigger-check="{as_html(check.run.status)}">{sentences}</div>'
        )
