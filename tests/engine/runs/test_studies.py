"""Studies as runs: carried out by a worker, cut short, and resumed without doing anything twice."""

from __future__ import annotations

from collections import Counter

import pytest

from relens.errors import ModelError, QueryError
from relens.runs.specification import StudySpecification, specification_from_json, specification_to_json
from relens.studies import catalogue
from relens.studies.rows import done_units, rows_of
from tests.engine.runs.counting import CountingStudy
from tests.engine.runs.fakes import FakeModel, specification
from tests.engine.runs.helpers import wait_until


@pytest.fixture(autouse=True)
def _counting(monkeypatch):
    homes = {**catalogue._HOME, "counting": "tests.engine.runs.counting:CountingStudy"}
    monkeypatch.setattr(catalogue, "_HOME", homes)


def test_a_study_survives_json():
    specification = StudySpecification("fake", CountingStudy((1, 2)))
    data = specification_to_json(specification)
    assert data["kind"] == "study"
    assert data["study"] == {"kind": "counting", "counts": [1, 2], "pause": 0.0}
    assert specification_from_json(data) == specification
    with pytest.raises(QueryError, match="A study is one of"):
        specification_from_json({**data, "study": {"kind": "astrology"}})
    with pytest.raises(QueryError, match="no field called 'stars'"):
        specification_from_json({**data, "study": {"kind": "counting", "stars": 3}})


def test_a_study_is_carried_out(store, worker):
    run = store.submit(StudySpecification("fake", CountingStudy()))
    wait_until(lambda: store.get(run).status == "done")
    rows = store.rows(run)
    assert done_units(rows) == {"0", "1"}
    assert [row["count"] for row in rows_of(rows, "count")] == [0, 1, 0, 1, 2]
    progress = store.get(run).progress
    assert (progress["units"], progress["units_done"], progress["ended"]) == (2, 2, "done")


def test_a_study_that_was_stopped_goes_on_where_it_was(store, worker):
    run = store.submit(StudySpecification("fake", CountingStudy((1, 400), pause=0.02)))
    wait_until(lambda: store.get(run).row_count > 6)
    store.request_stop(run)
    wait_until(lambda: store.get(run).status == "stopped")
    before = store.rows(run)
    assert done_units(before) == {"0"}
    with pytest.raises(QueryError, match="could be resumed"):
        store.resume("nobody")
    store.resume(run)
    wait_until(lambda: store.get(run).row_count > len(before) + 3)
    store.request_stop(run)
    wait_until(lambda: store.get(run).status == "stopped")
    rows = store.rows(run)
    begun = Counter(row["unit"] for row in rows if row["row"] == "begin")
    assert begun == {"0": 1, "1": 2}
    numbers = [row["count"] for row in rows_of(rows, "count", "1")]
    assert numbers == list(range(len(numbers)))


def test_only_a_study_that_is_over_and_undone_can_be_resumed(store, worker):
    search = store.submit(specification("3"))
    study = store.submit(StudySpecification("fake", CountingStudy()))
    wait_until(lambda: store.get(study).status == "done")
    for run in (search, study):
        with pytest.raises(QueryError, match="could be resumed"):
            store.resume(run)


def test_a_study_that_needs_no_model_loads_none(store, worker, services, monkeypatch):
    monkeypatch.setattr(CountingStudy, "needs_model", False)
    run = store.submit(StudySpecification("missing", CountingStudy((1,))))
    wait_until(lambda: store.get(run).status not in ("queued", "running"))
    assert store.get(run).status == "done"
    assert store.get(run).versions
    assert not store.get(run).model_fingerprint
    assert services.loaded == []


def test_a_failing_unit_keeps_the_rows_before_it(store, worker, monkeypatch):
    carry_out = CountingStudy.carry_out

    def failing(self, unit, context):
        yield from carry_out(self, unit, context)
        if unit.key == "1":
            raise ModelError("The second model is missing.")

    monkeypatch.setattr(CountingStudy, "carry_out", failing)
    run = store.submit(StudySpecification("fake", CountingStudy((3, 2))))
    wait_until(lambda: store.get(run).status not in ("queued", "running"))
    assert (store.get(run).status, store.get(run).error) == ("failed", "The second model is missing.")
    rows = store.rows(run)
    assert done_units(rows) == {"0"}
    assert [row["count"] for row in rows_of(rows, "count")] == [0, 1, 2, 0, 1]


def stopped_after_one_unit(store):
    """A study with one unit done, that waits to be resumed."""
    run = store.submit(StudySpecification("fake", CountingStudy((1, 400), pause=0.02)))
    wait_until(lambda: store.get(run).row_count > 4)
    store.request_stop(run)
    wait_until(lambda: store.get(run).status == "stopped")
    return run


def ended(store, run):
    wait_until(lambda: store.get(run).status not in ("queued", "running"))
    return store.get(run)


def test_a_study_is_not_resumed_with_another_model_of_that_name(store, worker, services, monkeypatch):
    run = stopped_after_one_unit(store)
    before, begun_with = store.rows(run), store.get(run).model_fingerprint
    ended(store, store.submit(specification("1", model="other")))  # takes the place of the loaded one
    monkeypatch.setattr(services, "load_model", lambda name, _: FakeModel(name, fingerprint="trained again"))
    for _ in range(2):  # failing changes nothing of what the run is known to be made with
        store.resume(run)
        failed = ended(store, run)
        assert (failed.status, failed.model_fingerprint) == ("failed", begun_with)
        assert failed.error.startswith("The model 'fake' is another one than when this study was begun")
        assert store.rows(run) == before


def test_a_study_without_finished_units_begins_with_the_present_model(store, worker, services, monkeypatch):
    run = store.submit(StudySpecification("fake", CountingStudy((20, 1), pause=0.02)))
    wait_until(lambda: store.get(run).row_count > 2)
    store.request_stop(run)
    ended(store, run)
    ended(store, store.submit(specification("1", model="other")))
    monkeypatch.setattr(services, "load_model", lambda name, _: FakeModel(name, fingerprint="trained again"))
    store.resume(run)
    assert (ended(store, run).status, store.get(run).model_fingerprint) == ("done", "trained again")


def test_a_study_checks_the_models_in_its_settings(store, worker, monkeypatch):
    monkeypatch.setattr(CountingStudy, "needs_model", False)

    def check(study, rows):
        assert done_units(rows) == {"0"}
        raise ModelError("The dialogue model is another one.")

    monkeypatch.setattr(CountingStudy, "check_resumed", check)
    run = stopped_after_one_unit(store)  # which was begun without being looked at
    before = store.rows(run)
    store.resume(run)
    assert ended(store, run).error == "The dialogue model is another one."
    assert store.rows(run) == before
