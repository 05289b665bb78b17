"""The glossary: whole sentences, and an entry for every word that a page uses."""

from __future__ import annotations

import ast
import html
import re
from pathlib import Path
from urllib.parse import quote

import pytest

from relens_dashboard.glossary import _SAME_AS, AUTOMATA, FIELDS, GLOSSARY, anchor, column_help, find_term, search, term
from relens_dashboard.page_words import PAGE_WORDS, words_html

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("entry", GLOSSARY.values(), ids=lambda entry: entry.word)
def test_a_meaning_is_one_or_two_sentences(entry):
    assert entry.meaning.endswith(".")
    assert len(re.findall(r"[.?!](?:\s|$)", entry.meaning)) in (1, 2)
    assert 20 <= len(entry.meaning) <= 200
    assert entry.example.endswith(".")
    assert len(entry.example) <= 120
    assert entry.field in FIELDS
    assert term(entry.word) == f"{entry.meaning} Example: {entry.example}"


def test_the_words_of_the_field_are_all_there():
    words = (
        "state, arc, final, automaton, DFA, NFA, token, encoding, canonical, prefix, pattern, boundary, top-k, top-p, "
        "temperature, log-probability, nat, rank, mass, frontier, expansion, sample, weight, effective sample size, "
        "distribution, edit distance, chi-squared, p-value, Cramér's V, residual, Holm, Wilson interval, recall"
    )
    for word in words.split(","):
        assert find_term(word)


def test_case_and_plural_do_not_matter():
    assert find_term("States") == find_term("state") == find_term(" STATE ")
    assert find_term("log P") == find_term("log-probability")
    assert all(find_term(word) for word in _SAME_AS)
    with pytest.raises(KeyError, match="no 'flux capacitor'"):
        term("flux capacitor")


def test_anchors_differ_and_are_plain():
    anchors = [anchor(entry.word) for entry in GLOSSARY.values()]
    assert len(set(anchors)) == len(anchors)
    assert all(re.fullmatch(r"[\w-]+", item) for item in anchors)


def test_search():
    assert search("lattice")[0].word == "Lattice"
    assert {entry.word for entry in search("encoding")} >= {"Encoding", "All encodings", "Canonical"}
    assert search("encoding")[0].word in ("Encoding", "All encodings", "Byte-pair encoding")
    assert search("<script>") == []
    assert len(search("")) == len(GLOSSARY)


def test_every_word_that_a_page_asks_for_is_there():
    """`term("...")` with a literal, wherever it stands."""
    uses = []
    for path in [*(ROOT / "app" / "relens_dashboard").rglob("*.py"), *(ROOT / "pages").glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == "term"
                and node.args
                and isinstance(node.args[0], ast.Constant)
            ):
                uses.append((path.name, node.args[0].value))
    assert uses, "some page asks for a term"
    for path, word in uses:
        assert find_term(word), path


def test_every_page_names_its_words_and_all_of_them_are_there():
    pages = {path.stem.replace("_", "-") for path in (ROOT / "pages").glob("*.py")}
    assert set(PAGE_WORDS) >= (pages - {"start"}) | {""}, "app/relens_dashboard/page_words.py lacks a page"
    for page, words in PAGE_WORDS.items():
        entries = [find_term(word) for word in words]
        assert len({entry.word for entry in entries}) == len(entries), page
        line = words_html(page)
        for entry in entries:
            assert html.escape(entry.meaning, quote=True) in line
            assert f"glossary?glossary_search={quote(entry.word)}" in line


def test_the_terms_of_the_field_stand_on_some_page():
    named = {find_term(word).word for words in PAGE_WORDS.values() for word in words}
    assert named >= {entry.word for entry in GLOSSARY.values() if entry.field == AUTOMATA} - {"Language"}
    expected = (
        "state, arc, encoding, canonical, prefix, boundary, top-k, top-p, temperature, log-probability, rank, mass, "
        "frontier, weight, effective sample size, edit distance, chi-squared, p-value, Cramér's V, residual, Holm, "
        "Wilson interval, recall"
    )
    assert named >= {find_term(word).word for word in expected.split(",")}


def test_a_column_has_its_own_help_or_the_term_of_its_name():
    assert column_help("Residual") == term("residual")
    assert column_help("p") == term("p-value")
    assert column_help("Residual", "Its own words.") == "Its own words."
    assert column_help("Way to ask") is None
