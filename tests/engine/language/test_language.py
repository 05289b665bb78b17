from __future__ import annotations

import json

import numpy as np
import pytest

from relens.language import exclusion, frames
from relens.language.compile import compile_job, compile_language
from relens.language.language import Language
from relens.query import Edits, Exclude, Limits, Query
from tests.engine.language.languages import assert_same, automata

QUERIES = [
    Query("b|c", prefix="a"),
    Query("b|c"),
    Query("b|c", prefix="a", edits=Edits(2)),
    Query("b|c", prefix="a", edits=Edits(1, "prefix")),
    Query("b|c", edits=Edits(1, "prefix")),
    Query("b|cd", prefix="a", edits=Edits(1), exclude=Exclude(words=("b",))),
]


def travelled(message: dict) -> dict:
    data = frames.pack(message)
    header, body = frames.LENGTHS.unpack(data[: frames.LENGTHS.size])
    start = frames.LENGTHS.size
    return frames.unpack(data[start : start + header], data[start + header : start + header + body])


@pytest.mark.parametrize("most_work", [0, 10**6])
@pytest.mark.parametrize("query", QUERIES)
def test_it_travels_as_arrays(query: Query, most_work: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(exclusion, "MOST_WORK", most_work)
    language = compile_language(query)
    assert (language.excluded is not None) == bool(query.exclude and not most_work)
    message = language.to_arrays()
    json.dumps([value for value in message.values() if not isinstance(value, np.ndarray)])
    back = Language.from_arrays(travelled(message))
    assert_same(back, language)
    # What was one automaton is one again, and was sent once.
    shared = [id(automaton) for automaton in automata(language)]
    assert [shared.index(item) for item in shared] == [
        [id(automaton) for automaton in automata(back)].index(id(automaton)) for automaton in automata(back)
    ]
    assert sum(name.endswith(".transitions") for name in message) == len(set(shared))
    payload = {"query": query.to_json(), "limits": Limits().to_json()}
    assert_same(Language.from_arrays(compile_job(payload)), language)


def test_without_edits_three_automata_are_sent():
    message = compile_language(Query("b|c", prefix="a")).to_arrays()
    assert message["automata"] == [0, 1, 2, 0, 1]
    assert sum(isinstance(value, np.ndarray) for value in message.values()) == 9
