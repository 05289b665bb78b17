"""The query in Python and in a terminal: both are run, not read."""

import shlex
import types

from hypothesis import given
from hypothesis import strategies as st

import engine
from app import snippets
from engine.__main__ import argument_parser, query_of
from engine.query import Boundary, Decoding, Encoding, Limits, Query, ShortestPath
from engine.runs.specification import SearchSpecification

words = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=25)


@st.composite
def specifications(draw):
    boundary = draw(st.sampled_from(Boundary))
    encoding = draw(st.sampled_from(Encoding))
    query = Query(
        pattern=draw(words),
        prefix=draw(words),
        encoding=encoding,
        prefix_encoding=encoding if boundary is Boundary.FREE else draw(st.sampled_from(Encoding)),
        boundary=boundary,
        decoding=Decoding(
            draw(st.none() | st.integers(1, 99)), draw(st.none() | st.floats(0.01, 1.0)), draw(st.floats(0.1, 9.0))
        ),
        begin_of_text=draw(st.none() | st.booleans()),
        end_of_text=draw(st.booleans()),
        max_tokens=draw(st.integers(1, 999)),
    )
    limits = Limits(draw(st.integers(1, 999)), draw(st.integers(1, 10**6)), float(draw(st.integers(1, 9999))))
    rank = draw(st.sampled_from(["joint", "conditional"]))
    return SearchSpecification(draw(st.sampled_from(["smollm2-135m", "-odd name"])), query, ShortestPath(rank), limits)


@given(specifications())
def test_the_python_snippet_asks_the_same(specification):
    asked = {}

    def load_model(name):
        asked["model"] = name

    def search(model, query, traversal, limits):
        asked.update(query=query, traversal=traversal, limits=limits)
        return []

    code = snippets.as_python(specification)
    # The names are imported from `engine` in the snippet's first line; two of them would load a model.
    first, rest = code.split("\n", 1)
    names = first.removeprefix("from engine import ").split(", ")
    scope = {name: getattr(engine, name) for name in names if name not in ("load_model", "search")}
    exec(compile(rest, "snippet", "exec"), {**scope, "load_model": load_model, "search": search})
    assert asked == {
        "model": specification.model,
        "query": specification.query,
        "traversal": specification.traversal,
        "limits": specification.limits,
    }


@given(specifications())
def test_the_command_asks_the_same(specification):
    command = shlex.split(snippets.as_command(specification))
    assert command[:3] == ["python", "-m", "engine"]
    options = argument_parser().parse_args(command[3:])
    assert query_of(options) == specification.query
    assert options.model == specification.model
    assert options.rank == specification.traversal.rank
    limits = specification.limits
    assert (options.matches, options.seconds, options.expansions) == (limits.matches, limits.seconds, limits.expansions)


def test_the_python_snippet_reads_as_one_would_write_it():
    query = Query(r" \d{4}", "born in", decoding=Decoding(top_k=40))
    code = snippets.as_python(SearchSpecification("gpt2", query, limits=Limits(matches=5)))
    assert code == (
        "from engine import Decoding, Limits, Query, ShortestPath, load_model, search\n\n"
        "query = Query(\n"
        "    prefix='born in',\n"
        '    pattern=r" \\d{4}",\n'
        "    decoding=Decoding(top_k=40),\n"
        ")\n"
        "model = load_model('gpt2')\n"
        "run = search(model, query, ShortestPath(rank='joint'), Limits(matches=5))\n"
        "for match in run:\n"
        "    print(match.text, match.decoder_log_prob)\n"
    )
    assert isinstance(compile(code, "snippet", "exec"), types.CodeType)
