"""The findings of a finished run in sentences, and a link to the other traversal of the same query."""

from __future__ import annotations

import dataclasses

import streamlit as st

from relens.errors import QueryError
from relens.query import Distribution, Encoding, Sampling, ShortestPath
from relens.runs.records import RunRecord
from relens.runs.specification import SearchSpecification
from relens.traversal.summaries import group_names
from relens_dashboard import findings, narrative
from relens_dashboard.components.fill import query_link
from relens_dashboard.components.result_lines import groups_of_view
from relens_dashboard.components.result_view import default_view
from relens_dashboard.form import DISTRIBUTION, SAMPLE, Form
from relens_dashboard.run_rows import RunRows
from relens_dashboard.tables import group_column
from relens_dashboard.text import as_html

_OTHER = {
    Sampling.kind: (DISTRIBUTION, "Exact distribution", "The same query with exact shares instead of a sample."),
    Distribution.kind: (SAMPLE, "Sample it", "The same query with a sample of the model's draws."),
}


def conclusions(run: RunRecord, run_rows: RunRows) -> None:
    """Show the sentences."""
    html = run_rows.remember("conclusions", lambda: conclusions_html(run, run_rows))
    if html:
        st.html(html)


def conclusions_html(run: RunRecord, run_rows: RunRows) -> str:
    """The sentences, every text escaped: findings first, then their basis."""
    sentences, basis = conclusion_sentences(run, run_rows)
    items = [f"<p>{as_html(sentence)}</p>" for sentence in sentences]
    items += [f'<p class="minor">{as_html(sentence)}</p>' for sentence in basis]
    return f'<div class="relens-findings">{"".join(items)}</div>' if items else ""


def conclusion_sentences(run: RunRecord, run_rows: RunRows) -> tuple[list[str], list[str]]:
    """The findings, and their basis."""
    kind, draws, rows = narrative.traversal_kind(run), narrative.draws(run), run_rows.rows
    query = run.specification.get("query", {})
    sentences: list[str] = []
    basis: list[str] = []
    names = group_names(rows)
    if kind != ShortestPath.kind and names:
        view = default_view(names, str(query.get("prefix", "")))
        columns = [group_column(name) for name in view.values], [group_column(name) for name in view.given]
        sentences += findings.share_sentences(groups_of_view(run, run_rows, view), *columns)
    if query.get("encoding", Encoding.ALL) == Encoding.ALL:
        basis.append(findings.spelling_sentence(rows, draws))
    if kind == Sampling.kind:
        basis += [
            findings.incomplete_sentence(run),
            findings.effective_sample_size_sentence(rows),
            findings.failed_sentence(run.progress),
        ]
    if kind == Distribution.kind:
        basis.append(findings.precision_sentence(run.progress))
    if kind != ShortestPath.kind:
        basis.append(findings.settled_sentence(rows, end_of_text=bool(query.get("end_of_text"))))
    return sentences, [sentence for sentence in basis if sentence]


def other_traversal(run: RunRecord) -> None:
    """Offer the distribution of a sampled query, or a sample of a distribution's. It runs nothing yet."""
    offer = _OTHER.get(narrative.traversal_kind(run))
    if offer is None:
        return
    traversal, label, what = offer
    try:
        form = Form.from_specification(SearchSpecification.from_json(run.specification))
    except QueryError:
        return
    with st.container(key="other_traversal", width="content"):
        query_link(
            label,
            dataclasses.replace(form, traversal=traversal),
            run.id,
            sign="⇄",
            help=f"{what} This sets the fields; press Run to start it.",
        )
