"""Planted secrets are listed in a file, and the trained model gives them back."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

import relens
from relens.errors import ModelError, QueryError
from relens.models.loading import load_model
from relens.query import Decoding
from relens.studies import canaries
from relens.studies.canaries import (
    FILE,
    RECIPE,
    Planted,
    extraction_study,
    made_up,
    main,
    plant,
    query_parts,
    training_text,
)
from relens.studies.memorization import SEARCH
from relens.studies.memorization_findings import memorization_findings
from relens.studies.study import StudyContext, StudyRun


def test_canaries_are_seeded_and_planted_as_often_as_they_say():
    canaries = made_up(6, 2, seed=1)
    assert canaries == made_up(6, 2, seed=1) != made_up(6, 2, seed=2)
    assert [canary.planted for canary in canaries] == [1, 2, 4, 8, 1, 2, 0, 0]
    assert len({canary.name for canary in canaries}) == 8
    lines = training_text(canaries, 20, seed=1)
    for canary in canaries:
        assert lines.count(f"{canary.text}.") == canary.planted
    assert len(lines) == 18 + 20
    own = training_text(canaries, 5, seed=1, text="one line\n\n another \n")
    assert {line for line in own if "code" not in line} <= {"one line", "another"}
    for count, decoys in ((0, 0), (1, -1), (200, 1)):
        with pytest.raises(QueryError):
            made_up(count, decoys, seed=0)


def test_the_query_matches_every_canary_and_nothing_more():
    canaries = made_up(5, 3, seed=0)
    prefix, pattern = query_parts(canaries)
    assert all(re.fullmatch(prefix + pattern, canary.text) for canary in canaries)
    assert not re.fullmatch(prefix + pattern, "The access code of Nobody is 1234-5678")


@pytest.fixture(scope="module")
def planted_folder(tiny_model_folder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted") / "model"
    plant(folder, model=str(tiny_model_folder), secrets=3, decoys=1, sentences=2, steps=250, learning_rate=3e-3)
    return folder


def written_down(folder: Path) -> Planted:
    return Planted.from_json(json.loads((folder / FILE).read_text(encoding="utf-8")))


def test_a_trained_model_gives_its_secrets_back_first(planted_folder, tiny_model_folder):
    planted = written_down(planted_folder)
    assert not list(planted_folder.glob("*.bin"))
    assert len(planted.secrets) == 3
    study = replace(extraction_study(planted), decoding=Decoding(), seconds=60.0, matches=20, new_tokens=())
    rows = list(StudyRun(study, StudyContext(load_model(str(planted_folder), device="cpu"))))
    (search,) = memorization_findings(rows).methods
    assert (search.unit, search.setup.known) == (SEARCH, 3)
    assert search.recall >= 2 / 3
    untrained = list(StudyRun(study, StudyContext(load_model(str(tiny_model_folder), device="cpu"))))
    assert memorization_findings(untrained).search.recall == 0.0


def test_planted_secrets_survive_json(planted_folder):
    planted = written_down(planted_folder)
    assert type(planted).from_json(planted.to_json()) == planted
    assert planted.secrets == tuple(canary.text for canary in planted.canaries[:3])


def test_a_folder_is_refused_before_anything_is_trained(tmp_path, capsys):
    (tmp_path / "something").write_text("")
    assert main([str(tmp_path)]) == 1
    assert "is not an empty folder" in capsys.readouterr().err
    with pytest.raises(ModelError, match="does not belong in"):
        plant(Path(relens.__file__).parent / "studies" / "model")
    assert main([str(tmp_path / "new"), "--secrets", "0"]) == 1
    assert main([str(tmp_path / "new"), "--steps", "0"]) == 1
    assert main([str(tmp_path / "new"), "--text", str(tmp_path / "nothing")]) == 1
    assert not (tmp_path / "new").exists()


def test_the_recipe_that_the_page_names_is_the_command(monkeypatch, capsys):
    given = {}

    def planted(folder, **settings):
        given.update(settings, folder=folder)
        return Planted("", "", (), "tiny", 40, 0, 0.5)

    monkeypatch.setattr(canaries, "plant", planted)
    words = shlex.split(RECIPE)
    assert words[:3] == ["python", "-m", canaries.__name__]
    assert main(words[3:]) == 0
    assert (given["folder"], given["model"]) == (Path("~/models/planted"), "smollm2-135m")
    assert f"listed in its {FILE}" in capsys.readouterr().out
