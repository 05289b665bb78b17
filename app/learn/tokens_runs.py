"""The two questions of the page that need the model, each a run of its own: submitted, followed, shown.

Both runs are in the address, under names of their own, so a link or a reload brings both back. Each is a fragment alone
in its container that looks again while its run lives (see `app.components.ticker`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from app import links, narrative
from app.charts import CONFIG, Chart
from app.components.addressed_run import addressed_study
from app.components.messages import show_error, show_warning
from app.components.pin_button import pin_button
from app.components.study_findings import counting_rows
from app.components.ticker import ticker
from app.glossary import term
from app.learn import parameters
from app.learn.tokens_figures import Rows, encoding_bars, encodings_table, examples_table, samples_figure
from app.narrative import duration_text
from app.present.finding import Finding
from app.present.pinned import page_finding
from app.run_rows import READ_ON, RunRows, read_rows
from app.runs.imported import made_of
from app.services import Services
from app.session import session_name
from app.text import as_html, as_markdown, shortened
from engine.counted import counted
from engine.errors import QueryError, RelensError
from engine.runs.records import RunRecord
from engine.runs.specification import StudySpecification
from engine.studies.encodings import EncodingsStudy
from engine.studies.encodings_findings import encodings_findings
from engine.studies.study import Study

_LOOK_EVERY = 1.0

_TABLE_HELP = {
    "Place": "By probability: no encoding comes before one that beats it.",
    "Tokens": "The tokens of this encoding; ␣ is a space.",
    "How many": "Tokens in this encoding.",
    "Probability": "That the model writes exactly these tokens, one after the other.",
    "Share": "Of the probability of all encodings that were found.",
    "log P": term("log-probability"),
    "Canonical": "Whether the tokenizer itself gives these tokens.",
    "Before": "The tokens just before the difference.",
    "The model sampled": "The tokens that the model drew.",
    "The tokenizer gives": "The tokens of the same text when it is encoded.",
}


@dataclass(frozen=True)
class Asked:
    """One of the two questions. parameter: the name of its run in the address; shows: what its rows draw."""

    parameter: str
    button: str
    icon: str
    help: str
    empty: str
    shows: Callable[[Services, RunRecord, RunRows], None]


def asked(services: Services, question: Asked, specification: StudySpecification | None) -> None:
    """The button, and the run below it."""
    shown = addressed_study(services, EncodingsStudy.kind, question.parameter)
    is_live = shown is not None and shown.is_live
    pressed = st.button(
        question.button,
        type="secondary" if shown is not None else "primary",
        icon=question.icon,
        disabled=specification is None or is_live,
        key=f"tokens_ask_{question.parameter}",
        help=question.help,
    )
    if pressed and specification is not None:
        _submit(services, question, specification)
    with st.container():
        if shown is None:
            st.caption(question.empty)
        else:
            if specification is not None and shown.specification != specification.to_json():
                st.caption("The answer below is to other settings.")
            st.fragment(_follow, key=f"tokens_follow_{question.parameter}")(services, question, shown.id, is_live)


def _submit(services: Services, question: Asked, specification: StudySpecification) -> None:
    try:
        run_id = services.store.submit(specification, session_name())
    except RelensError as error:
        show_error(error)
        return
    services.ensure_worker()
    st.query_params[question.parameter] = run_id
    st.rerun()


def _follow(services: Services, question: Asked, run_id: str, was_live: bool) -> None:
    try:
        run = services.store.get(run_id)
        if run is None:
            show_warning("This run is no longer in the store.")
            return
        found = read_rows(services.store, run)
        position = services.store.queue_position(run_id) if run.status == "queued" else None
        study = StudySpecification.from_json(run.specification).study
    except RelensError as error:
        show_error(error)
        # A store that is too busy to answer now may do so then.
        ticker(_LOOK_EVERY, key=f"tokens_looking_{question.parameter}")
        return
    _status(services, question, run, position, _subject(study))
    try:
        with made_of(run):
            _shown(services, question, run, study, found)
    except QueryError as error:
        show_error(error)
    pace = READ_ON if not found.is_read else _LOOK_EVERY if run.is_live else None
    ticker(pace, key=f"tokens_looking_{question.parameter}")
    if was_live != run.is_live:
        st.rerun()


def _shown(services: Services, question: Asked, run: RunRecord, study: Study, found: RunRows) -> None:
    """What the rows say, in sentences and drawn."""
    if not found.is_whole:
        st.info(as_markdown(found.cut_sentence() or found.reading_sentence()))
        return
    rows = counting_rows(found)
    sentences = found.remember("verdict", lambda: study.verdict(rows))
    if sentences:
        items = "".join(
            f"<p{'' if place == 0 else ' class=minor'}>{as_html(said)}</p>" for place, said in enumerate(sentences)
        )
        st.html(
            f'<div class="relens-findings study" data-run-status="{as_html(run.status)}"'
            f' data-tokens-verdict="{as_html(question.parameter)}">{items}</div>'
        )
    question.shows(services, run, found)


def _subject(study: Study) -> str:
    """What the run is about, since the fields above may hold something else by now."""
    if not isinstance(study, EncodingsStudy):
        return ""
    if study.text:
        before = f" after “{shortened(study.prefix, 60)}”" if study.prefix else ""
        return f"“{shortened(study.text, 60)}”{before}"
    prompts = f" after {counted(len(study.prompts), 'prompt')}" if study.prompts else ""
    return f"{counted(study.samples, 'text')} of {study.sample_tokens} tokens{prompts}"


def _status(services: Services, question: Asked, run: RunRecord, position: int | None, subject: str) -> None:
    headline = f"{subject} · {narrative.status_headline(run, position)}"
    if not run.is_live:
        seconds = run.progress.get("seconds_total")
        took = f" · {duration_text(float(seconds))}" if seconds is not None else ""
        st.caption(as_markdown(f"{headline}{took}{f': {run.error}' if run.error else ''}"))
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(as_markdown(f"{headline} · {counted(run.row_count, 'row')}"))
        if st.button(
            "Stop",
            icon=":material/stop:",
            disabled=run.stop_requested,
            key=f"tokens_stop_{question.parameter}",
            help="Leave off; what was found stays.",
        ):
            try:
                services.store.request_stop(run.id)
            except RelensError as error:
                show_error(error)


def show_probabilities(services: Services, run: RunRecord, found: RunRows) -> None:
    """Bars and table of the encodings found so far."""
    rows = counting_rows(found)
    findings = found.remember("encodings", lambda: encodings_findings(rows))
    if not findings.found:
        return
    bars = found.remember("bars", lambda: encoding_bars(rows, findings))
    _chart(bars, "tokens_bars", run)
    _pin(services, "How likely each encoding is", bars, rows, run)
    table = found.remember("table", lambda: encodings_table(rows))
    _table(table, "tokens_table", f"{findings.found:,} encodings by probability", shares=("Share",))


def show_samples(services: Services, run: RunRecord, found: RunRows) -> None:
    """The share as it settles, and the samples that differ."""
    rows = counting_rows(found)
    findings = found.remember("encodings", lambda: encodings_findings(rows))
    if findings.other_share is None:
        return
    settling = found.remember("settling", lambda: samples_figure(rows, findings))
    _chart(settling, "tokens_samples", run)
    _pin(services, "How often the model writes non-canonically", settling, rows, run)
    examples = found.remember("examples", lambda: examples_table(rows))
    if len(examples):
        st.markdown("**Where the model wrote other tokens than the tokenizer's**")
        _table(examples, "tokens_examples", "Samples that are not canonical")


def _chart(chart: Chart, key: str, run: RunRecord) -> None:
    options = {"toImageButtonOptions": {"format": "svg", "filename": f"relens-{run.id[:8]}"}}
    st.plotly_chart(chart.figure, key=key, config=CONFIG | options, alt=chart.alt)


def _pin(services: Services, title: str, chart: Chart, rows: Rows, run: RunRecord) -> None:
    def finding() -> Finding:
        study = StudySpecification.from_json(run.specification).study
        return page_finding(
            title,
            [*study.verdict(rows)] or [chart.alt],
            chart.figure,
            chart.alt,
            page="tokens",
            asked=study.question,
            model=run.model,
            look_at=chart.alt,
            run=run.id,
        )

    pin_button(services, finding, key=f"pin_{title}")


def _table(frame, key: str, alt: str, shares: Sequence[str] = ()) -> None:
    columns = {}
    for name in frame.columns:
        told = _TABLE_HELP.get(str(name))
        if name in shares:
            columns[name] = st.column_config.NumberColumn(format="%.3g", help=told)
        elif name == "Canonical":
            columns[name] = st.column_config.CheckboxColumn(help=told)
        elif name == "log P":
            columns[name] = st.column_config.NumberColumn(format="%.2f", help=told)
        elif name in ("Place", "How many"):
            columns[name] = st.column_config.NumberColumn(format="localized", help=told)
        else:
            columns[name] = st.column_config.TextColumn(help=told)
    height = "content" if len(frame) <= 8 else 320
    st.dataframe(frame, key=key, hide_index=True, height=height, alt=alt, column_config=columns)


PROBABILITIES = Asked(
    parameter=links.RUN,
    button="Ask the model",
    icon=":material/play_arrow:",
    help="Let the model score every encoding of the text, the likeliest first, as far as the limits go.",
    empty="Not asked yet. The model then says how likely it finds each encoding, and how much the canonical one holds.",
    shows=show_probabilities,
)
SAMPLES = Asked(
    parameter=parameters.SAMPLES,
    button="Let the model write",
    icon=":material/edit:",
    help="Draw texts from the model, encode each again, and count those that come out in other tokens.",
    empty="Not tried yet. The model then writes texts token by token, and each is compared with the tokenizer's own.",
    shows=show_samples,
)
