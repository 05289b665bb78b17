"""Studies of one kind side by side: their verdicts, the questions on which they disagree, their figures by title."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from relens.errors import QueryError
from relens.runs.paired_tests import paired_differences
from relens.runs.records import RunRecord
from relens.runs.specification import StudySpecification
from relens.studies.masking import Masker
from relens.studies.study import Study
from relens_dashboard import charts
from relens_dashboard.compare.paired import COLUMN_HELP, paired_sentences, paired_table
from relens_dashboard.compare.words import letter
from relens_dashboard.components.compared_rows import compared_rows
from relens_dashboard.components.pin_button import pin_button
from relens_dashboard.components.study_findings import remembered_findings
from relens_dashboard.messages import show_error
from relens_dashboard.present.pinned import study_finding
from relens_dashboard.run_rows import RunRows
from relens_dashboard.runs.imported import made_of
from relens_dashboard.services import Services
from relens_dashboard.studies.view import Figure, Rows, StudyView
from relens_dashboard.study_views import study_views
from relens_dashboard.text import as_html, as_markdown

#: Figures in a row; more would be too small to read.
_FIGURES_A_ROW = 2


@dataclass(frozen=True, eq=False)
class _Compared:
    """One of the runs: its study, its rows and its findings."""

    run: RunRecord
    study: Study
    rows: Rows
    verdict: Sequence[str]
    figures: Sequence[Figure]
    mask: Masker | None


def compare_studies(services: Services, runs: Sequence[RunRecord]) -> bool:
    """Show them (nothing for a study without a page); returns whether there is more to read."""
    view = study_views().get(runs[0].variety)
    if view is None:
        st.info("This study has no figures here.", icon=":material/info:")
        return False
    run_rows, waits = compared_rows(services, runs)
    if not run_rows:
        return waits
    if view.notice:
        st.caption(as_markdown(view.notice))
    st.header("Verdicts", anchor=False)
    compared = []
    for column, (place, run) in zip(st.columns(len(runs), gap="medium"), enumerate(runs), strict=True):
        study = StudySpecification.from_json(run.specification).study
        verdict: Sequence[str] = ()
        figures: Sequence[Figure] = ()
        mask, refused = view.mask(study), None
        try:
            with made_of(run):
                # As on the study's own page, where one switch sets the mask.
                findings = remembered_findings(view, study, run_rows[place], (mask is None,))
                verdict, figures = findings.verdict, findings.figures
        except QueryError as error:
            verdict, refused = (), error
        compared.append(_Compared(run, study, run_rows[place].rows if refused is None else (), verdict, figures, mask))
        sentences = verdict if mask is None else tuple(map(mask, verdict))
        with column:
            st.html(
                f'<div class="relens-findings" data-compared-verdict="{letter(place)}">'
                f'<p><span class="relens-letter">{letter(place)}</span></p>'
                + "".join(f"<p>{as_html(sentence)}</p>" for sentence in sentences or _nothing(refused))
                + "</div>"
            )
            if refused is not None:
                show_error(refused)
    _question_by_question(runs[0].variety, compared, run_rows)
    _figures(services, view, compared)
    return False


def _question_by_question(kind: str, compared: Sequence[_Compared], run_rows: Sequence[RunRows]) -> None:
    """The questions that two runs decide differently, and whether that is more than chance."""
    try:
        with contextlib.ExitStack() as care:
            for one in compared:
                care.enter_context(made_of(one.run))
            key = ("paired", tuple((one.run_id, len(one.rows)) for one in run_rows))
            differences = run_rows[0].remember(key, lambda: paired_differences(kind, [one.rows for one in compared]))
    except QueryError:
        return  # the error of these rows is shown above
    if not differences:
        return
    st.header("Question by question", anchor=False)
    for sentence in paired_sentences(differences, kind):
        st.markdown(as_markdown(sentence))
    st.dataframe(
        paired_table(differences, kind),
        key="compare_paired",
        hide_index=True,
        height="content",
        alt="Pairs of runs on the questions that both decided",
        column_config={
            name: st.column_config.NumberColumn(format="%.2g" if name == "p" else "localized", help=help)
            for name, help in COLUMN_HELP.items()
        },
    )


def _nothing(refused: QueryError | None) -> tuple[str, ...]:
    return ("Nothing is done yet.",) if refused is None else ()


def _figures(services: Services, view: StudyView, compared: Sequence[_Compared]) -> None:
    """The figures, those of the same title next to each other."""
    for name in dict.fromkeys(figure.title for one in compared for figure in one.figures):
        st.header(as_markdown(name), anchor=False)
        having = [
            (place, figure) for place, one in enumerate(compared) for figure in one.figures if figure.title == name
        ]
        for start in range(0, len(having), _FIGURES_A_ROW):
            columns = st.columns(_FIGURES_A_ROW, gap="medium")
            for column, (place, figure) in zip(columns, having[start : start + _FIGURES_A_ROW], strict=False):
                with column:
                    st.html(f'<span class="relens-letter">{letter(place)}</span>')
                    st.caption(as_markdown(figure.sentence))
                    st.plotly_chart(
                        figure.chart.figure,
                        key=f"compare_figure_{name}_{place}",
                        config=charts.CONFIG,
                        alt=f"{letter(place)}: {figure.chart.alt}",
                    )
                    one = compared[place]
                    pin_button(
                        services,
                        lambda one=one, figure=figure: study_finding(
                            one.run, one.study, figure, one.verdict, view.notice
                        ),
                        key=f"pin_{name}_{place}",
                        mask=one.mask,
                    )
        missing = [letter(place) for place in range(len(compared)) if place not in {place for place, _ in having}]
        if missing:
            st.caption(f"{', '.join(missing)} has no such figure.")
