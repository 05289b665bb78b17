"""The rows of pages: read once for everybody, in pages, within bounds, and added up once."""

import dataclasses
import gc
import threading
import time
import weakref

import pytest

from relens.errors import StoreError
from relens.query import Query, Sampling
from relens.runs.specification import SearchSpecification, StudySpecification
from relens.studies.bias import BiasStudy
from relens_dashboard import run_rows
from relens_dashboard.run_rows import RowHolder, read_all_rows, read_rows, stored_rows
from tests.app.fakes import FakeStore, match_row

PAGE = 10


class CountingStore(FakeStore):
    """Pages of ten rows. fetched: rows read so far. now: the clock, which each page advances by `takes`."""

    fetched, now, takes = 0, 0.0, 0.0

    def row_page(self, run_id, after=0, most_rows=PAGE, most_bytes=1 << 24):
        page = super().row_page(run_id, after, most_rows, most_bytes)
        self.fetched += len(page.rows)
        self.now += self.takes
        return page


@pytest.fixture
def store():
    return CountingStore()


@pytest.fixture
def holder(store):
    return RowHolder(clock=lambda: store.now)


def study_run(store, count, status="done"):
    run_id = store.submit(StudySpecification("m", BiasStudy()))
    store.add_rows(run_id, [{"unit": "u", "row": "match", "place": place} for place in range(count)])
    store.change(run_id, status=status)
    return store.get(run_id)


def numbers(held):
    return [row["number"] for row in held.rows]


def test_each_row_is_fetched_once_for_all_who_look(store):
    run_id = store.submit(SearchSpecification("m", Query("a")))
    assert read_rows(store, store.get(run_id)).is_whole
    for size in (3, 0, 25):
        store.add_rows(run_id, [match_row(str(place)) for place in range(size)])
        for _ in range(3):
            assert read_rows(store, store.get(run_id)).is_whole
    assert numbers(read_rows(store, store.get(run_id))) == list(range(1, 29))
    assert store.fetched == 28


def test_two_sessions_have_the_same_objects(store):
    run = study_run(store, 5)
    assert read_rows(store, run).rows is read_rows(store, run).rows


def test_a_look_waits_only_so_long_and_the_next_goes_on(store, holder):
    run = study_run(store, 45)
    store.takes = 0.15
    first = holder.look(store, run, patience=0.2)
    assert (len(first.rows), first.is_read, first.is_whole) == (20, False, False)
    assert first.reading_sentence() == "Reading rows: 20 of 45."
    second = holder.look(store, run, patience=0.2)
    third = holder.look(store, run, patience=0.2)
    assert [len(one.rows) for one in (first, second, third)] == [20, 40, 45]
    assert third.is_whole
    assert not third.reading_sentence()
    assert store.fetched == 45


def test_the_rows_of_a_look_never_change(store, holder):
    run = study_run(store, 5, "running")
    first = holder.look(store, run)
    store.add_rows(run.id, [{"unit": "u", "row": "match"}])
    second = holder.look(store, store.get(run.id))
    assert (len(first.rows), len(second.rows)) == (5, 6)


def test_a_row_by_its_number(store, holder):
    run = study_run(store, 12)
    held = holder.look(store, run)
    assert held.find(11)["place"] == 10
    assert held.find(13) is None
    assert held.find(0) is None


def test_a_run_with_too_many_rows_is_cut_with_a_sentence(store, holder, monkeypatch):
    monkeypatch.setattr(run_rows, "MOST_ROWS", 25)
    held = holder.look(store, study_run(store, 60))
    assert numbers(held) == list(range(1, 26))
    assert (held.is_read, held.is_cut, held.is_whole) == (True, True, False)
    assert "60 rows" in held.cut_sentence()
    assert "first 25" in held.cut_sentence()


def test_a_run_with_too_large_rows_is_cut(store, holder, monkeypatch):
    run = study_run(store, 60)
    holder.look(store, study_run(store, PAGE))
    monkeypatch.setattr(run_rows, "MOST_BYTES", holder.held()[1] + 1)
    held = holder.look(store, run)
    assert len(held.rows) == 2 * PAGE
    assert held.is_cut


def test_rows_that_a_record_counts_and_nobody_has_are_not_waited_for(store, holder):
    run = study_run(store, 5)
    held = holder.look(store, dataclasses.replace(run, row_count=9))
    assert (len(held.rows), held.total, held.is_whole) == (5, 5, True)
    store.add_rows(run.id, [{"unit": "u", "row": "done"}] * 5)  # it was resumed
    assert len(holder.look(store, store.get(run.id)).rows) == 10


def test_the_run_that_nobody_looked_at_for_longest_is_dropped_first(store):
    holder = RowHolder(most_rows=40, clock=lambda: store.now)
    first, second, third = (study_run(store, 20) for _ in range(3))
    holder.look(store, first)
    holder.look(store, second)
    holder.look(store, first)
    holder.look(store, third)
    rows, _ = holder.held()
    assert rows <= 40
    fetched = store.fetched
    holder.look(store, first)
    assert store.fetched == fetched  # it is still there
    holder.look(store, second)
    assert store.fetched == fetched + 20


def test_bytes_are_bounded_too_and_include_results(store):
    one = study_run(store, 20)
    alone = RowHolder(clock=lambda: store.now)
    alone.look(store, one)
    size = alone.held()[1]
    holder = RowHolder(most_bytes=2 * size, clock=lambda: store.now)
    held = holder.look(store, one)
    assert holder.held()[1] == size
    held.remember("something", lambda: 1)
    assert holder.held()[1] > size
    for _ in range(4):
        holder.look(store, study_run(store, 20))
        assert holder.held()[1] <= 2 * size


def test_two_who_read_large_runs_both_come_to_the_end(store):
    holder = RowHolder(most_rows=60, clock=lambda: store.now)
    runs = [study_run(store, 50), study_run(store, 50)]
    whole = set()
    for _ in range(30):
        for run in runs:
            store.now += 0.1
            if run.id not in whole and holder.look(store, run, patience=0.0).is_whole:
                whole.add(run.id)
            assert holder.held()[0] <= 60
    assert whole == {run.id for run in runs}


def test_results_of_rows_are_made_once_for_all(store, holder):
    run = study_run(store, 5)
    made = []
    for _ in range(3):
        held = holder.look(store, run)
        assert held.remember("sum", lambda: made.append(1) or 5) == 5
        assert held.remember(("sum", 2), lambda: 6) == 6
    assert made == [1]


def test_while_a_run_lives_slow_results_are_made_rarely_and_at_its_end_once_more(store, holder):
    run = study_run(store, 5, "running")
    made = []

    def slow():
        store.now += 2.0
        made.append(len(made))
        return len(made)

    holder.look(store, run).remember("slow", slow)
    for _ in range(30):
        store.now += 1.0
        store.add_rows(run.id, [{"unit": "u", "row": "match"}])
        holder.look(store, store.get(run.id)).remember("slow", slow)
    assert 2 <= len(made) <= 3
    store.add_rows(run.id, [{"unit": "u", "row": "done"}])
    store.change(run.id, status="done")
    before = len(made)
    for _ in range(3):
        holder.look(store, store.get(run.id)).remember("slow", slow)
    assert len(made) == before + 1


def test_an_error_of_making_reaches_every_session(store, holder):
    held = holder.look(store, study_run(store, 5))
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            held.remember("ratio", lambda: 1 / 0)


def test_two_who_want_the_same_wait_for_one_to_make_it(store, holder):
    run = study_run(store, 5)
    made, answers = [], []

    def slow():
        made.append(1)
        time.sleep(0.1)
        return object()

    def ask():
        answers.append(holder.look(store, run).remember("slow", slow))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert len(set(map(id, answers))) == 1


def test_threads_that_read_one_run_together_have_each_row_once(store, holder):
    run = study_run(store, 500)
    seen = []

    def look():
        while not (held := holder.look(store, run, patience=0.0)).is_read:
            pass
        seen.append(numbers(held))

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [list(range(1, 501))] * 4
    assert store.fetched == 500


def test_a_store_that_cannot_be_read_is_read_again_at_the_next_look(store, holder, monkeypatch):
    run = study_run(store, 5)

    def busy(*_, **__):
        raise StoreError("The store of runs is too busy to answer.")

    with monkeypatch.context() as patched:
        patched.setattr(store, "row_page", busy)
        with pytest.raises(StoreError):
            holder.look(store, run)
    assert holder.look(store, run).is_whole


def test_a_match_is_held_without_its_terms_and_stored_with_them(store):
    run_id = store.submit(SearchSpecification("m", Query("a")))
    store.add_rows(
        run_id, [match_row(" cat", "The", groups={"who": "cat"}), match_row(" dog", "The", token_ids=[2**64, -1])]
    )
    store.change(run_id, status="done")
    held = read_all_rows(store, store.get(run_id)).rows
    stored = stored_rows(store, run_id)
    assert [list(row["token_ids"]) for row in held] == [[1, 2, 3], [2**64, -1]]
    assert not any("token_log_probs" in row for row in held)
    for slim, full in zip(held, stored, strict=True):
        assert all(slim[name] == full[name] for name in slim if name not in ("token_ids", "groups"))
        assert dict(slim["groups"]) == full["groups"]
        assert full["token_log_probs"] == [-1.0, -1.0, -1.0]


def test_a_file_has_the_first_rows_of_a_run(store):
    run = study_run(store, 45)
    assert [row["number"] for row in stored_rows(store, run.id)] == list(range(1, 46))
    assert [row["number"] for row in stored_rows(store, run.id, most=23)] == list(range(1, 24))


def test_rows_go_with_their_store():
    store = CountingStore()
    read_rows(store, study_run(store, 5))
    holder = weakref.ref(run_rows._holders[store])
    del store
    gc.collect()
    assert holder() is None


def test_the_history_of_bounds_keeps_its_ends_and_stays_small(store, holder):
    run = store.runs[store.submit(SearchSpecification("m", Query("a")))]
    assert holder.look(store, run).history == ()
    for second in range(2000):
        progress = {"seconds_total": float(second), "found_mass": second / 4000, "remaining_mass": 0.5}
        for _ in range(2):
            held = holder.look(store, dataclasses.replace(run, progress=progress))
    assert len(held.history) <= 401
    assert held.history[0] == (0.0, 0.0, 0.5)
    assert held.history[-1] == (1999.0, 1999 / 4000, 1999 / 4000 + 0.5)
    assert held.history == sorted(held.history)


def test_samples_and_studies_have_no_bounds_to_remember(store, holder):
    progress = {"seconds_total": 1.0, "found_mass": 0.0, "remaining_mass": 1.0}
    sample = store.runs[store.submit(SearchSpecification("m", Query("a"), Sampling(10)))]
    assert holder.look(store, dataclasses.replace(sample, progress=progress)).history == ()
    study = dataclasses.replace(study_run(store, 1), progress={"seconds_total": 1.0})
    assert holder.look(store, study).history == ()
