"""Exports read back by other readers; merged encodings against sums taken another way."""

from __future__ import annotations

import csv
import io
import json
import math

import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from engine.errors import QueryError
from engine.runs.export import export_rows, merge_encodings

log_probs = st.floats(-900.0, 0.0)
texts = st.text(max_size=12)


@st.composite
def matches(draw: st.DrawFn, text: st.SearchStrategy[str] = texts) -> dict[str, object]:
    return {
        "text": draw(text),
        "prefix_text": draw(st.sampled_from(["", "T"])),
        "token_ids": draw(st.lists(st.integers(0, 9), max_size=3)),
        "prefix_log_prob": draw(log_probs),
        "log_prob": draw(log_probs),
        "decoder_log_prob": draw(log_probs),
        "token_log_probs": draw(st.lists(log_probs, max_size=3)),
        "is_canonical": draw(st.booleans()),
        "seconds": draw(st.floats(0.0, 9.0)),
    }


def numbered(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    return [{**row, "number": number} for number, row in enumerate(rows, 1)]


def read_csv(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


@given(st.lists(matches(st.text(st.characters(), max_size=8)), max_size=4))
def test_json_reads_back_equal(rows):
    assert json.loads(export_rows(numbered(rows), "json")) == numbered(rows)


@given(st.lists(matches(st.text(max_size=8) | st.sampled_from(["=1+1", "-2", "+3", "@x", "\tx", "\rx", "'x", "'"]))))
def test_csv_texts_are_restored_by_taking_one_apostrophe_away(rows):
    for row, cells in zip(rows, read_csv(export_rows(numbered(rows), "csv")), strict=True):
        cell = cells["text"]
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
        assert cell.removeprefix("'") == row["text"]


def test_csv_numbers_are_exact_and_not_taken_for_text():
    row = {"number": 1, "text": "a", "prefix_text": "", "log_prob": -0.1, "token_ids": [3, 4], "is_canonical": True}
    (cells,) = read_csv(export_rows([row], "csv"))
    assert float(cells["log_prob"]) == -0.1
    assert float(cells["prob"]) == math.exp(-0.1)
    assert (cells["token_ids"], cells["is_canonical"]) == ("3 4", "true")


@given(st.lists(matches(), min_size=1, max_size=4))
def test_parquet_keeps_numbers_and_lists(rows):
    frame = pandas.read_parquet(io.BytesIO(export_rows(numbered(rows), "parquet")))
    assert list(frame["text"]) == [row["text"] for row in rows]
    assert list(frame["log_prob"]) == [row["log_prob"] for row in rows]
    assert [list(ids) for ids in frame["token_ids"]] == [row["token_ids"] for row in rows]


@pytest.mark.parametrize("format", ["csv", "json", "parquet"])
def test_no_rows_make_a_file(format):
    assert isinstance(export_rows([], format), bytes)


def test_what_utf8_cannot_hold_does_not_stop_an_export():
    rows = [{"number": 1, "text": "a\ud800b", "log_prob": -math.inf}]
    assert json.loads(export_rows(rows, "json")) == rows
    assert read_csv(export_rows(rows, "csv"))[0]["text"] == "a?b"
    assert pandas.read_parquet(io.BytesIO(export_rows(rows, "parquet")))["text"][0] == "a?b"


def test_another_format_is_refused():
    with pytest.raises(QueryError, match="'xlsx'"):
        export_rows([], "xlsx")


@given(st.lists(matches(st.sampled_from(["Tab", "Ta", "T"])), max_size=12))
def test_merging_adds_probabilities_and_keeps_the_order_of_the_best(rows):
    rows = numbered(rows)
    merged = merge_encodings(rows)
    keys = [(row["text"], row["prefix_text"]) for row in rows]
    assert [(row["text"], row["prefix_text"]) for row in merged] == list(dict.fromkeys(keys))
    for row in merged:
        group = [other for other, key in zip(rows, keys, strict=True) if key == (row["text"], row["prefix_text"])]
        assert row["number"] == group[0]["number"]
        assert row["encodings"] == len(group) == len(row["numbers"])
        assert row["is_canonical"] == any(other["is_canonical"] for other in group)
        if row["is_canonical"]:
            assert next(other for other in group if other["number"] == row["canonical_number"])["is_canonical"]
        for name in ("log_prob", "decoder_log_prob"):
            assert row[name] == pytest.approx(logsumexp([other[name] for other in group]), abs=1e-9)
        assert row["prob"] == pytest.approx(math.exp(row["log_prob"]))
