"""The studies around triggers, whose worker is killed in the midst of a unit: resumed, they come to the same end.

A real worker, with models so small that a unit takes a moment. What counts as the same is everything that is found:
all but the time it took.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from relens.runs.specification import StudySpecification
from relens.studies.rows import BEGIN, DONE, ROW, UNIT, current_rows, done_units
from relens.triggers.brute_force.study import BruteForceStudy
from relens.triggers.causal.causal_study import CausalTriggerStudy
from relens.triggers.causal.coordinate import CoordinateSearch
from relens.triggers.causal.template import Template
from relens.triggers.hits import HitType, Thresholds
from relens.triggers.model.model_list import model_folder
from relens.triggers.model.recipe import Recipe
from relens.triggers.model.training_study import DialogueModelStudy
from relens.triggers.relaxation.study import RelaxationStudy
from relens.triggers.search.search_settings import SearchSettings
from relens.triggers.search.trigger_study import TriggerStudy
from tests.engine.runs.helpers import wait_until
from tests.engine.triggers.conftest import dialogue_model, vocabulary

__all__ = ["dialogue_model", "vocabulary"]  # fixtures of this module too

#: Fields of times and names, which may differ between runs.
TIMES = ("number", "seconds", "cpu_seconds", "seconds_left", "words_a_second", "name")

RECIPE = Recipe(rate=1e-2, epochs=3, batch=1, autocast=False)

STUDIES = {
    "training": DialogueModelStudy("letters", vocabulary=60, embedding=5, hidden=7, dropout=0.1, recipe=RECIPE),
    "search": TriggerStudy(
        "toy", ("normal", "random"), 8, normal="greedy", search=SearchSettings(shortlist=25, sweeps=50, restarts=40)
    ),
    "relaxation": RelaxationStudy("toy", count=8, batch=2, steps=200, lists=("random",)),
    "brute force": BruteForceStudy(
        symbols=6, words=30, pairs=400, embedding=6, hidden=8, recipe=RECIPE, random_count=10, depth=6, examples=2
    ),
    "causal": CausalTriggerStudy(
        (" the log", " a cat", " the mat"),
        Template("the cat{} sat", "plain"),
        free=3,
        method=CoordinateSearch(shortlist=8, averaged=2, averaged_until=20),
        evaluations=1_500,
        thresholds=Thresholds(-4.0, -6.0),
        hit_type=HitType("o", "min", 5),
        seeds=2,
    ),
}


@pytest.fixture(params=STUDIES)
def specification(request, tmp_path, monkeypatch, tiny_model_folder, dialogue_model):
    """A study, with the files and the model that it names."""
    monkeypatch.setenv("RELENS_DEVICE", "cpu")
    monkeypatch.setenv("RELENS_TEXTS", str(tmp_path))
    monkeypatch.setenv("RELENS_MODELS", str(tiny_model_folder))
    dialogue_model.save(model_folder("toy"))
    said = [f"say {'abcdefgh'[number % 8]} {number % 5} now\n{'bcdefgha'[number % 8]} it is" for number in range(250)]
    (tmp_path / "corpus.txt").write_text("\n\n".join(said))
    study = STUDIES[request.param]
    if request.param in ("training", "brute force"):
        study = replace(study, corpus=str(tmp_path / "corpus.txt"))
    return StudySpecification(str(tiny_model_folder) if study.needs_model else "toy", study)


@pytest.fixture
def new_worker(url, start_process, monkeypatch):
    """A function that starts a worker and gives its process."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return lambda: start_process([sys.executable, "-m", "relens.runs.worker", "--store", url])


def is_within_a_unit(rows):
    """Whether a unit is done, and the next one has a row."""
    return bool(done_units(rows)) and rows[-1][ROW] not in (BEGIN, DONE)


def results(rows):
    return [{name: value for name, value in row.items() if name not in TIMES} for row in current_rows(rows)]


@pytest.mark.slow
@pytest.mark.model  # not for its weights, but for its workers, which take their time to begin
def test_a_killed_study_has_the_same_rows(specification, store, new_worker):
    run_id, study = store.submit(specification), specification.study
    keys = {unit.key for unit in study.units()}
    first = new_worker()
    wait_until(lambda: is_within_a_unit(store.rows(run_id)))
    first.send_signal(signal.SIGKILL)
    first.wait()
    before = store.rows(run_id)
    assert store.get(run_id).status == "running"
    assert done_units(before) < keys
    new_worker()
    wait_until(lambda: store.get(run_id).status == "interrupted")
    store.resume(run_id)
    wait_until(lambda: not store.get(run_id).is_live)
    assert store.get(run_id).status == "done", store.get(run_id).error
    after = store.rows(run_id)
    assert after[: len(before)] == before
    begun = Counter(row[UNIT] for row in after[len(before) :] if row[ROW] == BEGIN)
    assert begun == Counter(keys - done_units(before))
    assert done_units(after) == keys

    # The same again, with nothing left of the first time, and without a kill.
    shutil.rmtree(Path(os.environ["RELENS_CACHE"]) / "character-models", ignore_errors=True)
    undisturbed = store.submit(specification)
    wait_until(lambda: not store.get(undisturbed).is_live)
    rows = store.rows(undisturbed)
    assert results(after) == results(rows)
    assert len(done_units(rows)) == len(keys)
    assert study.verdict(current_rows(after))
