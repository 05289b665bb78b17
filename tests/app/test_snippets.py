"""The query in Python and in a terminal: both are run, not read."""

import contextlib
import io
import shlex
import types
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

import relens
from relens.command_line.options import limits_of, query_of, traversal_of
from relens.command_line.parser import argument_parser
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
from relens.runs.specification import SearchSpecification
from relens_dashboard import snippets

words = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=25)
edits = st.just(Edits()) | st.builds(
    Edits,
    distance=st.integers(1, 2),
    where=st.sampled_from(["prefix", "pattern", "both"]),
    insertions=st.booleans(),
    deletions=st.just(True),
    substitutions=st.booleans(),
    alphabet=words.filter(bool),
)
exclusions = st.builds(
    Exclude, regex=words, words=st.lists(words.filter(str.strip), max_size=3).map(tuple), stop_words=st.booleans()
)
traversals = st.one_of(
    st.builds(ShortestPath, rank=st.sampled_from(["joint", "conditional"])),
    st.builds(
        Sampling,
        count=st.integers(1, 10**6),
        seed=st.integers(0, 2**70),
        prefix_by=st.sampled_from(["strings", "tokens", "edges"]),
    ),
    st.builds(Distribution, tolerance=st.floats(0.0, 0.9)),
)


@st.composite
def specifications(draw):
    boundary = draw(st.sampled_from(Boundary))
    encoding = draw(st.sampled_from(Encoding))
    query = Query(
        pattern=draw(words | st.just("(?P<animal>cat|dog) (?P<verb>sat|ran)")),
        prefix=draw(words),
        encoding=encoding,
        prefix_encoding=encoding if boundary is Boundary.FREE else draw(st.sampled_from(Encoding)),
        boundary=boundary,
        edits=draw(edits),
        exclude=draw(exclusions),
        decoding=Decoding(
            draw(st.none() | st.integers(1, 99)), draw(st.none() | st.floats(0.01, 1.0)), draw(st.floats(0.1, 9.0))
        ),
        begin_of_text=draw(st.none() | st.booleans()),
        end_of_text=draw(st.booleans()),
        max_tokens=draw(st.integers(1, 999)),
    )
    traversal = draw(traversals)
    limits = Limits(
        matches=None if isinstance(traversal, Sampling) else draw(st.none() | st.integers(1, 999)),
        expansions=draw(st.none() | st.integers(1, 10**6)),
        seconds=draw(st.none() | st.floats(0.001, 1e6)),
        prefixes=draw(st.integers(1, 10**6)) if isinstance(traversal, Distribution) else Limits().prefixes,
    )
    return SearchSpecification(draw(st.sampled_from(["smollm2-135m", "-odd name"])), query, traversal, limits)


def run_snippet(code, matches=()):
    """Run a snippet with a search that records its arguments and gives `matches`; the arguments, and the output."""
    arguments = {}

    def search(model, query, traversal, limits=None):
        arguments.update(model=model, query=query, traversal=traversal, limits=limits or Limits())
        return matches

    printed = io.StringIO()
    replaced = {"load_model": lambda name: name, "search": search}
    with mock.patch.dict(relens.__dict__, replaced), contextlib.redirect_stdout(printed):
        exec(compile(code, "snippet", "exec"), {})
    return arguments, printed.getvalue()


@given(specifications())
def test_the_python_snippet_asks_the_same(specification):
    arguments, _ = run_snippet(snippets.as_python(specification))
    assert arguments == {
        "model": specification.model,
        "query": specification.query,
        "traversal": specification.traversal,
        "limits": specification.limits,
    }


@given(specifications())
def test_the_command_asks_the_same(specification):
    command = shlex.split(snippets.as_command(specification))
    assert command[:2] == ["relens", "query"]
    options = argument_parser().parse_args(command[2:])
    assert options.model == specification.model
    assert query_of(options) == specification.query
    assert traversal_of(options) == specification.traversal
    assert limits_of(options) == specification.limits


def test_the_python_snippet_reads_as_one_would_write_it():
    query = Query(r" \d{4}", "born in", decoding=Decoding(top_k=40))
    code = snippets.as_python(SearchSpecification("gpt2", query, limits=Limits(matches=5)))
    assert code == (
        "from relens import Decoding, Limits, Query, ShortestPath, load_model, search\n\n"
        "query = Query(\n"
        "    prefix='born in',\n"
        '    pattern=r" \\d{4}",\n'
        "    decoding=Decoding(top_k=40),\n"
        ")\n"
        "model = load_model('gpt2')\n"
        "run = search(model, query, ShortestPath(), Limits(matches=5))\n"
        "for match in run:\n"
        "    print(match.text, match.decoder_log_prob)\n"
    )
    assert isinstance(compile(code, "snippet", "exec"), types.CodeType)


def test_a_distribution_over_groups_reads_as_one_would_write_it():
    query = Query("(?P<verb> sat| ran)", "The (?P<animal>cat|dog)", edits=Edits(1), exclude=Exclude(r".*\d.*", ("it",)))
    code = snippets.as_python(SearchSpecification("gpt2", query, Distribution(0.01)))
    assert code == (
        "import math\n"
        "from collections import Counter\n\n"
        "from relens import Distribution, Edits, Exclude, Query, load_model, search\n\n"
        "query = Query(\n"
        "    prefix='The (?P<animal>cat|dog)',\n"
        "    pattern='(?P<verb> sat| ran)',\n"
        "    edits=Edits(distance=1),\n"
        "    exclude=Exclude(regex=r\".*\\d.*\", words=('it',)),\n"
        ")\n"
        "model = load_model('gpt2')\n"
        "run = search(model, query, Distribution(tolerance=0.01))\n"
        "shares = Counter()\n"
        "for match in run:\n"
        "    print(match.text, math.exp(match.decoder_log_prob))\n"
        "    shares[match.groups['animal'], match.groups['verb']] += match.count * match.weight\n"
        "for values, share in shares.most_common():\n"
        "    print(values, share / shares.total())\n"
    )
    matches = [
        mock.Mock(text=text, decoder_log_prob=-1.0, count=1, weight=weight, groups={"animal": animal, "verb": verb})
        for text, animal, verb, weight in (
            ("The cat sat", "cat", "sat", 0.5),
            ("The dog ran", "dog", "ran", 0.25),
            ("The dig ran", "dog", "ran", 0.25),
            ("The xat sat", None, "sat", 0.0),
        )
    ]
    _, printed = run_snippet(code, matches)
    assert "('dog', 'ran') 0.5\n" in printed


@pytest.mark.parametrize(
    ("specification", "command"),
    [
        (
            SearchSpecification("m", Query("a", edits=Edits(1, "pattern", insertions=False, alphabet="[a-z]"))),
            "relens query a --model m --edits 1 --edit-where pattern --no-insertions --edit-alphabet '[a-z]'"
            " --matches none",
        ),
        (
            SearchSpecification("m", Query("a", exclude=Exclude("-.*", ("b c",), stop_words=True)), Sampling(9, 4)),
            "relens query a --model m '--exclude=-.*' --exclude-word 'b c' --exclude-stop-words"
            " --traversal sampling --samples 9 --seed 4",
        ),
        (
            SearchSpecification("m", Query("(?P<who>a|b)"), Distribution(), Limits(seconds=1.5, prefixes=7)),
            "relens query '(?P<who>a|b)' --model m --traversal distribution --by who --seconds 1.5 --prefixes 7",
        ),
    ],
)
def test_the_command_says_only_what_differs(specification, command):
    assert snippets.as_command(specification) == command
