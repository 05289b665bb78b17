"""A recorded search of a tiny model against the search itself, and against the automaton that is drawn."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from relens import Limits, ShortestPath, load_model, search
from relens.errors import QueryError, RegexError
from relens.query import Boundary, Encoding
from relens.studies.replay import PRESETS, ReplayStudy
from relens.studies.replay_findings import replay_findings
from relens.studies.rows import done_units
from relens.studies.study import StudyContext, StudyRun

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
def test_the_rows_are_the_rounds_of_the_search(tiny, study):
    rows = list(StudyRun(study, StudyContext(tiny)))
    assert json.loads(json.dumps(rows)) == rows
    assert done_units(rows) == {"search"}
    findings = replay_findings(rows, study)
    rounds, end = findings.rounds, findings.end
    shown = findings.shown_by(findings.last)

    # The matches are those of the search, in its order.
    plain = search(tiny, study.query, ShortestPath(study.rank), Limits(matches=study.matches, expansions=None))
    matches = list(plain)
    assert [item.text for item in shown] == [match.text for match in matches][: len(shown)]
    if end.ended != "expansions":
        assert len(shown) == len(matches)
    for item, match in zip(shown, matches, strict=False):
        joint = match.prefix_log_prob if study.rank == "joint" else 0.0
        assert item.cost == pytest.approx(-match.decoder_log_prob - joint, abs=1e-4)
    assert end.forwards == sum(bool(entry.asked) for entry in rounds)
    assert end.expansions == sum(len(entry.asked) for entry in rounds) == rounds[-1].expansions
    assert 0 <= end.needed <= end.expansions

    # A match that waits has a rival that is open and cheaper; one that is shown has none.
    for entry in rounds:
        others = [path.cost for path in entry.frontier if path.kind != "match"]
        for match in entry.waiting:
            assert (match.rival is not None) == (bool(others) and min(others) < match.cost)
        for match in entry.shown:
            assert entry.next_cost is None or match.cost <= entry.next_cost
    lowers = [entry.found_mass for entry in rounds]
    uppers = [entry.found_mass + entry.remaining_mass for entry in rounds]
    assert lowers == sorted(lowers)
    assert all(later <= earlier + 1e-9 for earlier, later in pairwise(uppers))
    assert len(findings.verdict) >= 2


@pytest.mark.parametrize("study", STUDIES)
def test_states_are_those_of_the_drawn_automaton(tiny, study):
    """The tokens of a path, followed on the picture arc by arc, lead to the state in the row."""
    findings = replay_findings(StudyRun(study, StudyContext(tiny)), study)
    graph = findings.graph
    if graph.unfinished:
        pytest.skip("An arc of many tokens has a label that names only a few of them.")
    assert findings.nodes
    for node in findings.nodes.values():
        before = findings.nodes[node.parent].state if node.parent in findings.nodes else graph.start
        arcs = [arc for arc in graph.arcs if arc.source == before and arc.target == node.state]
        assert any(_reads(arc.label, node.token) and arc.in_prefix == node.in_prefix for arc in arcs)
        if node.is_match:
            assert node.state in graph.finals


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
    assert replay_findings(rows, ReplayStudy()).end is None
    assert not done_units(rows)
