"""Findings of a run quote the beginning of its query."""

from __future__ import annotations

import plotly.graph_objects as go
import pytest

from relens.query import Query
from relens.runs.specification import SearchSpecification
from relens_dashboard.charts import Chart
from relens_dashboard.present.pinned import automaton_finding, query_text, question_of, search_finding
from tests.app.fakes import FakeStore

LONG = Query("b" * 990_000, prefix="a" * 990_000)


@pytest.mark.parametrize(
    ("query", "text"),
    [({"prefix": "The", "pattern": " cat"}, "The ▸ cat"), ({"pattern": "cat"}, "cat"), (None, "")],
)
def test_a_query_is_quoted(query, text):
    assert query_text(query) == text


def test_a_question_is_a_sentence():
    assert question_of("The", " cat") == "which texts that match cat would it write after “The”?"
    assert question_of("", "cat") == "which texts that match cat would it write?"


def test_of_a_long_query_the_beginnings_are_quoted_and_nothing_else_is_kept():
    store = FakeStore()
    run = store.get(store.submit(SearchSpecification("m", LONG)))
    chart = Chart(go.Figure(), "A chart.")
    for finding in (
        search_finding(run, "Shares", chart, [], [], ""),
        automaton_finding(LONG, "m", "Automaton", "2 states", "<svg></svg>", ""),
    ):
        texts = [finding.title, *finding.sentences, *finding.caveats, finding.explanation, *finding.source.values()]
        assert max(map(len, texts)) < 2_000
        assert any("aaa…" in text and "bbb…" in text for text in texts)
