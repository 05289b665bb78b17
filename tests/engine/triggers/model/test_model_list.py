"""The list of dialogue models, which loads none of them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from relens.errors import ModelError
from relens.triggers.hits import Thresholds
from relens.triggers.model.model_list import MODEL, listed_model, model_folder, model_names
from relens.triggers.relaxation.rows import RelaxedTarget
from relens.triggers.relaxation.study import RelaxationStudy
from relens.triggers.score_row import StoredScore
from relens.triggers.search.ablation_study import AblationStudy
from relens.triggers.search.rows import SearchRow, TriggerRow
from relens.triggers.search.trigger_study import TriggerStudy


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RELENS_CACHE", str(tmp_path))


def test_a_model_is_listed_as_it_is(dialogue_model):
    dialogue_model.save(model_folder("toy"))
    listed = listed_model("toy")
    assert (listed.name, listed.fingerprint) == ("toy", dialogue_model.fingerprint)
    assert (listed.thresholds, listed.training) == (dialogue_model.thresholds, dialogue_model.training)


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"thresholds": {"out": 3.0}}', '{"training": {"stars": 1}}', "{}"])
def test_unreadable_descriptions_are_not_listed(text):
    model_folder("odd").mkdir(parents=True)
    (model_folder("odd") / MODEL).write_text(text)
    assert model_names() == ("odd",)
    assert listed_model("odd") is None


RELAXED = RelaxedTarget(
    space="one-hot",
    list="normal",
    hit=True,
    first_hit=0,
    step=0,
    cost=1.0,
    projected_hit=False,
    **dict.fromkeys(("embedding", "state"), ()),
    **dict.fromkeys(("target", "reply", "projected", "projected_reply"), ("word1",)),
    model="",
)
TARGET = {"list": "normal", "place": 1, "target": ("word1",)}
SEARCHED = TARGET | {"objectives": (1.0,), "sweeps": (1,), "candidates": 9, "model": "toy", "seconds": 1.0}
SEARCH = SearchRow(
    **SEARCHED, hit_type="o-greedy", shortlist=9, is_hit=(False,), tried=(9,), curve=(1.0,), fingerprint="{}"
)
SCORE = StoredScore(
    text="word2",
    **dict.fromkeys(("input_tokens", "target_tokens"), ("word",)),
    **dict.fromkeys(("input_log_probs", "token_log_probs", "leads"), (-1.0,)),
    reply="",
    is_said=False,
    margins={},
    searched="o-greedy",
    thresholds=Thresholds(-1.0, -1.0),
    fingerprint="{}",
)
TRIGGER = TriggerRow(
    **SEARCHED, score=SCORE, objective=1.0, restart=0, inputs=(), restarts_that_hit={}, full=0, gradients=0
)


@pytest.mark.parametrize(
    ("study", "row"),
    [
        (TriggerStudy(model="toy"), TRIGGER.to_json()),
        (AblationStudy(model="toy"), SEARCH.to_json()),
        (RelaxationStudy(name="toy"), RELAXED.to_json() | {"model": "{}"}),
    ],
)
def test_a_study_is_resumed_only_with_the_same_model(dialogue_model, study, row):
    def made(unit, fingerprint):
        return row | {name: fingerprint for name, value in row.items() if value == "{}"} | {"unit": unit}

    def done(unit, fingerprint):
        return [{"unit": unit, "row": "begin"}, made(unit, fingerprint), {"unit": unit, "row": "done"}]

    study.check_resumed(done("1", "0123"))  # without the model, the run raises later
    dialogue_model.save(model_folder("toy"))
    here = dialogue_model.fingerprint
    study.check_resumed([*done("1", here), {"unit": "2", "row": "begin"}, {"unit": "2", "row": "list"}])
    # A unit that was cut short begins again.
    study.check_resumed([*done("1", here), {"unit": "2", "row": "begin"}, made("2", "0123")])
    with pytest.raises(ModelError, match="The model 'toy' is another one than when this study was begun"):
        study.check_resumed([*done("1", "0123"), *done("2", here)])


@pytest.mark.parametrize("name", ["nobody", "../x", ""])
def test_missing_models_are_not_listed(name):
    assert listed_model(name) is None


def test_the_list_needs_no_torch():
    script = "import sys; import relens.triggers.model.model_list as m; m.model_names(); print('torch' in sys.modules)"
    listing = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(listing.stdout.strip().lower()) is False
