"""What a notebook shows: every setting, score and string, and nothing that a text could add to it."""

from __future__ import annotations

import base64
import html
import math
import re
from xml.etree import ElementTree

import pytest

from relens import Decoding, Edits, Encoding, Limits, Query, compile_query, search, table
from relens.models.loading import load_model, load_tokenizer
from relens.notebook import html_of
from relens.pictures.drawing import has_dot

HOSTILE = "<script>alert(1)</script>&lt;\x1b[2J"


@pytest.fixture(scope="module")
def run(tiny_model_folder):
    run = search(
        load_model(str(tiny_model_folder), device="cpu"),
        Query("(?P<animal>cat|dog)", prefix="the "),
        limits=Limits(matches=3),
    )
    run.matches = list(run)
    return run


def cells(shown):
    """The cells of the tables, names and values, as text."""
    return [html.unescape(re.sub("<.*?>", "", cell)) for cell in re.findall(r"<t[hd].*?>(.*?)</t[hd]>", shown)]


def test_a_query_shows_what_differs_from_the_defaults():
    query = Query("(cat|dog)", prefix="a ", encoding=Encoding.CANONICAL, decoding=Decoding(top_k=40), edits=Edits(1))
    names = cells(query._repr_html_())
    settings = dict(zip(names[::2], names[1::2], strict=True))
    assert settings == {
        "pattern": "(cat|dog)",
        "prefix": "a␣",
        "encoding": "canonical",
        "decoding": "top_k 40",
        "edits": "distance 1",
    }


def test_a_match_shows_its_scores(run):
    first = run.matches[0]
    text, *rest = cells(first._repr_html_())
    scores = dict(zip(rest[::2], rest[1::2], strict=True))
    assert text == first.text.replace(" ", "␣")
    assert float(scores["log P"]) == pytest.approx(first.log_prob, abs=5e-4)
    assert float(scores["P"]) == pytest.approx(math.exp(first.log_prob), rel=5e-3)
    assert scores["animal"] == first.groups["animal"]


def test_showing_a_run_takes_no_match_from_it(tiny_model_folder):
    model = load_model(str(tiny_model_folder), device="cpu")
    run = search(model, Query("(cat|dog)"), limits=Limits(matches=2))
    assert "not yet: iterate over the run" in run._repr_html_()
    assert len(list(run)) == 2
    assert "matches" in cells(run._repr_html_())


def test_a_table_has_a_row_a_match(run):
    shown = table(run.matches)
    assert list(shown["text"]) == [match.text for match in run.matches]
    assert list(shown["log_prob"]) == [match.log_prob for match in run.matches]
    assert list(shown["animal"]) == [match.groups["animal"] for match in run.matches]


def drawings(shown):
    return [base64.b64decode(data).decode() for data in re.findall(r"base64,([^\"]*)", shown)]


@pytest.mark.skipif(not has_dot(), reason="Graphviz is not installed")
def test_both_automata_are_drawn_with_their_colours(run):
    language, tokens = drawings(run.compiled._repr_html_())
    for drawing in (language, tokens):
        parts = ElementTree.fromstring(drawing)
        assert "--ink: #1C2733" in parts[0].text
        assert "--given: #8A5A00" in parts[0].text
    texts = {text.text for text in ElementTree.fromstring(language).iter("{http://www.w3.org/2000/svg}text")}
    assert texts >= {"the␣", "cat", "dog"}


def test_without_graphviz_there_is_a_sentence(run, monkeypatch):
    monkeypatch.setattr("relens.notebook.standalone_svg", lambda graph: None)
    assert run.compiled._repr_html_().count("Graphviz is not installed") == 2


def test_hostile_text_is_text(tiny_model_folder):
    query = Query(re.escape(HOSTILE), prefix=re.escape(HOSTILE))
    compiled = compile_query(query, load_tokenizer(str(tiny_model_folder)))
    shown = query._repr_html_() + html_of(compiled) + html_of(HOSTILE)
    for part in (shown, *drawings(shown)):
        assert "<script" not in part
        assert "\x1b" not in part
