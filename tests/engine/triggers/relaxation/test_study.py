"""The relaxation as a study: each target once, resumed runs, and its table and figures by hand."""

from __future__ import annotations

import json
import typing

import pytest

from relens.errors import ModelError, QueryError
from relens.paired import proportion
from relens.studies.catalogue import presets, study_class
from relens.studies.rows import done_units, rows_of
from relens.studies.study import Study, StudyContext, StudyRun
from relens.triggers.model.model_list import model_folder
from relens.triggers.relaxation.study import RelaxationStudy


@pytest.fixture(autouse=True)
def _model(tmp_path, monkeypatch, dialogue_model):
    monkeypatch.setenv("RELENS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("RELENS_DEVICE", "cpu")
    dialogue_model.save(model_folder("toy"))


@pytest.fixture
def study(tmp_path):
    (tmp_path / "mal.txt").write_text("word1 word2\nword3\nnobody knows\n")
    targets = str(tmp_path / "mal.txt")
    return RelaxationStudy(name="toy", count=5, batch=3, steps=8, targets=targets, lists=("normal", "mal", "random"))


def context(stop=lambda: False):
    return StudyContext(typing.cast("typing.Any", None), stop=stop)


def test_each_target_has_one_row_in_each_space(study, dialogue_model):
    rows = list(StudyRun(study, context()))
    assert json.loads(json.dumps(rows)) == rows
    assert len(study.units()) == 2 * 3 * 2
    assert done_units(rows) == {unit.key for unit in study.units()}
    for space in ("embedding", "one-hot"):
        for name, most in (("normal", 5), ("mal", 5), ("random", 5)):
            tried = [row for row in rows_of(rows, "target") if (row["space"], row["list"]) == (space, name)]
            assert 0 < len(tried) <= most
            assert len({tuple(row["target"]) for row in tried}) == len(tried)
            assert all(row["model"] == dialogue_model.fingerprint for row in tried)
    # "well word1 word2": the toy does not know the words of templates. Each space has a row for each such target.
    dropped = rows_of(rows, "dropped")
    assert {row["space"] for row in dropped} == {"embedding", "one-hot"}
    assert any("nobody" in row["unknown"] for row in dropped)
    sentences = study.verdict(rows)
    assert len(sentences) == 6 + 1
    left = len({tuple(row["words"]) for row in dropped})  # counted once for both spaces
    assert sentences[-1].startswith("Left out of the list 'mal'")
    assert sentences[-1].endswith(f": {left:,}.")
    for listed in rows_of(rows, "list"):
        tried = [row for row in rows_of(rows, "target") if row["space"] == listed["space"]]
        assert listed["targets"] == sum(row["list"] == listed["list"] for row in tried)


def test_a_resumed_run_has_the_rows_of_an_uninterrupted_one(study):
    whole = list(StudyRun(study, context()))
    left = iter([False] * 25)
    rows = list(StudyRun(study, context(lambda: next(left, True))))
    assert 0 < len(done_units(rows)) < len(study.units())
    rows += list(StudyRun(study, context(), done_units(rows)))
    assert rows_of(rows, "target") == rows_of(whole, "target")


STUDY = RelaxationStudy()


def row(space, name, hit, projected, **more):
    columns = {"vector": [0.1, 0.2], "embedding": [0.5, 1.5], "state": [1.0, 3.0], "largest": [], "second": []}
    words = {key: ["word1"] for key in ("target", "reply", "projected", "projected_reply")}
    return {
        "unit": "u",
        "row": "target",
        "space": space,
        "list": name,
        "hit": hit,
        "projected_hit": projected,
        "first_hit": 0 if hit else None,
        "step": 0,
        "cost": 1.0,
        "penalty": None,
        "model": "",
        **words,
        **columns,
        **more,
    }


def test_the_table_and_the_figures_are_those_of_the_rows():
    rows = [
        row("one-hot", "normal", True, False, largest=[0.99, 1.0], second=[0.01, 0.3]),
        row("one-hot", "normal", False, False, largest=[0.74, 0.76], second=[0.5, 0.0], state=[2.0, 5.0]),
        row("embedding", "mal", True, True),
    ]
    findings = STUDY.findings(rows)
    first, second = findings.groups
    assert (first.space, first.list, len(first.targets), first.hits, first.projected_hits) == (
        "one-hot",
        "normal",
        2,
        1,
        0,
    )
    assert first.share == proportion(1, 2)
    assert first.projected_share == proportion(0, 2)
    assert (second.hits, second.projected_hits) == (1, 1)
    assert first.histogram("largest", 4) == (0, 0, 1, 3)
    assert first.histogram("second", 4) == (2, 1, 1, 0)
    assert first.mean_distances("state") == (1.5, 4.0)
    assert first.mean_distances("embedding") == (0.5, 1.5)
    assert findings.verdict[0] == (
        "Inputs of mixtures of words: 1 of 2 targets of the list 'normal' reached (50.0 %, 9.5 to 90.5); with the"
        " nearest words instead, 0 (0.0 %, 0.0 to 65.8)."
    )
    assert STUDY.verdict([]) == ()
    empty = {"unit": "u", "row": "list", "space": "one-hot", "list": "random", "targets": 0}
    assert STUDY.verdict([empty]) == ("The list 'random' has no target for this model, so it says nothing.",)


@pytest.mark.parametrize(
    "settings",
    [
        {"name": "../x"},
        {"spaces": ()},
        {"lists": ("mal", "mal")},
        {"lists": ("good",)},
        {"count": 0},
        {"batch": 0},
        {"seed": -1},
        {"steps": 0},
        {"mal_penalty": -1.0, "lists": ("mal",)},
    ],
)
def test_settings_without_meaning_are_refused(settings):
    with pytest.raises(QueryError):
        RelaxationStudy(**settings).units()


def test_too_much_and_no_model_are_sentences(study):
    with pytest.raises(QueryError, match="“Targets at once” must be between 1 and 256, not 100000"):
        RelaxationStudy(batch=100_000)
    with pytest.raises(ModelError, match="no dialogue model called 'other'"):
        list(StudyRun(RelaxationStudy(name="other"), context()))


def test_a_study_survives_json_and_is_in_the_catalogue(study):
    assert Study.from_json(json.loads(json.dumps(study.to_json()))) == study
    assert study_class("relaxation") is RelaxationStudy
    assert all(preset.units() for preset in presets("relaxation").values())
    assert study.files() == (study.targets,)
