"""Pages of rows: the same rows as all at once, within their bounds, and made to be held."""

import gc
import json

import pytest

from relens.runs.row_pages import memory_of
from tests.engine.runs.fakes import specification


@pytest.fixture
def run(store):
    """A run with these rows."""

    def filled(rows):
        run_id = store.submit(specification("a"))
        store.claim("w")
        store.append(run_id, rows)
        return run_id

    return filled


def pages(store, run_id, **bounds):
    """All pages, one after the other."""
    pages_read = [store.row_page(run_id, **bounds)]
    while not pages_read[-1].is_last:
        pages_read.append(store.row_page(run_id, pages_read[-1].rows[-1]["number"], **bounds))
    return pages_read


def as_lists(value):
    return json.loads(json.dumps(value))


ROWS = [
    {"text": f"r{place}", "ids": [place, 2], "deep": {"a": [{"b": [1]}]}, "low": -float("inf")} for place in range(250)
]


@pytest.mark.parametrize("most", [1, 7, 250, 251])
def test_pages_are_the_rows(store, run, most):
    run_id = run(ROWS)
    pages_read = pages(store, run_id, most_rows=most)
    assert as_lists([row for page in pages_read for row in page.rows]) == store.rows(run_id)
    assert all(len(page.rows) <= most for page in pages_read)


def test_a_page_ends_with_the_row_that_fills_it(store, run):
    run_id = run([{"text": "short"}, {"numbers": list(range(1_000))}, {"text": "short"}])
    pages_read = pages(store, run_id, most_bytes=5_000)
    assert [len(page.rows) for page in pages_read] == [2, 1]
    assert pages_read[0].bytes > 5_000 > pages_read[1].bytes


def test_a_row_larger_than_a_page_is_a_page(store, run):
    run_id = run([{"text": "x" * 10_000}] * 3)
    assert [len(page.rows) for page in pages(store, run_id, most_bytes=100)] == [1, 1, 1, 0]


def test_lists_are_tuples_at_any_depth_and_names_are_shared(store, run):
    first, second = store.row_page(run(ROWS[:2])).rows
    assert first["deep"] == {"a": ({"b": (1,)},)}
    assert first["ids"] == (0, 2)
    assert all(one is other for one, other in zip(first, second, strict=True))


def test_the_garbage_collector_does_not_visit_rows_of_plain_values(store, run):
    rows = store.row_page(run([{"text": "a", "ids": [1, 2], "log_prob": -1.0}] * 5)).rows
    gc.collect()
    assert not any(map(gc.is_tracked, rows))


def test_an_unknown_or_deleted_run_has_no_rows(store, run):
    run_id = run(ROWS[:2])
    store.finish(run_id, "done")
    store.delete(run_id)
    for name in (run_id, "0" * 16):
        page = store.row_page(name)
        assert (page.rows, page.is_last) == ([], True)


def test_memory_is_counted_by_values_and_not_by_characters():
    assert memory_of(json.dumps([[]] * 1_000)) > 50_000
    assert memory_of(json.dumps("x" * 1_000)) < 2_000
