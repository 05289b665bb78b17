"""Options become records; options without meaning together are refused with one sentence."""

from __future__ import annotations

import pytest

from relens.command_line.options import limits_of, query_of, traversal_of
from relens.command_line.parser import argument_parser
from relens.errors import QueryError
from relens.query import (
    Boundary,
    Decoding,
    Distribution,
    Edits,
    Encoding,
    Exclude,
    Limits,
    Query,
    Sampling,
    ShortestPath,
)


def parsed(*arguments: str):
    return argument_parser().parse_args(["a", *arguments])


def test_options_become_the_query():
    options = argument_parser().parse_args(
        ["a+", "--prefix", "b", "--boundary", "free", "--encoding", "canonical", "--top-k", "5", "--end-of-text"]
    )
    assert query_of(options) == Query(
        "a+",
        prefix="b",
        boundary=Boundary.FREE,
        encoding=Encoding.CANONICAL,
        prefix_encoding=Encoding.CANONICAL,
        decoding=Decoding(top_k=5),
        end_of_text=True,
    )
    assert query_of(parsed()) == Query("a")
    assert query_of(parsed("--greedy")).decoding == Decoding.greedy()


def test_edits_and_exclusions_become_the_query(tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("\ufeffice\n\n  tea  \n", encoding="utf-8")
    options = parsed(
        *["--edits", "2", "--edit-where", "prefix", "--no-insertions", "--no-deletions", "--edit-alphabet", "[a-z]"],
        *["--exclude", ".*x", "--exclude-word", "milk", "--exclude-word", "tea"],
        *["--exclude-words-file", str(words), "--exclude-stop-words"],
    )
    query = query_of(options)
    assert query.edits == Edits(2, "prefix", insertions=False, deletions=False, alphabet="[a-z]")
    assert query.exclude == Exclude(".*x", ("milk", "tea", "ice", "tea"), stop_words=True)
    assert query_of(parsed("--edits", "1")).edits == Edits(1)


@pytest.mark.parametrize(
    ("arguments", "traversal"),
    [
        ([], ShortestPath()),
        (["--rank", "conditional"], ShortestPath("conditional")),
        (["--traversal", "sampling"], Sampling()),
        (
            ["--traversal", "sampling", "--samples", "7", "--seed", "0", "--prefix-by", "edges"],
            Sampling(count=7, seed=0, prefix_by="edges"),
        ),
        (["--traversal", "distribution"], Distribution()),
        (["--traversal", "distribution", "--tolerance", "0"], Distribution(0.0)),
    ],
)
def test_options_become_the_traversal(arguments, traversal):
    assert traversal_of(parsed(*arguments)) == traversal


@pytest.mark.parametrize(
    ("arguments", "limits"),
    [
        ([], Limits(matches=10)),
        (["--matches", "none", "--seconds", "none", "--expansions", "none"], Limits(None, None, None)),
        (["--matches", "3", "--seconds", "1.5", "--expansions", "7"], Limits(3, 7, 1.5)),
        (["--traversal", "sampling"], Limits()),
        (["--traversal", "distribution", "--prefixes", "5"], Limits(prefixes=5)),
        (["--traversal", "distribution", "--matches", "5"], Limits(matches=5)),
    ],
)
def test_options_become_the_limits(arguments, limits):
    assert limits_of(parsed(*arguments)) == limits


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--greedy", "--top-k", "3"], "--greedy goes without"),
        (["--edits", "3"], "between 0 and 2"),
        (["--edit-where", "both"], "--edit-where describes the edits"),
        (["--no-insertions"], "--insertions describes the edits"),
        (["--edits", "1", "--no-insertions", "--no-deletions", "--no-substitutions"], "at least one of"),
        (["--edits", "1", "--edit-alphabet", ""], "must not be empty"),
        (["--exclude-word", " "], "an item is empty"),
        (["--exclude-words-file", "/no/such/file"], "No such file"),
        (["--seed", "3"], "--seed goes with --traversal sampling"),
        (["--traversal", "distribution", "--samples", "3"], "--samples goes with --traversal sampling"),
        (["--traversal", "distribution", "--prefix-by", "edges"], "--prefix-by goes with --traversal sampling"),
        (["--traversal", "sampling", "--tolerance", "0.1"], "--tolerance goes with --traversal distribution"),
        (["--traversal", "sampling", "--rank", "joint"], "--rank goes with --traversal shortest-path"),
        (["--traversal", "sampling", "--matches", "3"], "--samples, not with --matches"),
        (["--prefixes", "3"], "--prefixes goes with --traversal distribution"),
        (["--traversal", "sampling", "--samples", "0"], "“Draws” must be at least 1"),
        (["--traversal", "sampling", "--seed", "-1"], "“Seed” must be at least 0"),
        (["--traversal", "distribution", "--tolerance", "1"], "below 1"),
        (["--by", "string"], "--by sums up a sample or a distribution"),
        (["--traversal", "sampling", "--given", "who"], "needs a --by"),
        (["--traversal", "sampling", "--by", "string", "--by", "who"], "without groups"),
        (["--matches", "0"], "at least 1"),
        (["--seconds", "nan"], "above 0"),
    ],
)
def test_options_without_meaning_are_refused(arguments, words):
    options = parsed(*arguments)
    with pytest.raises(QueryError) as refusal:
        query_of(options), traversal_of(options), limits_of(options)
    assert words in refusal.value.sentence
    assert "\n" not in refusal.value.sentence


def test_a_file_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "words").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(QueryError, match="not UTF-8"):
        query_of(parsed("--exclude-words-file", str(tmp_path / "words")))


def test_help_can_be_written(capsys):
    # A stray percent sign in a help text fails only when the help is printed.
    with pytest.raises(SystemExit):
        parsed("--help")
    assert "--exclude-stop-words" in capsys.readouterr().out
