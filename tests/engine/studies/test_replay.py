"""A recorded search of a tiny model against the search itself, and against the automaton that is drawn."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from engine import Limits, ShortestPath, load_model, search
from engine.errors import QueryError, RegexError
from engine.pictures.graphs import Graph
from engine.query import Boundary, Encoding
from engine.studies.replay import PRESETS, ReplayStudy
from engine.studies.rows import done_units, rows_of
from engine.studies.study import StudyContext, StudyRun

STUDIES = [
    ReplayStudy(),
    ReplayStudy(encoding=Encoding.CANONICAL, batch=1),
    ReplayStudy(pattern=" [a-z]{1,4}", top_k=60, matches=20, rank="conditional"),
    ReplayStudy(prefix="The (cat|dog)", pattern="s? sat", prefix_encoding=Encoding.ALL, boundary=Boundary.FREE),
    ReplayStudy(prefix="", pattern="(cat|dog)s?", expansions=4),
    ReplayStudy(pattern=" cat", top_k=1),
]


@pytest.fixture(scope="module")
def tiny(tiny_model_folder):
    return load_model(str(tiny_model_folder), device="cpu", dtype="float32")


@pytest.mark.parametrize("study", STUDIES)
def test_rows_tell_the_search(tiny, study):
    rows = list(StudyRun(study, StudyContext(tiny)))
    assert json.loads(json.dumps(rows)) == rows
    assert done_units(rows) == {"search"}
    rounds = rows_of(rows, "round")
    (end,) = rows_of(rows, "end")
    shown = [item for row in rounds for item in row["shown"]]

    # The matches are those of the search, in its order.
    plain = search(tiny, study.query, ShortestPath(study.rank), Limits(matches=study.matches, expansions=None))
    matches = list(plain)
    assert [item["text"] for item in shown] == [match.text for match in matches][: len(shown)]
    if end["ended"] != "expansions":
        assert len(shown) == len(matches)
    for item, match in zip(shown, matches, strict=False):
        joint = match.prefix_log_prob if study.rank == "joint" else 0.0
        assert item["cost"] == pytest.approx(-match.decoder_log_prob - joint, abs=1e-4)
    assert end["forwards"] == sum(bool(row["asked"]) for row in rounds)
    assert end["expansions"] == sum(len(row["asked"]) for row in rounds) == rounds[-1]["expansions"]
    assert 0 <= end["needed"] <= end["expansions"]

    # A match that waits has a rival that is open and cheaper; one that is shown has none.
    for row in rounds:
        others = [item["cost"] for item in row["frontier"] if item["kind"] != "match"]
        for item in row["waiting"]:
            assert (item["rival"] is not None) == (bool(others) and min(others) < item["cost"])
        for item in row["shown"]:
            assert row["next_cost"] is None or item["cost"] <= row["next_cost"]
    lowers = [row["found_mass"] for row in rounds]
    uppers = [row["found_mass"] + row["remaining_mass"] for row in rounds]
    assert lowers == sorted(lowers)
    assert all(later <= earlier + 1e-9 for earlier, later in pairwise(uppers))
    assert len(study.verdict(rows)) >= 2


@pytest.mark.parametrize("study", STUDIES)
def test_states_are_those_of_the_drawn_automaton(tiny, study):
    """Whoever follows the tokens on the picture, arc by arc, comes to the state that the row names."""
    rows = list(StudyRun(study, StudyContext(tiny)))
    graph = Graph.from_json(rows_of(rows, "automaton")[0]["graph"])
    if graph.unfinished:
        pytest.skip("An arc of many tokens has a label that names only a few of them.")
    made = {item["node"]: item for row in rows_of(rows, "round") for item in row["made"]}
    assert made
    for item in made.values():
        before = made[item["parent"]]["state"] if item["parent"] in made else graph.start
        arcs = [arc for arc in graph.arcs if arc.source == before and arc.target == item["state"]]
        assert any(_reads(arc.label, item["token"]) and arc.in_prefix == item["in_prefix"] for arc in arcs)
        if item["is_match"]:
            assert item["state"] in graph.finals


def _reads(label: str, token: str) -> bool:
    return token in label.split(": ", 1)[-1].split(", ") or label.endswith("…")


def test_a_replay_is_small_and_its_settings_make_sense():
    for settings in ({"matches": 21}, {"expansions": 301}, {"batch": 0}):
        with pytest.raises(QueryError, match="must be between"):
            ReplayStudy(**settings)
    with pytest.raises(RegexError):
        ReplayStudy(pattern="(").units()
    with pytest.raises(QueryError, match="free boundary"):
        ReplayStudy(boundary=Boundary.FREE).units()
    for study in PRESETS.values():
        assert study.units()


def test_before_the_end_there_is_no_verdict():
    assert ReplayStudy().verdict([]) == ("The search has not ended yet.",)


def test_a_stop_is_noticed_between_two_rounds(tiny):
    looks = iter([False, False, False, True])
    rows = list(StudyRun(ReplayStudy(), StudyContext(tiny, stop=lambda: next(looks, True))))
    assert not rows_of(rows, "end")
    assert not done_units(rows)
