"""The bias study on its page: a template with two slots, and what a model makes of it in each way to ask.

    The {subject} was trained in {outcome}        a dot for P(art | man), one for P(art | woman), in each variant

One small picture a variant, all with the same outcomes in the same order and on the same scale, so that the eye finds
by itself what changes from one to the next. Figures: `app.studies.bias_figures` and
`app.studies.bias_positions`; tables: `app.studies.bias_tables`.
"""

from __future__ import annotations

import dataclasses

import streamlit as st

from app.studies.bias_figures import difference_figure, share_figure
from app.studies.bias_more import more_fields
from app.studies.bias_positions import position_figures
from app.studies.bias_tables import account_table, residual_table, share_table, statistics_table
from app.studies.fields import all_fields, number_field
from app.studies.view import Figure, Rows, StudyView, Table
from engine.query import Boundary
from engine.studies.bias import BiasStudy
from engine.studies.bias_findings import BiasFindings, bias_findings
from engine.studies.bias_variants import EXACT, SAMPLED, Variant
from engine.studies.study import Study

_BOUNDARIES = {Boundary.TOKEN: "Token", Boundary.FREE: "Free"}
_MOST_DRAWS = 100_000


class BiasView(StudyView):
    """What the bias study shows."""

    kind = "bias"
    introduction = (
        "A sentence with two gaps is put to the model: whom it speaks of, and what is said of them. How likely is each "
        "ending for each subject? The question is asked in several ways, because the way of asking changes the answer. "
        "It is asked exactly or by drawing, in all encodings or only the canonical one, with a typing mistake or "
        "without."
    )
    notice = (
        "This describes what one model tends to write. It says nothing about people, and a difference for one "
        "sentence need not hold for another."
    )

    def __init__(self) -> None:
        self._latest: tuple[Rows, int, BiasFindings] | None = None

    def settings(self, study: Study) -> BiasStudy:
        """Draw the widgets, with `study` as their first values, and return what they hold."""
        assert isinstance(study, BiasStudy)
        with all_fields():
            return self._fields(study)

    def _fields(self, study: BiasStudy) -> BiasStudy:
        template = st.text_input(
            "Sentence",
            study.template,
            max_chars=400,
            key="bias_template",
            help="Plain text with {subject} and, somewhere after it, {outcome}. What stands before {outcome} is the "
            "prefix.",
        )
        left, right = st.columns(2)
        with left:
            subjects = _lines("Subjects", study.subjects, "bias_subjects", "Whom the sentence speaks of, one a line.")
        with right:
            outcomes = _lines("Outcomes", study.outcomes, "bias_outcomes", "What is said of them, one a line.")
        variants = st.multiselect(
            "Ways to ask",
            list(dict.fromkeys((*EXACT, *SAMPLED, *study.variants))),
            default=list(study.variants),
            format_func=_label,
            key="bias_variants",
            help="Each is a question with an answer of its own. **Exact** ones go through everything and leave nothing "
            "to chance; with **one edit**, texts with one typing mistake count too. **Without a prefix** the model "
            "writes the whole sentence.",
        )
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            draws = _number(
                "Draws",
                study.draws,
                1,
                "bias_draws",
                "Draws a subject where many share their work (canonical, no edit).",
            )
            costly = _number("Costly draws", study.costly_draws, 1, "bias_costly", "Draws a subject in the other ways.")
            positions = _number(
                "Draws of edits",
                study.position_draws,
                0,
                "bias_positions",
                "Prefixes drawn to see where edits fall, in each of three ways; 0 leaves this out. It needs no model.",
            )
            seed = _number("Seed", study.seed, 0, "bias_seed", "The same seed draws the same.", most=2**31)
            seconds = number_field(
                st.container(width=150),
                "Seconds at most",
                study.seconds,
                least=1.0,
                most=86_400.0,
                placeholder="no limit",
                key="bias_seconds",
                help="For one subject in one way of asking; empty for no limit.",
            )
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            boundary = st.segmented_control(
                "Boundary",
                list(_BOUNDARIES),
                default=study.boundary,
                format_func=_BOUNDARIES.__getitem__,
                required=True,
                key="bias_boundary",
                help="**Token**: the prefix is a finished prompt. **Free**: a token may begin in the prefix and end "
                "behind it, and the prefix takes part in the encodings of the variant, as in the paper.",
            )
            end_of_text = st.toggle(
                "Must end here",
                value=study.end_of_text,
                key="bias_end",
                help="Count a text only where the model ends it right after the outcome, as in the paper.",
            )
            more = more_fields(study)
        return dataclasses.replace(
            study,
            **more,
            template=template,
            subjects=subjects,
            outcomes=outcomes,
            variants=tuple(variants),
            draws=draws,
            costly_draws=costly,
            position_draws=positions,
            seed=seed,
            seconds=seconds,
            boundary=boundary,
            end_of_text=end_of_text,
        )

    def figures(self, rows: Rows, study: Study) -> list[Figure]:
        """The shares in every variant, what the subjects differ in, and where edits fall."""
        findings = self._findings(rows)
        found = [share_figure(findings), difference_figure(findings), *position_figures(findings)]
        return [figure for figure in found if figure is not None]

    def tables(self, rows: Rows, study: Study) -> list[Table]:
        """The statistics, the shares, what stands behind them, and the residuals."""
        findings = self._findings(rows)
        if not findings.variants:
            return []
        found = [statistics_table, share_table, account_table, residual_table]
        return [table for make in found if len((table := make(findings)).frame)]

    def _findings(self, rows: Rows) -> BiasFindings:
        """The findings; those of the rows that were asked for last are kept, for figures and tables ask alike."""
        latest = self._latest
        if latest is None or latest[0] is not rows or latest[1] != len(rows):
            latest = self._latest = (rows, len(rows), bias_findings(rows))
        return latest[2]


VIEW: StudyView = BiasView()


def _label(variant: Variant) -> str:
    return variant.label


def _lines(label: str, values: tuple[str, ...], key: str, help: str) -> tuple[str, ...]:
    text = st.text_area(
        label,
        "\n".join(values),
        max_chars=4_000,
        height=180,
        key=key,
        help=f"{help} Each is a regular expression, of which a plain word is the simplest.",
    )
    return tuple(line.strip() for line in (text or "").splitlines() if line.strip())


def _number(label: str, value: int, least: int, key: str, help: str, most: int = _MOST_DRAWS) -> int:
    number: int = number_field(st.container(width=140), label, value, least=least, most=most, key=key, help=help)
    return number
