"""The list of dialogue models: what a page knows of them without loading one."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from engine.errors import ModelError
from engine.triggers.model.model_list import MODEL, listed_model, model_folder, model_names
from engine.triggers.relaxation.study import RelaxationStudy
from engine.triggers.search.ablation_study import AblationStudy
from engine.triggers.search.trigger_study import TriggerStudy


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RELENS_CACHE", str(tmp_path))


def test_a_model_is_listed_as_it_is(dialogue_model):
    dialogue_model.save(model_folder("toy"))
    listed = listed_model("toy")
    assert (listed.name, listed.fingerprint) == ("toy", dialogue_model.fingerprint)
    assert (listed.thresholds, listed.training) == (dialogue_model.thresholds, dialogue_model.training)


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"thresholds": {"out": 3.0}}', '{"training": {"stars": 1}}', "{}"])
def test_what_cannot_be_read_is_not_listed(text):
    model_folder("odd").mkdir(parents=True)
    (model_folder("odd") / MODEL).write_text(text)
    assert model_names() == ("odd",)
    assert listed_model("odd") is None


@pytest.mark.parametrize(
    ("study", "row"),
    [
        (TriggerStudy(model="toy"), {"row": "trigger", "model": "toy", "fingerprint": "{}"}),
        (AblationStudy(model="toy"), {"row": "search", "model": "toy", "fingerprint": "{}"}),
        (RelaxationStudy(name="toy"), {"row": "target", "model": "{}"}),
    ],
)
def test_a_study_is_gone_on_with_where_its_model_is_the_same(dialogue_model, study, row):
    def told(fingerprint):
        return {name: value.format(fingerprint) for name, value in row.items()}

    def done(unit, fingerprint):
        return [{"unit": unit, **each} for each in ({"row": "begin"}, told(fingerprint), {"row": "done"})]

    study.check_resumed(done("1", "0123"))  # there is no such model, which the study will say itself
    dialogue_model.save(model_folder("toy"))
    here = dialogue_model.fingerprint
    study.check_resumed([*done("1", here), {"unit": "2", "row": "begin"}, {"unit": "2", "row": "list"}])
    # What was left in the midst is begun again, whatever it was begun with.
    study.check_resumed([*done("1", here), {"unit": "2", "row": "begin"}, {"unit": "2", **told("0123")}])
    with pytest.raises(ModelError, match="The model 'toy' is another one than when this study was begun"):
        study.check_resumed([*done("1", "0123"), *done("2", here)])


@pytest.mark.parametrize("name", ["nobody", "../x", ""])
def test_what_is_not_there_is_not_listed(name):
    assert listed_model(name) is None


def test_listing_takes_no_torch():
    script = "import sys; import engine.triggers.model.model_list as m; m.model_names(); print('torch' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(said.stdout.strip().lower()) is False
