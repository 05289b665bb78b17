"""Each kind of study, cut short anywhere and resumed: no unit that was done is done again, and it says the same.

A tiny model carries the studies out. What a worker leaves that is killed is what the store has by then: some rows, and
a run without a worker. One test kills a real one.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from relens import settings
from relens.models.loading import load_model
from relens.query import Decoding
from relens.runs.specification import StudySpecification
from relens.studies.bias import BiasStudy
from relens.studies.bias_variants import Variant
from relens.studies.cloze import ClozeStudy
from relens.studies.knowledge import KnowledgeStudy
from relens.studies.memorization import MemorizationStudy
from relens.studies.rows import BEGIN, DONE, ROW, UNIT, current_rows, done_units
from relens.studies.sentences import find_sentences
from relens.studies.study import StudyContext, StudyRun
from relens.studies.toxicity import ToxicityStudy
from tests.engine.runs.conftest import ROOT
from tests.engine.runs.fakes import FakeServices
from tests.engine.runs.helpers import wait_until

pytestmark = pytest.mark.heavy

_CACHE = settings.cache_folder()  # before a test has its own

STUDIES = {
    study.kind: study
    for study in (
        BiasStudy(
            "A {subject} {outcome}",
            ("at", "on"),
            ("is", "cat"),
            variants=(Variant(), Variant(exact=True)),
            draws=50,
            position_draws=20,
        ),
        ClozeStudy(("The cat sat on the mat", "A dog ran to the cat"), top_k=None, answers=2, expansions=20),
        KnowledgeStudy("The cat sat on the", "mat", ("log", "dog"), "mat|log|dog|cat", continuation=4, expansions=50),
        MemorizationStudy("The (cat|dog)", "s? (sat|[a-d])", decoding=Decoding(), seconds=0.2, new_tokens=(1, 4)),
        ToxicityStudy(
            find_sentences("The cat sat. A dog ran. The mat!", ("sat", "ran", "mat")).sentences,
            ("sat", "ran", "mat"),
            decoding=Decoding(top_k=200),
            prompted_expansions=20,
            unprompted_expansions=20,
            chunk=2,
        ),
    )
}


@pytest.fixture(scope="module")
def model(tiny_model_folder):
    return load_model(str(tiny_model_folder), device="cpu")


@pytest.fixture(scope="module")
def whole(model):
    """The rows of each study that nothing cut short."""
    return {kind: list(StudyRun(study, StudyContext(model))) for kind, study in STUDIES.items()}


@pytest.fixture
def services(model):
    class TinyServices(FakeServices):
        def begin_study(self, _, specification, finished, stop):
            return StudyRun(specification.study, StudyContext(model, stop=stop), finished)

    return TinyServices()


def cuts(rows: list) -> dict[str, int]:
    """How many rows were written before the worker was gone, in some ways."""
    first = next(place for place, row in enumerate(rows) if row[ROW] == DONE)
    return {"at once": 0, "in the first unit": first, "between two": first + 1, "in the second": first + 3,
            "before the end": len(rows) - 1}  # fmt: skip


@pytest.mark.parametrize("kind", STUDIES)
def test_finished_units_are_not_done_again(kind, store, whole, request):
    study, rows = STUDIES[kind], whole[kind]
    runs = {}
    for where, cut in cuts(rows).items():
        runs[store.submit(StudySpecification("fake", study))] = (where, rows[:cut])
        run_id = store.claim("gone").id
        store.append(run_id, rows[:cut])
        store.finish(run_id, "interrupted")
    for run_id in runs:
        store.resume(run_id)
    request.getfixturevalue("worker")
    for run_id, (where, before) in runs.items():
        wait_until(lambda run_id=run_id: store.get(run_id).status == "done")
        after = store.rows(run_id)
        assert [{**row, "number": None} for row in after[: len(before)]] == [{**row, "number": None} for row in before]
        done = done_units(before)
        begun = Counter(row[UNIT] for row in after[len(before) :] if row[ROW] == BEGIN)
        assert begun == Counter(unit.key for unit in study.units() if unit.key not in done), where
        assert done_units(after) == {unit.key for unit in study.units()}
        if kind != "memorization":  # its rows depend on time
            assert len(current_rows(after)) == len(rows)
            assert study.verdict(current_rows(after)) == study.verdict(rows), where


@pytest.mark.model
def test_a_real_worker_is_killed_between_two_units(store, url, monkeypatch):
    monkeypatch.setenv("RELENS_CACHE", str(_CACHE))
    monkeypatch.setenv("RELENS_MODELS", "smollm2-135m")
    month = "January|February|March|April|May|June|July"
    study = KnowledgeStudy(pattern=f"({month}) ([1-9]|[12][0-9]), 17[0-9]{{2}}", matches=80, expansions=400)
    run_id = store.submit(StudySpecification("smollm2-135m", study))
    keys = [unit.key for unit in study.units()]
    first = worker_process(url)
    try:
        wait_until(lambda: len(done_units(store.rows(run_id))) == len(keys) - 1)
        first.send_signal(signal.SIGKILL)
    finally:
        first.kill()
        first.wait()
    before = store.rows(run_id)
    assert store.get(run_id).status == "running"
    assert done_units(before) == set(keys[:-1])
    second = worker_process(url)
    try:
        wait_until(lambda: store.get(run_id).status == "interrupted")
        store.resume(run_id)
        wait_until(lambda: store.get(run_id).status == "done")
    finally:
        second.kill()
        second.wait()
    after = store.rows(run_id)
    assert after[: len(before)] == before
    begun = [row[UNIT] for row in after if row[ROW] == BEGIN]
    assert Counter(begun) - Counter(keys) <= Counter(keys[-1:])
    assert done_units(after) == set(keys)
    assert study.verdict(after)


def worker_process(url: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "relens.runs.worker", "--store", url],
        cwd=Path(ROOT),
        stderr=subprocess.DEVNULL,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
