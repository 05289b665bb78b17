"""The findings of a study: sentences first, then figures, then tables; and their files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd
import streamlit as st

from relens.counted import counted
from relens.runs.records import MOST_ROWS, RunRecord
from relens.runs.specification import StudySpecification
from relens.studies.rows import done_units
from relens.studies.study import Findings, Study
from relens_dashboard import charts
from relens_dashboard.components.pager import paged_lines
from relens_dashboard.components.pin_button import pin_button
from relens_dashboard.glossary import column_help
from relens_dashboard.present.pinned import study_finding
from relens_dashboard.report import study_report
from relens_dashboard.run_rows import RunRows, stored_rows
from relens_dashboard.services import Services
from relens_dashboard.studies.view import Figure, StudyView, Table
from relens_dashboard.study_files import StudyFormat, file_name, study_file
from relens_dashboard.study_snippets import study_command, study_python
from relens_dashboard.text import as_html, as_markdown

_FILES: tuple[tuple[StudyFormat, str, str], ...] = (
    ("csv", "CSV", "text/csv"),
    ("parquet", "Parquet", "application/vnd.apache.parquet"),
)
#: Sentences of the verdict that stand out; those behind them are smaller.
_FIRST = 2


@dataclass(frozen=True, eq=False)
class StudyFound:
    """The findings of a run's rows, with the page's figures and tables."""

    run_id: str
    findings: Findings
    verdict: tuple[str, ...]
    figures: tuple[Figure, ...]
    tables: tuple[Table, ...]


def remembered_findings(view: StudyView, study: Study, found: RunRows, switches: tuple[bool, ...]) -> StudyFound:
    """The findings of these rows, made once for all sessions with the same switches of the view.

    No verdict as long as no unit is done. Raises the errors of the engine.
    """

    def find() -> StudyFound:
        findings = found.remember("findings", lambda: study.findings(found.rows))
        return StudyFound(
            run_id=found.run_id,
            findings=findings,
            verdict=findings.verdict if done_units(found.rows) else (),
            figures=tuple(view.figures(findings, study)),
            tables=tuple(view.tables(findings, study)),
        )

    return found.remember(("study", switches), find)


def findings(found: StudyFound) -> None:
    """The sentences of the verdict."""
    items = [
        f"<p>{as_html(sentence)}</p>" if place < _FIRST else f'<p class="minor">{as_html(sentence)}</p>'
        for place, sentence in enumerate(found.verdict)
    ]
    if items:
        st.html(f'<div class="relens-findings study" data-study-verdict="{len(items)}">{"".join(items)}</div>')


def show_figures(services: Services, view: StudyView, run: RunRecord, study: Study, found: StudyFound) -> None:
    """The figures, each under its title and its sentence, to be pinned for a talk."""
    mask = view.mask(study)
    config = charts.saved_as(str(st.session_state.get("study_pictures", "SVG")).lower(), f"relens-{found.run_id[:8]}")
    for place, figure in enumerate(found.figures):
        st.header(as_markdown(figure.title), anchor=False)
        st.caption(as_markdown(figure.sentence))
        st.plotly_chart(figure.chart.figure, key=f"study_figure_{place}", config=config, alt=figure.chart.alt)
        pin_button(
            services,
            lambda figure=figure: study_finding(run, study, figure, found.verdict, view.notice),
            key=f"pin_figure_{place}",
            mask=mask,
        )


def show_tables(found: StudyFound) -> None:
    """The tables, one at a time."""
    if not found.tables:
        return
    st.header("Tables", anchor=False)
    for tab, table in zip(st.tabs([as_markdown(table.title) for table in found.tables]), found.tables, strict=True):
        with tab:
            _table(table)


def _table(table: Table) -> None:
    def draw(start: int, stop: int) -> None:
        frame = table.frame.iloc[start:stop]
        st.dataframe(
            frame,
            key=f"study_table_{table.title}_{start}",
            hide_index=True,
            height="content" if len(frame) <= 12 else 430,
            alt=f"{table.title}: {counted(len(frame), 'line')}",
            column_config={
                name: _column(frame[name], column_help(str(name), table.help.get(str(name)))) for name in frame.columns
            },
        )

    paged_lines(len(table.frame), draw, key=f"study_lines_{table.title}")


def _column(values: pd.Series, help: str | None) -> Any:
    if values.dtype == bool:
        return st.column_config.CheckboxColumn(help=help)
    if pd.api.types.is_numeric_dtype(values):
        whole = bool((values.dropna() % 1 == 0).all())
        return st.column_config.NumberColumn(format="localized" if whole else "%.4g", help=help)
    return st.column_config.TextColumn(help=help)


def downloads(
    services: Services,
    view: StudyView,
    run: RunRecord,
    specification: StudySpecification,
    rows: RunRows,
    found: StudyFound | None,
) -> None:
    """The report, the rows as files, the same in Python and in a terminal, and how pictures are saved.

    found: None where the rows are not all here; then there is no report, and the files have the first rows.
    """
    # Looked up now: a file is made outside any session.
    mask = view.mask(specification.study)
    hidden = "" if mask is None else " Words are masked in it, as on this page."
    which = f"The first {MOST_ROWS:,} rows of this run" if rows.is_cut else "All rows of this run so far"
    first = f"-first-{MOST_ROWS}" if rows.is_cut else ""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        if found is not None:
            st.download_button(
                "Report",
                data=lambda: study_report(run, specification, view, found.verdict, found.figures, found.tables, mask),
                file_name=file_name(view.kind, run.id, "html", mask),
                mime="text/html",
                on_click="ignore",
                key="study_report",
                icon=":material/description:",
                help="One HTML file with everything on this page: settings, findings, and how to repeat the study."
                + hidden,
            )
        for format, label, mime in _FILES:
            st.download_button(
                label,
                # Rows are fetched when the button is pressed: a page that is left open keeps none.
                data=lambda format=format: study_file(stored_rows(services.store, run.id), format, mask),
                file_name=file_name(view.kind, run.id, format, mask, first),
                mime=mime,
                on_click="ignore",
                key=f"study_file_{format}",
                icon=":material/download:",
                help=f"{which}, as {label}.{hidden}",
            )
        repeat = st.popover("Repeat elsewhere", icon=":material/code:", key="study_repeat_elsewhere", on_change="rerun")
        if repeat.open:
            with repeat:
                st.caption("The same in Python")
                st.code(study_python(specification, mask), language="python", wrap_lines=True)
                st.caption("The same in a terminal")
                st.code(study_command(specification, mask), language="bash", wrap_lines=True)
        if found is None:
            return  # there are no pictures to save
        options: tuple[Literal["SVG", "PNG"], ...] = ("SVG", "PNG")
        st.segmented_control(
            "Pictures",
            options,
            default="SVG",
            required=True,
            key="study_pictures",
            help="The format of the camera button above a figure. SVG stays sharp at any size; PNG is made of pixels.",
        )
