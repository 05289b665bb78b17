"""One problem for every model: a search that was written for prompts finds triggers of a dialogue model too."""

from __future__ import annotations

import pytest

from relens.errors import ModelError
from relens.triggers.causal.coordinate import CoordinateSearch
from relens.triggers.causal.gcg import GreedyCoordinateGradient
from relens.triggers.causal.trial import Trial
from relens.triggers.check import score
from relens.triggers.hits import HitType, Thresholds
from relens.triggers.model.vocabulary import END
from relens.triggers.objective import Objective
from relens.triggers.problem import TriggerProblem


@pytest.mark.parametrize("search", [CoordinateSearch(shortlist=8), GreedyCoordinateGradient(batch=16, top=8)])
@pytest.mark.parametrize("name", ["o-sample-avg-k1", "io-sample-avg-k1"])
def test_a_search_for_prompts_searches_a_dialogue_model(dialogue_model, search, name):
    losses, costs = dialogue_model.losses([*dialogue_model.vocabulary.ids(["word2", "word3"]), END])
    objective = Objective(HitType.called(name), Thresholds(-3.0, -3.0), 1.0, 1.0, 1.0)
    trial = Trial(losses, objective, 150, 0, costs)
    for _ in search.steps(trial):
        pass
    assert trial.value < trial.curve[0][1]
    assert trial.prompt.survives(trial.best)
    found = score(losses, trial.prompt.text(trial.best), costs)
    expected = -found.average - (found.input_average if objective.scores_inputs else 0.0)
    assert trial.value == pytest.approx(expected, abs=1e-5)


def test_a_hit_type_of_inputs_needs_a_judge(dialogue_model):
    losses, _ = dialogue_model.losses([7, END])
    with pytest.raises(ModelError, match="score them with"):
        TriggerProblem(losses, Objective(HitType("io", "avg"), Thresholds(-3.0, -3.0)))
