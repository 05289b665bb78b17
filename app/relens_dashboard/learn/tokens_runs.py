"""The two questions of the page to the model, each a run of its own: submitted, followed, shown.

    /tokens?run=4f3a&samples=77c1       one run scores the encodings of the text, the other samples texts

Both runs are in the address, so a link or a reload brings both back. Each is a fragment alone in its container that
looks again while its run lives (see `relens_dashboard.components.ticker`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from relens.counted import counted
from relens.errors import QueryError, RelensError
from relens.runs.records import RunRecord
from relens.runs.specification import StudySpecification
from relens.studies.encodings import EncodingsStudy
from relens.studies.encodings_findings import EncodingsFindings, encodings_findings
from relens_dashboard import lesson_parameters as parameters
from relens_dashboard import links, narrative
from relens_dashboard.charts import CONFIG, Chart
from relens_dashboard.components.addressed_run import addressed_study
from relens_dashboard.components.pin_button import pin_button
from relens_dashboard.components.ticker import ticker
from relens_dashboard.glossary import term
from relens_dashboard.learn.tokens_figures import encoding_bars, encodings_table, examples_table, samples_figure
from relens_dashboard.messages import show_error, show_warning
from relens_dashboard.narrative import duration_text
from relens_dashboard.present.finding import Finding
from relens_dashboard.present.pinned import page_finding
from relens_dashboard.run_rows import READ_ON, RunRows, read_rows
from relens_dashboard.runs.imported import made_of
from relens_dashboard.services import Services
from relens_dashboard.session import session_name
from relens_dashboard.text import as_html, as_markdown, shortened

_LOOK_EVERY = 1.0

_TABLE_HELP = {
    "Place": "By probability: the likeliest encoding is first.",
    "Tokens": "The tokens of this encoding; ␣ is a space.",
    "How many": "Tokens in this encoding.",
    "Probability": "That of exactly these tokens, one after the other.",
    "Share": "Of the probability of all scored encodings.",
    "log P": term("log-probability"),
    "Canonical": "Whether the tokenizer gives these tokens.",
    "Before": "The tokens just before the difference.",
    "The model sampled": "The sampled tokens.",
    "The tokenizer gives": "The canonical encoding of the same text.",
}
_FORMATS: dict[str, Any] = {"Share": "%.3g", "log P": "%.2f", "Place": "localized", "How many": "localized"}


@dataclass(frozen=True)
class ModelQuestion:
    """One of the two questions. parameter: the name of its run in the address; draw: its figure and its table."""

    parameter: str
    button: str
    icon: str
    help: str
    empty: str
    draw: Callable[[Services, RunRecord, RunRows, EncodingsFindings], None]


def model_question(services: Services, question: ModelQuestion, specification: StudySpecification | None) -> None:
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
                st.caption("The run below has other settings.")
            st.fragment(_follow, key=f"tokens_follow_{question.parameter}")(services, question, shown.id, is_live)


def _submit(services: Services, question: ModelQuestion, specification: StudySpecification) -> None:
    try:
        run_id = services.store.submit(specification, session_name())
    except RelensError as error:
        show_error(error)
        return
    services.ensure_worker()
    st.query_params[question.parameter] = run_id
    st.rerun()


def _follow(services: Services, question: ModelQuestion, run_id: str, was_live: bool) -> None:
    try:
        run = services.store.get(run_id)
        if run is None:
            show_warning("This run is no longer in the store.")
            return
        run_rows = read_rows(services.store, run)
        position = services.store.queue_position(run_id) if run.status == "queued" else None
        study = _study(run)
    except RelensError as error:
        show_error(error)
        # A store that is too busy to answer now may do so then.
        ticker(_LOOK_EVERY, key=f"tokens_looking_{question.parameter}")
        return
    _status(services, question, run, position, _subject(study))
    try:
        with made_of(run):
            _findings(services, question, run, study, run_rows)
    except QueryError as error:
        show_error(error)
    pace = READ_ON if not run_rows.is_read else _LOOK_EVERY if run.is_live else None
    ticker(pace, key=f"tokens_looking_{question.parameter}")
    if was_live != run.is_live:
        st.rerun()


def _study(run: RunRecord) -> EncodingsStudy:
    study = StudySpecification.from_json(run.specification).study
    assert isinstance(study, EncodingsStudy)  # `addressed_study` takes no other
    return study


def _findings(
    services: Services, question: ModelQuestion, run: RunRecord, study: EncodingsStudy, run_rows: RunRows
) -> None:
    """The findings so far, in sentences and drawn."""
    if not run_rows.is_whole:
        st.info(as_markdown(run_rows.cut_sentence() or run_rows.reading_sentence()))
        return
    findings = run_rows.remember("findings", lambda: encodings_findings(run_rows.rows, study))
    if findings.verdict:
        items = "".join(
            f"<p{'' if place == 0 else ' class=minor'}>{as_html(sentence)}</p>"
            for place, sentence in enumerate(findings.verdict)
        )
        st.html(
            f'<div class="relens-findings study" data-run-status="{as_html(run.status)}"'
            f' data-tokens-verdict="{as_html(question.parameter)}">{items}</div>'
        )
    question.draw(services, run, run_rows, findings)


def _subject(study: EncodingsStudy) -> str:
    """The text or the samples of the run; the fields above may have changed since."""
    if study.text:
        before = f" after “{shortened(study.prefix, 60)}”" if study.prefix else ""
        return f"“{shortened(study.text, 60)}”{before}"
    prompts = f" after {counted(len(study.prompts), 'prompt')}" if study.prompts else ""
    return f"{counted(study.samples, 'text')} of {study.sample_tokens} tokens{prompts}"


def _status(services: Services, question: ModelQuestion, run: RunRecord, position: int | None, subject: str) -> None:
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
            help="Stop the run; its findings so far stay.",
        ):
            try:
                services.store.request_stop(run.id)
            except RelensError as error:
                show_error(error)


def _draw_probabilities(services: Services, run: RunRecord, run_rows: RunRows, findings: EncodingsFindings) -> None:
    """Bars and table of the encodings scored so far."""
    if not findings.encodings:
        return
    bars = run_rows.remember("bars", lambda: encoding_bars(findings))
    _chart(bars, "tokens_bars", run)
    _pin(services, "How likely each encoding is", bars, findings, run)
    table = run_rows.remember("table", lambda: encodings_table(findings))
    _table(table, "tokens_table", f"{len(findings.encodings):,} encodings by probability")


def _draw_samples(services: Services, run: RunRecord, run_rows: RunRows, findings: EncodingsFindings) -> None:
    """The share as it settles, and the samples that differ."""
    if not findings.compared:
        return
    settling = run_rows.remember("settling", lambda: samples_figure(findings))
    _chart(settling, "tokens_samples", run)
    _pin(services, "How often the model writes non-canonically", settling, findings, run)
    if findings.examples:
        st.markdown("**Where the model wrote other tokens than the tokenizer's**")
        examples = run_rows.remember("examples", lambda: examples_table(findings))
        _table(examples, "tokens_examples", "Samples that are not canonical")


def _chart(chart: Chart, key: str, run: RunRecord) -> None:
    options = {"toImageButtonOptions": {"format": "svg", "filename": f"relens-{run.id[:8]}"}}
    st.plotly_chart(chart.figure, key=key, config=CONFIG | options, alt=chart.alt)


def _pin(services: Services, title: str, chart: Chart, findings: EncodingsFindings, run: RunRecord) -> None:
    def finding() -> Finding:
        return page_finding(
            title,
            findings.verdict or [chart.alt],
            chart.figure,
            chart.alt,
            page="tokens",
            question=EncodingsStudy.question,
            model=run.model,
            look_at=chart.alt,
            run=run.id,
        )

    pin_button(services, finding, key=f"pin_{title}")


def _table(frame: pd.DataFrame, key: str, alt: str) -> None:
    height = "content" if len(frame) <= 8 else 320
    columns = {name: _column(str(name)) for name in frame.columns}
    st.dataframe(frame, key=key, hide_index=True, height=height, alt=alt, column_config=columns)


def _column(name: str) -> Any:
    help = _TABLE_HELP.get(name)
    if name == "Canonical":
        return st.column_config.CheckboxColumn(help=help)
    if format := _FORMATS.get(name):
        return st.column_config.NumberColumn(format=format, help=help)
    return st.column_config.TextColumn(help=help)


PROBABILITIES = ModelQuestion(
    parameter=links.RUN,
    button="Ask the model",
    icon=":material/play_arrow:",
    help="Score every encoding of the text with the model, the likeliest first, as far as the limits go.",
    empty="No run yet. It gives the probability of each encoding, and the share of the canonical one.",
    draw=_draw_probabilities,
)
SAMPLES = ModelQuestion(
    parameter=parameters.SAMPLES,
    button="Let the model write",
    icon=":material/edit:",
    help="Sample texts from the model, encode each again, and count those with other tokens.",
    empty="No run yet. The model samples texts token by token, and each is compared with its canonical encoding.",
    draw=_draw_samples,
)
