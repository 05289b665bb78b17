"""The rows that a page has: all of them, each fetched once."""

import dataclasses

from app.run_rows import RunRows
from engine.query import Query, Sampling
from engine.runs.specification import SearchSpecification
from tests.app.fakes import FakeStore, match_row


class CountingStore(FakeStore):
    fetched = 0

    def rows(self, run_id, after=0, limit=None):
        rows = super().rows(run_id, after, limit)
        self.fetched += len(rows)
        return rows


def test_each_row_is_fetched_once():
    store = CountingStore()
    run_id = store.submit(SearchSpecification("m", Query("a")))
    found = RunRows(run_id)
    assert found.refresh(store) == 0
    for size in (3, 0, 5):
        store.add_rows(run_id, [match_row(str(place)) for place in range(size)])
        assert found.refresh(store) == size
    assert found.refresh(store) == 0
    assert [row["number"] for row in found.rows] == list(range(1, 9))
    assert store.fetched == 8


def test_a_row_is_found_by_its_number():
    found = RunRows("r", [{"number": 1}, {"number": 2}, {"number": 7}])
    assert found.find(2) == {"number": 2}
    assert found.find(7) == {"number": 7}
    assert found.find(3) is None


def test_the_history_keeps_its_ends_and_stays_small():
    store = FakeStore()
    run = store.runs[store.submit(SearchSpecification("m", Query("a")))]
    found = RunRows(run.id)
    found.note(run)
    assert found.history == []
    for second in range(2000):
        progress = {"seconds_total": float(second), "found_mass": second / 4000, "remaining_mass": 0.5}
        found.note(dataclasses.replace(run, progress=progress))
        found.note(dataclasses.replace(run, progress=progress))
    assert len(found.history) <= 401
    assert found.history[0] == (0.0, 0.0, 0.5)
    assert found.history[-1] == (1999.0, 1999 / 4000, 1999 / 4000 + 0.5)
    assert found.history == sorted(found.history)


def test_a_sample_has_no_bounds_to_remember():
    store = FakeStore()
    run = store.runs[store.submit(SearchSpecification("m", Query("a"), Sampling(10)))]
    found = RunRows(run.id)
    found.note(dataclasses.replace(run, progress={"seconds_total": 1.0, "found_mass": 0.0, "remaining_mass": 1.0}))
    assert found.history == []
