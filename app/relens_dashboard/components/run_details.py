"""Actions on the runs chosen in the history."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import streamlit as st

from relens.counted import counted
from relens.runs.listed_runs import ListedRun
from relens.runs.records import MOST_ROWS, RunRecord
from relens.runs.run_file import SUFFIX, write_run
from relens.runs.specification import StudySpecification
from relens.studies.catalogue import STUDIES, study_class
from relens_dashboard import links, study_narrative
from relens_dashboard.components.refused_file import file_or_refusal, show_refusal
from relens_dashboard.components.run_links import change_link, open_link, page_named
from relens_dashboard.components.run_words import run_words
from relens_dashboard.messages import act
from relens_dashboard.run_rows import stored_rows
from relens_dashboard.runs.described import STATUSES, question, spent_text, title, variety_name
from relens_dashboard.services import Services
from relens_dashboard.session import session_name
from relens_dashboard.text import as_html, as_markdown, shortened

_UNDO = "deleted_runs"

#: The conditions of a repetition besides model and seed.
_SAME_ROWS = (
    "A repetition with the same seed gives the same rows if all else is the same: versions, device, and the files and "
    "other models named in the settings. If a time limit ends it, it may have fewer or more rows."
)


def run_details(services: Services, run: RunRecord) -> None:
    """One run: its facts, its actions, its name and its note."""
    with st.container(border=True, key="run_details"):
        st.html(facts_html(run))
        _imported(services, run)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            open_link(run)
            change_link(run)
            _repeating(services, run)
            _keeping(services, run)
            _file(services, run)
            _deleting(services, [run])
        show_refusal(run.id)
        run_words(services, run)


def runs_chosen(services: Services, runs: Sequence[RunRecord], choose: Callable[[], None]) -> None:
    """Several runs: compare them, delete them, or `choose` none."""
    with st.container(border=True, key="runs_chosen"):
        st.html(
            '<div class="relens-findings">'
            + "".join(f"<p>{place}. {as_html(title(run))}</p>" for place, run in enumerate(runs, 1))
            + "</div>"
        )
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            page = page_named("compare")
            if page is not None:
                st.page_link(
                    page,
                    label=f"Compare {len(runs)} runs",
                    icon=":material/compare_arrows:",
                    query_params={links.CHOSEN: ",".join(run.id for run in runs)},
                    help="Shows how settings and findings differ. All runs are compared with the first.",
                )
            _deleting(services, runs)
            st.button(
                "Choose none",
                type="tertiary",
                icon=":material/close:",
                key="choose_none",
                on_click=choose,
                help="Remove all ticks, also those on other pages of the list.",
            )


def bin_of_run(services: Services, chosen: Sequence[ListedRun], total: int) -> None:
    """Buttons that restore the chosen deleted runs, and that empty the bin."""
    if not total:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if st.button(
            "Restore",
            type="primary",
            icon=":material/restore_from_trash:",
            disabled=not chosen,
            key="restore_button",
            help="Put the ticked runs back into the history, as they were.",
        ):
            act(lambda: [services.store.restore(run.id) for run in chosen])
        with st.popover("Empty the bin", icon=":material/delete_forever:", key="empty_bin"):
            st.caption(f"This removes {counted(total, 'deleted run')} and all rows for good, for everybody.")
            if st.button("Remove them for good", key="purge_button", help="There is no undo."):
                act(lambda: services.store.purge(0.0))


def undo_banner(services: Services) -> None:
    """The runs just deleted, with Undo."""
    deleted: list[tuple[str, str]] = st.session_state.get(_UNDO, [])
    if not deleted:
        return
    what = f"“{shortened(deleted[0][1], 60)}”" if len(deleted) == 1 else counted(len(deleted), "run")
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="undo_banner"):
        st.html(f'<span role="status">Deleted {as_html(what)}.</span>', width="content")
        if st.button("Undo", icon=":material/undo:", key="undo_button", help="Put it back as it was."):
            st.session_state[_UNDO] = []
            act(lambda: [services.store.restore(run_id) for run_id, _ in deleted])
        if st.button("Dismiss", type="tertiary", key="dismiss_button", help="Hide this message; it stays deleted."):
            st.session_state[_UNDO] = []
            st.rerun()


def facts_html(run: RunRecord) -> str:
    """The run's name, question and facts; all text escaped."""
    created = datetime.fromtimestamp(run.created, UTC).strftime("%Y-%m-%d %H:%M UTC")
    facts = [
        variety_name(run),
        run.model,
        STATUSES[run.status],
        f"created {created}",
        counted(run.row_count, "row"),
        spent_text(run),
        f"run {run.id}",
    ]
    lines = [f"<p><b>{as_html(title(run, 200))}</b></p>"]
    if run.name:
        lines.append(f'<p class="minor"><code>{as_html(question(run, 300))}</code></p>')
    lines.append(f'<p class="minor">{as_html(" · ".join(fact for fact in facts if fact))}</p>')
    if run.error:
        lines.append(f'<p class="minor">{as_html(run.error)}</p>')
    return f'<div class="relens-findings">{"".join(lines)}</div>'


def fingerprint_sentence(run: RunRecord, here: str | None) -> str:
    """The expected result of repeating an imported run here. here: the fingerprint of the model on this server."""
    if run.variety in STUDIES and not study_class(run.variety).needs_model:
        return f"It uses no language model. {_SAME_ROWS}"
    if run.model_fingerprint is None:
        return "The file has no fingerprint of the model, so a repetition may give other rows."
    if here is None:
        return (
            f"Its model had the fingerprint {run.model_fingerprint}. The fingerprint of {run.model} here is known "
            "after its first run."
        )
    if here == run.model_fingerprint:
        return f"The model of this name is the same here. {_SAME_ROWS}"
    return (
        f"The model of this name is different here (fingerprint {here} instead of {run.model_fingerprint}), so a "
        "repetition may give other rows."
    )


def _imported(services: Services, run: RunRecord) -> None:
    if run.origin is None:
        return
    when = datetime.fromtimestamp(float(run.origin.get("imported", 0.0)), UTC).strftime("%Y-%m-%d %H:%M UTC")
    sentence = fingerprint_sentence(run, services.store.fingerprint_here(run.model))
    st.info(as_markdown(f"Imported {when}. {sentence}"), icon=":material/upload:")


def _repeating(services: Services, run: RunRecord) -> None:
    if run.is_live:
        if st.button(
            "Stop",
            icon=":material/stop:",
            disabled=run.stop_requested,
            key="history_stop",
            help="End it; its rows stay.",
        ):
            act(lambda: services.store.request_stop(run.id))
        return
    can_resume = run.kind == StudySpecification.kind and study_narrative.can_resume(run)
    if can_resume and st.button(
        "Resume",
        icon=":material/resume:",
        key="history_resume",
        help="Continue this study; finished pieces are not repeated.",
    ):
        act(lambda: (services.store.resume(run.id), services.ensure_worker()))
    if st.button(
        "Repeat",
        icon=":material/replay:",
        key="history_repeat",
        help="Run the same again from the start, as a new run; a sample keeps its seed.",
    ):
        act(
            lambda: (
                services.store.repeat(run.id, session_name()),
                services.ensure_worker(),
                st.toast("Repeated as a new run; see above."),
            )
        )


def _keeping(services: Services, run: RunRecord) -> None:
    label, icon = ("Unpin", ":material/keep_off:") if run.pinned else ("Pin", ":material/keep:")
    if st.button(label, icon=icon, key="history_pin", help="Pinned runs stay above the others."):
        act(lambda: services.store.pin(run.id, not run.pinned))


def _file(services: Services, run: RunRecord) -> None:
    if not run.is_live:
        too_many = run.row_count > MOST_ROWS
        st.download_button(
            "Export",
            data=file_or_refusal(run.id, lambda: write_run(run, stored_rows(services.store, run.id, run.row_count))),
            file_name=f"relens-{run.id[:8]}{SUFFIX}",
            mime="application/gzip",
            on_click="ignore",
            icon=":material/download:",
            key="history_export",
            disabled=too_many,
            help=f"This run has {run.row_count:,} rows; the file of a run may have {MOST_ROWS:,}."
            if too_many
            else "One file with the question, all rows, the seed, the model's fingerprint and the versions. Another "
            "installation can import and repeat it. It does not contain the files and models named in the question.",
        )


def _deleting(services: Services, runs: Sequence[RunRecord]) -> None:
    if st.button(
        "Delete",
        icon=":material/delete:",
        key="history_delete",
        help="Remove it from the list; a live run is stopped. You can undo this.",
    ):
        st.session_state[_UNDO] = [(run.id, title(run)) for run in runs]
        act(lambda: [services.store.delete(run.id) for run in runs])
