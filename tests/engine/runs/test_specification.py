"""Specifications survive JSON; bad ones are refused with a sentence."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from relens.runs.specification import (
    InspectSpecification,
    SearchSpecification,
    specification_from_json,
    specification_to_json,
)

names = st.text(min_size=1).filter(str.strip)
decodings = st.builds(
    Decoding,
    top_k=st.none() | st.integers(1, 100),
    top_p=st.none() | st.floats(0.01, 1.0),
    temperature=st.floats(0.01, 10.0),
)
edits = st.builds(
    Edits,
    distance=st.integers(0, 2),
    where=st.sampled_from(["prefix", "pattern", "both"]),
    insertions=st.booleans(),
    deletions=st.just(True),
    substitutions=st.booleans(),
    alphabet=st.text(min_size=1),
)
exclusions = st.builds(
    Exclude, regex=st.text(), words=st.lists(st.text(min_size=1).filter(str.strip)).map(tuple), stop_words=st.booleans()
)
traversals = st.one_of(
    st.builds(ShortestPath, rank=st.sampled_from(["joint", "conditional"])),
    st.builds(
        Sampling,
        count=st.integers(1, 10**9),
        seed=st.integers(0, 2**63),
        prefix_by=st.sampled_from(["strings", "tokens", "edges"]),
    ),
    st.builds(Distribution, tolerance=st.floats(0.0, 0.9)),
)
queries = st.builds(
    Query,
    pattern=st.text(),
    prefix=st.text(),
    encoding=st.sampled_from(Encoding),
    prefix_encoding=st.sampled_from(Encoding),
    boundary=st.just(Boundary.TOKEN),
    edits=edits,
    exclude=exclusions,
    decoding=decodings,
    begin_of_text=st.none() | st.booleans(),
    end_of_text=st.booleans(),
    max_tokens=st.integers(1, 1000),
)
searches = st.builds(
    SearchSpecification,
    model=names,
    query=queries,
    traversal=traversals,
    limits=st.builds(Limits, matches=st.none() | st.integers(1, 2**63), seconds=st.none() | st.floats(0.1, 1e6)),
)
inspections = st.builds(
    InspectSpecification,
    model=names,
    token_ids=st.lists(st.integers(0, 10**6), min_size=1).map(tuple),
    begin_of_text=st.none() | st.booleans(),
    decoding=decodings,
)


@given(searches | inspections)
def test_a_specification_survives_json(specification):
    text = json.dumps(specification_to_json(specification))
    assert specification_from_json(json.loads(text)) == specification


QUERY = {"pattern": "a"}
SEARCH = {"kind": "search", "model": "m", "query": QUERY}


def test_runs_stored_without_a_traversals_kind_are_read():
    stored = {
        "kind": "search",
        "model": "m",
        "query": {"pattern": "a", "prefix": "b", "encoding": "all", "decoding": {"top_k": 40, "temperature": 1.0}},
        "traversal": {"rank": "conditional"},
        "limits": {"matches": 10, "seconds": 600.0},
    }
    query = Query("a", "b", decoding=Decoding(top_k=40))
    expected = SearchSpecification("m", query, ShortestPath("conditional"), Limits(matches=10))
    assert specification_from_json(stored) == expected
    del stored["traversal"]
    assert specification_from_json(stored).traversal == ShortestPath()


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ([], "JSON object, not by list"),
        ({}, "not None"),
        ({"kind": "dance"}, "'dance'"),
        ({"kind": ["search"]}, "search"),
        ({"kind": "search", "model": "m"}, "query"),
        ({"kind": "search", "model": " ", "query": QUERY}, "name of a model"),
        ({"kind": "search", "model": "m", "query": QUERY, "os": "rm"}, "'os'"),
        ({"kind": "search", "model": 3, "query": QUERY}, "must be of type str"),
        (
            {"kind": "search", "model": "m", "query": {"pattern": "a", "max_tokens": 0}},
            "Longest, in tokens” must be",
        ),
        (SEARCH | {"traversal": {"kind": "walk"}}, "not 'walk'"),
        (SEARCH | {"traversal": {"kind": "sampling", "rank": "joint"}}, "'rank'"),
        (SEARCH | {"traversal": {"kind": "sampling", "count": 0}}, "“Draws” must be at least 1"),
        (SEARCH | {"traversal": {"kind": "sampling", "count": 1.5}}, "type int"),
        (SEARCH | {"traversal": {"kind": "distribution", "tolerance": 1}}, "below 1"),
        (SEARCH | {"traversal": "sampling"}, "must be a JSON object"),
        ({"kind": "search", "model": "m", "query": {"pattern": "a", "edits": {"distance": 3}}}, "between 0 and 2"),
        ({"kind": "search", "model": "m", "query": {"pattern": "a", "exclude": {"words": [" "]}}}, "an item is empty"),
        ({"kind": "inspect", "model": "m", "token_ids": []}, "no token"),
        ({"kind": "inspect", "model": "m", "token_ids": [-1]}, "at least 0"),
        ({"kind": "inspect", "model": "m", "token_ids": ["1"]}, "must be of type int"),
    ],
)
def test_bad_specifications_are_refused(data, complaint):
    with pytest.raises(QueryError, match=complaint):
        specification_from_json(data)
