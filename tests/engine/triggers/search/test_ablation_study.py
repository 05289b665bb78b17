"""Search effort: one search tells of all numbers of restarts as searches with so many would, and shares are counted."""

from __future__ import annotations

import json
import typing

import pytest

from relens.command_line.main import main
from relens.errors import RelensError
from relens.paired import proportion
from relens.studies.catalogue import presets, study_class
from relens.studies.rows import done_units, rows_of
from relens.studies.study import Study, StudyContext, StudyRun, Unit
from relens.triggers.model.model_list import model_folder
from relens.triggers.search.ablation_findings import mean_curve
from relens.triggers.search.ablation_study import AblationStudy

pytestmark = pytest.mark.heavy

HIT_TYPES = ("o-sample-avg-k2", "io-sample-avg-k2")


@pytest.fixture
def study(tmp_path, monkeypatch, dialogue_model):
    """Four targets of a random model, for two hit types and two shortlists."""
    monkeypatch.setenv("RELENS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("RELENS_DEVICE", "cpu")
    dialogue_model.save(model_folder("toy"))
    return AblationStudy(
        model="toy",
        lists=("normal",),
        count=2,
        targets=("word3 word4", "nobody knows word3"),
        hit_types=HIT_TYPES,
        shortlists=(2, 6),
        restarts=3,
        sweeps=2,
        seed=3,
    )


def context(stop=lambda: False):
    return StudyContext(typing.cast("typing.Any", None), stop=stop)


@pytest.fixture
def rows(study):
    return list(StudyRun(study, context()))


def without_seconds(rows):
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]


def test_rows_say_everything(study, rows):
    assert done_units(rows) == {unit.key for unit in study.units()}
    assert len(study.units()) == (2 + 2) * 2 * 2
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    lists = {row["list"]: row for row in rows_of(rows, "list")}
    assert len(lists) == len(rows_of(rows, "list"))
    assert (lists["own"]["targets"], len(lists["own"]["dropped"])) == (1, 1)
    searches = rows_of(rows, "search")
    assert len(searches) == (1 + 2) * 2 * 2
    for row in searches:
        assert len(row["objectives"]) == len(row["is_hit"]) == len(row["sweeps"]) == 3
        assert len(row["curve"]) == max(row["sweeps"]) + 1
        assert row["candidates"] == sum(row["tried"])
        for sweeps, tried in zip(row["sweeps"], row["tried"], strict=True):
            assert row["shortlist"] * 5 * (sweeps - 1) < tried <= row["shortlist"] * 5 * sweeps  # five free places
        if row["hit_type"].startswith("o-"):
            assert row["curve"] == sorted(row["curve"], reverse=True)
            assert row["curve"][-1] == pytest.approx(min(row["objectives"]), abs=1e-5)
        else:
            assert row["curve"][-1] < min(row["objectives"])  # R is left out of it


@pytest.mark.parametrize("restarts", [1, 2])
def test_fewer_restarts_are_the_first_of_more(study, rows, restarts):
    """The cell of r restarts is the result of a search with r restarts."""
    for hit_type in HIT_TYPES:
        for shortlist in (2, 6):
            search = study.search_for(hit_type, shortlist)
            fewer = Study.from_json({**search.to_json(), "search": {**search.search.to_json(), "restarts": restarts}})
            triggers = rows_of(list(StudyRun(fewer, context())), "trigger")
            for cell in AblationStudy().findings(rows).cells:
                key = (cell.hit_type, cell.shortlist, cell.restarts)
                if key == (hit_type, shortlist, restarts):
                    own = [row for row in triggers if row["list"] == cell.target_list]
                    assert cell.targets == len(own)
                    assert cell.hits == sum(row["hits"][hit_type] for row in own)
                    assert cell.hits_of_any == sum(bool(row["restarts_that_hit"][hit_type]) for row in own)
                    assert cell.candidates == pytest.approx(sum(row["candidates"] for row in own) / len(own))
                    assert cell.share == proportion(cell.hits, cell.targets)


def made(place, shortlist, objectives, is_hit, sweeps, seconds=4.0, **more):
    return {
        "unit": f"mal {place}, o-greedy, G {shortlist}",
        "row": "search",
        "list": "mal",
        "place": place,
        "target": ["word"],
        "hit_type": "o-greedy",
        "shortlist": shortlist,
        "objectives": objectives,
        "is_hit": is_hit,
        "sweeps": sweeps,
        "curve": [3.0, 1.0],
        "tried": [100 * count for count in sweeps],
        "candidates": 100 * sum(sweeps),
        "seconds": seconds,
        **more,
    }


def test_the_least_objective_counts_and_costs_are_shared_by_sweeps():
    rows = [
        made(1, 5, [2.0, 1.0, 1.5], [True, False, True], [1, 2, 1]),
        made(2, 5, [3.0, 3.0, 0.1], [False, False, True], [3, 1, 4]),
    ]
    cells = AblationStudy().findings(rows).cells
    assert [(cell.restarts, cell.hits, cell.hits_of_any) for cell in cells] == [(1, 1, 1), (2, 0, 1), (3, 1, 2)]
    assert [cell.candidates for cell in cells] == [(100 + 300) / 2, (300 + 400) / 2, (400 + 800) / 2]
    assert [cell.seconds for cell in cells] == pytest.approx([(1.0 + 1.5) / 2, (3.0 + 2.0) / 2, 4.0])
    assert mean_curve([[4.0, 2.0, 1.0], [2.0]]) == (3.0, 2.0, 1.5)
    assert mean_curve([[4.0, 2.0, 1.0], [2.0]], 4) == (3.0, 2.0, 1.5, 1.5)
    (curve,) = AblationStudy().findings(rows).curves
    assert (curve.target_list, curve.shortlist, curve.targets, curve.values) == ("mal", 5, 2, (3.0, 1.0))


def test_only_targets_with_every_shortlist_are_compared():
    rows = [
        made(1, 5, [2.0], [True], [1]),
        made(1, 9, [2.0], [True], [1]),
        made(2, 5, [2.0], [False], [1]),
    ]
    cells = AblationStudy().findings(rows).cells
    assert [(cell.shortlist, cell.targets, cell.hits) for cell in cells] == [(5, 1, 1), (9, 1, 1)]
    assert AblationStudy().findings(rows[:1] + rows[2:]).cells != ()
    assert AblationStudy().verdict([]) == ()


def test_the_verdict_names_the_least_that_does():
    rows = [
        *(made(place, 5, [2.0, 1.0], [False, place < 8], [1, 1], 2.0) for place in range(10)),
        *(made(place, 9, [1.0, 2.0], [place < 8, False], [1, 3], 12.0) for place in range(10)),
    ]
    sentences = AblationStudy().verdict(rows)
    assert sentences[0].startswith("Of 10 targets of the list 'mal', 5 words at a place and 1 restart reached 0, 0 % (")
    assert "by o-greedy; 9 words at a place and 2 restarts, 8, 80 %" in sentences[0]
    assert "the fastest of these is 5 words at a place and 2 restarts: 2 s a target, against 12 s" in sentences[1]
    # Of 8 targets that differ all speak for the best, out of three comparisons: p = 2 / 2^8, times 3.
    assert sentences[2].startswith("Reached by this setting only: 8 targets; by the least effort only: 0.")
    assert "hardly chance" in sentences[2]
    assert sentences[2].endswith("corrected for 3 comparisons: p = 0.023).")
    none = AblationStudy().verdict([made(1, 5, [1.0, 2.0], [False, False], [1, 1])])
    assert any("No setting reached any" in sentence for sentence in none)
    same = AblationStudy().verdict([made(1, 5, [1.0, 2.0], [True, False], [1, 1])])
    assert same[1].startswith("No setting reached more than the least effort did: 2 s a target, against 4 s")
    few = AblationStudy().verdict([made(1, 5, [2.0, 1.0], [False, True], [1, 1])])
    assert few[-1].startswith("Reached by this setting only: 1 target; by the least effort only: 0.")
    assert "possibly chance" in few[-1]
    (one,) = AblationStudy().verdict([made(1, 1, [1.0], [True], [1])])
    assert one.startswith("Of 1 target of the list 'mal', 1 word at a place and 1 restart reached 1, 100 %")


@pytest.mark.parametrize("looks", [0, 30])
def test_a_resumed_study_has_the_rows_of_an_undisturbed_one(study, rows, looks):
    left = iter([False] * looks)
    first = StudyRun(study, context(lambda: next(left, True)))
    again = list(first)
    assert first.progress.ended == "stopped"
    again += list(StudyRun(study, context(), done_units(again)))
    for kind in ("list", "search"):
        assert without_seconds(rows_of(again, kind)) == without_seconds(rows_of(rows, kind))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"shortlists": ()}, "must have at least 1, not 0"),
        ({"hit_types": ()}, "must have at least 1, not 0"),
        ({"shortlists": (5, 5)}, "5 is there twice"),
        ({"shortlists": tuple(range(1, 50))}, "must have at most 20, not 49"),
        ({"shortlists": (0,)}, "must be between 1 and 200,000, not 0"),
        ({"shortlists": (10**9,)}, "must be between 1 and 200,000, not 1000000000"),
        ({"hit_types": ("io-greedy",)}, "hit type"),
        ({"restarts": 0}, "“Restarts at most” must be between 1 and 1,000, not 0"),
        ({"method": "flips"}, "must be one of 'gibbs', 'averaged', 'global', not 'flips'"),
        ({"lists": ()}, "no list"),
        ({"count": 0}, "“Targets of each list” must be between 1 and 2,000, not 0"),
        ({"count": 2_000, "shortlists": tuple(range(1, 20)), "lists": ("normal", "mal", "random")}, "20,000 pieces"),
        ({"model": "../x"}, "name of a dialogue model"),
    ],
)
def test_settings_without_meaning_are_refused(settings, said):
    with pytest.raises(RelensError, match=said):
        AblationStudy(**settings).units()


def test_a_study_survives_json_and_is_in_the_catalogue(study):
    assert Study.from_json(json.loads(json.dumps(study.to_json()))) == study
    assert study_class("trigger-ablation") is AblationStudy
    assert all(isinstance(preset.units()[0], Unit) for preset in presets("trigger-ablation").values())


def test_from_a_terminal(study, tmp_path, capsys):
    settings = [f"--set={name}={json.dumps(value)}" for name, value in study.to_json().items() if name != "kind"]
    assert main(["study", "trigger-ablation", *settings, "--output", str(tmp_path / "rows.jsonl")]) == 0
    assert "restarts" in capsys.readouterr().out
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert len(rows_of(rows, "search")) == 12
