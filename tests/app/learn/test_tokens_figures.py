"""Bars and tables of encodings."""

from __future__ import annotations

import math

import pytest

from relens.studies.encodings import EncodingsStudy
from relens.studies.encodings_findings import encodings_findings
from relens_dashboard.learn.tokens_figures import encoding_bars, encodings_table, examples_table, samples_figure


def encoding(rank, labels, log_prob, canonical=False):
    return {
        "unit": "probabilities",
        "row": "encoding",
        "rank": rank,
        "tokens": list(range(len(labels))),
        "labels": labels,
        "log_prob": log_prob,
        "token_log_probs": [],
        "is_canonical": canonical,
    }


def batch(compared, other):
    return {"unit": "samples", "row": "batch", "samples": compared, "compared": compared, "other": other, "tokens": 9}


def findings(rows):
    return encodings_findings(rows, EncodingsStudy())


ROWS = [
    encoding(1, ["The", "␣cat"], math.log(1e-6), True),
    encoding(2, ["T", "<b>he</b>", "␣cat"], math.log(1e-9)),
    *(encoding(rank, ["x"] * rank, math.log(1e-9) - rank) for rank in range(3, 30)),
]


def test_bars_are_as_long_as_probabilities_are_in_powers_of_ten():
    chart = encoding_bars(findings(ROWS))
    bars = chart.figure.data[0]
    assert len(bars.x) == 16
    tops = [base + length for base, length in zip(bars.base, bars.x, strict=True)]
    assert tops[:2] == pytest.approx([-6.0, -9.0])
    assert all(length > 0 for length in bars.x)
    assert list(bars.marker.pattern.shape[:2]) == ["", "/"]
    labels = chart.figure.layout.yaxis.ticktext
    assert labels[0].startswith("✓ The")
    assert "<b>" not in labels[1]
    assert "of 29 scored encodings" in chart.alt


def test_a_canonical_encoding_far_behind_has_its_bar_too():
    rows = [*ROWS[1:], encoding(30, ["The", "␣cat"], -60.0, True)]
    bars = encoding_bars(findings(rows)).figure.data[0]
    assert len(bars.x) == 17
    assert list(bars.marker.pattern.shape).count("") == 1


def test_the_table_has_shares_of_all_scored_encodings():
    table = encodings_table(findings(ROWS))
    assert list(table["Place"]) == list(range(1, 30))
    assert table["Share"].sum() == pytest.approx(1.0)
    assert table["Tokens"][0] == "The | ␣cat"
    assert list(table["Canonical"]).count(True) == 1


def test_the_share_of_samples_settles():
    chart = samples_figure(findings([batch(20, 0), batch(20, 2), batch(10, 1)]))
    high, low, line = chart.figure.data
    assert list(line.x) == [20, 40, 50]
    assert list(line.y) == pytest.approx([0.0, 0.05, 0.06])
    assert all(
        at_most > share > at_least or share == 0.0
        for at_most, share, at_least in zip(high.y, line.y, low.y, strict=True)
    )
    assert {shape.y0 for shape in chart.figure.layout.shapes} == {0.03, 0.02}
    assert "after 50 texts: 6.0 %" in chart.alt


def test_examples_stand_side_by_side():
    tokens = {"before": ["␣in"], "sampled": ["run", "ning"], "own": ["running"]}
    row = {"row": "example", "unit": "samples", "prompt": "", "text": "in running", **tokens}
    (line,) = examples_table(findings([row])).to_dict("records")
    assert line == {"Before": "␣in", "The model sampled": "run | ning", "The tokenizer gives": "running"}
