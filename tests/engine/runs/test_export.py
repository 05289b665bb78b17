"""Exports read back by other readers; merged encodings against sums taken another way."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace

import pandas
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyarrow import parquet
from scipy.special import logsumexp

from relens.errors import QueryError
from relens.runs.export import edit_text, export_rows, export_shares, merge_encodings
from relens.traversal.results import Edit
from relens.traversal.summaries import by_group, by_string
from tests.engine.runs.fakes import match

log_probs = st.floats(-900.0, 0.0)
texts = st.text(max_size=12)

edits = st.builds(
    Edit,
    operation=st.sampled_from(["insertion", "deletion", "substitution"]),
    position=st.integers(0, 9),
    removed=st.text(max_size=1),
    written=st.text(max_size=1),
    part=st.sampled_from(["prefix", "pattern"]),
).map(Edit.to_json)


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
        "ended": draw(st.booleans()),
        "groups": draw(st.dictionaries(st.sampled_from(["who", "what"]), st.none() | texts)),
        "edits": draw(st.lists(edits, max_size=2)),
        "unedited": draw(st.none() | texts),
        "count": draw(st.integers(1, 9)),
        "weight": draw(st.floats(0.0, 1.0)),
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


#: What a spreadsheet takes for the beginning of a formula, and what may stand around it.
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
risky = st.builds(str.__add__, st.sampled_from([*FORMULA_SIGNS, "'", ""]), st.text(max_size=8))


@given(st.lists(st.dictionaries(risky, risky, max_size=4), min_size=1, max_size=3))
@example([{"=1+1": "=1+1"}])
def test_csv_has_no_formula_in_its_names_or_its_cells_and_both_are_restored(rows):
    rows = [{f"{name}.": text for name, text in row.items()} for row in rows]  # none is a name that has a meaning
    names, *lines = csv.reader(io.StringIO(export_rows(rows, "csv").decode("utf-8-sig"), newline=""))
    assert not any(cell.startswith(FORMULA_SIGNS) for line in (names, *lines) for cell in line)
    restored = [name.removeprefix("'") for name in names]
    assert restored == list(dict.fromkeys(name for row in rows for name in row))
    for row, line in zip(rows, lines, strict=True):
        assert [cell.removeprefix("'") for cell in line] == [row.get(name, "") for name in restored]


def test_csv_numbers_are_exact_and_not_taken_for_text():
    row = {"number": 1, "text": "a", "prefix_text": "", "log_prob": -0.1, "token_ids": [3, 4], "is_canonical": True}
    (cells,) = read_csv(export_rows([row], "csv"))
    assert float(cells["log_prob"]) == -0.1
    assert float(cells["prob"]) == math.exp(-0.1)
    assert (cells["token_ids"], cells["is_canonical"]) == ("3 4", "true")


def test_csv_has_a_column_a_group_and_the_edits():
    edited = replace(
        match(1),
        text="The dig",
        groups={"subject": None, "outcome": "=1+1"},
        edits=(Edit("substitution", 5, "o", "i", "pattern"), Edit("insertion", 7, "", " ", "pattern")),
        unedited="The dog",
        count=3,
        weight=0.25,
        ended=True,
    )
    plain = replace(match(2), groups={"subject": "man", "outcome": ""})
    first, second = read_csv(export_rows(numbered([edited.to_json(), plain.to_json()]), "csv"))
    assert list(first)[:7] == [
        "number",
        "text",
        "prefix_text",
        "group: subject",
        "group: outcome",
        "is_canonical",
        "count",
    ]
    assert (first["group: subject"], first["group: outcome"]) == ("", "'=1+1")
    assert (second["group: subject"], second["group: outcome"]) == ("man", "")
    assert first["edits"] == "substitution at 5: 'o' -> 'i'; insertion at 7: ' '"
    assert (first["unedited"], first["count"], first["weight"], first["ended"]) == ("The dog", "3", "0.25", "true")
    assert (second["edits"], second["unedited"], second["count"], second["ended"]) == ("", "", "1", "false")
    assert "groups" not in first


@given(edits, st.text(max_size=1), st.text(max_size=1))
def test_an_edit_in_words_is_no_formula_and_one_line(edit, removed, written):
    text = edit_text({**edit, "removed": removed, "written": written})
    assert text.startswith(edit["operation"])
    assert len(text.splitlines()) == 1


def test_parquet_has_the_same_types_for_all_rows():
    plain = match(1).to_json()
    edited = replace(match(2), edits=(Edit("deletion", 0, "x", "", "prefix"),), unedited="x", weight=1).to_json()
    schemas = [
        parquet.read_schema(io.BytesIO(export_rows(numbered(rows), "parquet"))).remove_metadata()
        for rows in ([plain], [edited], [plain, edited])
    ]
    assert schemas[0] == schemas[1] == schemas[2]
    old = {name: plain[name] for name in ("text", "log_prob", "token_ids")}
    table = parquet.read_table(io.BytesIO(export_rows(numbered([old, {**plain, "groups": {"a": None}}]), "parquet")))
    assert table["count"].to_pylist() == [None, 1]
    assert str(table.schema.field("count").type) == "int64"
    assert str(table.schema.field("group: a").type) == "string"


@given(st.lists(matches(), min_size=1, max_size=4))
def test_parquet_keeps_numbers_and_lists(rows):
    frame = pandas.read_parquet(io.BytesIO(export_rows(numbered(rows), "parquet")))
    assert [[dict(edit) for edit in edits] for edits in frame["edits"]] == [row["edits"] for row in rows]
    table = parquet.read_table(io.BytesIO(export_rows(numbered(rows), "parquet")))
    for name in ("who", "what"):
        values = [row["groups"].get(name) for row in rows]
        if any(name in row["groups"] for row in rows):
            assert table[f"group: {name}"].to_pylist() == values
    assert list(frame["text"]) == [row["text"] for row in rows]
    assert list(frame["log_prob"]) == [row["log_prob"] for row in rows]
    assert [list(ids) for ids in frame["token_ids"]] == [row["token_ids"] for row in rows]


def test_shares_of_strings_and_groups_as_files():
    rows = [
        replace(match(number), groups={"who": who, "what": what}, weight=weight).to_json()
        for number, who, what, weight in ((1, "man", "=art", 0.5), (2, "man", "math", 0.25), (3, None, "art", 0.25))
    ]
    shares = by_group(rows, ["who", "what"], ["who"])
    first, second, third = read_csv(export_shares(shares, "csv"))
    assert list(first)[:5] == ["group: who", "group: what", "share", "low", "high"]
    assert (first["group: who"], first["group: what"]) == ("man", "'=art")
    assert [float(row["share"]) for row in (first, second)] == [pytest.approx(2 / 3), pytest.approx(1 / 3)]
    assert third["group: who"] == ""
    assert json.loads(export_shares(shares, "json")) == [share.to_json() for share in shares]
    table = parquet.read_table(io.BytesIO(export_shares(by_string(rows), "parquet")))
    assert table["text"].to_pylist() == ["text 1", "text 2", "text 3"]
    assert table["group: who"].to_pylist() == ["man", "man", None]
    assert str(table.schema.field("share").type) == "double"


@pytest.mark.parametrize("format", ["csv", "json", "parquet"])
def test_no_rows_make_a_file(format):
    assert isinstance(export_rows([], format), bytes)


def test_characters_that_utf8_cannot_hold_do_not_stop_an_export():
    rows = [{"number": 1, "text": "a\ud800b", "log_prob": -math.inf}]
    assert json.loads(export_rows(rows, "json")) == rows
    assert read_csv(export_rows(rows, "csv"))[0]["text"] == "a?b"
    assert pandas.read_parquet(io.BytesIO(export_rows(rows, "parquet")))["text"][0] == "a?b"


def test_another_format_is_refused():
    with pytest.raises(QueryError, match="'xlsx'"):
        export_rows([], "xlsx")


@given(st.lists(matches(st.sampled_from(["Tab", "Ta", "T"])), max_size=12))
def test_merging_agrees_with_the_shares_of_strings(rows):
    # What a summary takes for one encoding are rows with the same tokens, and a search gives each but once.
    rows = [{**row, "token_ids": [number]} for number, row in enumerate(rows)]
    merged = {(row["text"], row["prefix_text"]): row for row in merge_encodings(numbered(rows))}
    results = by_string(rows)
    total = math.fsum(row["count"] * row["weight"] for row in merged.values())
    assert {(result.text, result.prefix_text) for result in results} == set(merged)
    for result in results:
        row = merged[result.text, result.prefix_text]
        assert (result.encodings, result.count) == (row["encodings"], row["count"])
        assert result.probability == pytest.approx(row["decoder_prob"])
        if total:
            assert result.share == pytest.approx(row["count"] * row["weight"] / total, abs=1e-12)


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
        assert row["count"] == sum(other["count"] for other in group)
        counted = math.fsum(other["count"] * other["weight"] for other in group)
        assert row["count"] * row["weight"] == pytest.approx(counted)
        assert row["prob"] == pytest.approx(math.exp(row["log_prob"]))
