"""Runs of many rows on the pages: read by and by, shown a page of lines at a time, and refused where they are cut.

How long something holds the interpreter, while nobody else is served, is measured by a thread that ticks. It counts the
seconds that this process computes, which do not grow with what else the machine does.
"""

from __future__ import annotations

import gc
import math
import threading
import time
from contextlib import contextmanager

import pytest
from streamlit.testing.v1 import AppTest

from relens.query import Distribution, Query, Sampling, ShortestPath
from relens.runs.records import MOST_ROWS
from relens.runs.specification import SearchSpecification, StudySpecification
from relens_dashboard import run_rows
from relens_dashboard.components import compared_rows
from relens_dashboard.components.pager import LINES
from tests.app.conftest import MAIN
from tests.app.fakes import match_row
from tests.app.studies.test_bias import ROWS, STUDY
from tests.app.test_pages import html_of, plain

pytestmark = pytest.mark.heavy

#: Seconds that nothing may hold the interpreter for.
MOST_HELD = 0.3
PROGRESS = {"found_mass": 0.12, "remaining_mass": 0.22, "seconds_total": 60.0, "samples": 100_000, "ended": "matches"}


class Ticks(threading.Thread):
    """The longest time, of this process, from one tick to the next."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.longest = 0.0
        self._end = threading.Event()

    def run(self) -> None:
        last = time.process_time()
        while not self._end.wait(0.005):
            now = time.process_time()
            self.longest, last = max(self.longest, now - last), now

    def __enter__(self) -> Ticks:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self.join()


@contextmanager
def collected_no_more():
    """Garbage collection skips the present objects: a fake store holds rows that a real one has on disk."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def matches(count):
    return [
        match_row(
            f" w{place // 2 if place % 5 == 0 else place}",
            f"The {('man', 'woman')[place % 2]} was trained in",
            -5.0 - place * 1e-4,
            canonical=place % 5 != 0,
            groups={"who": ("man", "woman")[place % 2], "what": f"w{place % 50}"},
            count=1 + place % 3,
            seconds=place * 1e-3,
        )
        for place in range(count)
    ]


def search_of(store, count, traversal=None, status="done"):
    query = Query(" (?P<what>w[0-9]+)", prefix="The (?P<who>man|woman) was trained in")
    run_id = store.submit(SearchSpecification("smollm2-135m", query, traversal or ShortestPath()))
    store.add_rows(run_id, matches(count))
    store.change(run_id, status=status, progress=PROGRESS)
    return run_id


@pytest.fixture
def opened(dashboard):
    """A function that opens a page on a run, in a session of its own."""

    def on(page, **parameters):
        session = AppTest.from_file(MAIN, default_timeout=120)
        session.run()
        session.switch_page(f"../../pages/{page}.py")
        for name, value in parameters.items():
            session.query_params[name] = value
        shown = session.run()
        assert not shown.exception
        return shown

    return on


def infos(page):
    return "\n".join(plain(info.value) for info in page.info)


def look_on(page):
    """Look again, as the page's clock does, until all is read; the number of looks."""
    looks = 0
    while "Reading rows" in infos(page):
        page.run()
        assert not page.exception
        looks += 1
    return looks


@pytest.fixture
def impatient(monkeypatch):
    """A look reads a single page of rows."""
    monkeypatch.setattr(run_rows.RowHolder.look, "__defaults__", (0.0,))
    monkeypatch.setattr(run_rows.read_rows, "__defaults__", (0.0,))


@pytest.mark.parametrize("traversal", [ShortestPath(), Sampling(100_000), Distribution()])
def test_a_run_of_all_the_rows_that_there_may_be_is_opened_and_nobody_else_waits(opened, services, traversal):
    run_id = search_of(services.store, MOST_ROWS, traversal)
    with collected_no_more(), Ticks() as ticks:
        page = opened("workbench", run=run_id)
        assert len(page.dataframe[0].value) == LINES  # at the first look already
        look_on(page)
    assert len(page.dataframe[0].value) <= LINES
    assert page.get("plotly_chart")
    assert ticks.longest < MOST_HELD


def test_unread_rows_come_with_the_next_looks(opened, services, impatient):
    run_id = search_of(services.store, 5_000)
    page = opened("workbench", run=run_id)
    assert "Reading rows: 2,000 of 5,000." in infos(page)
    assert len(page.dataframe[0].value) == LINES
    assert not page.get("plotly_chart")
    assert "own tokens" not in html_of(page)
    assert page.session_state["looking_looks"] == 1
    assert look_on(page) == 2
    assert page.get("plotly_chart")
    assert "is spelled in other tokens" in html_of(page)
    assert page.dataframe[0].value["Encodings"].max() == 2


def test_a_second_session_reads_and_makes_nothing(opened, services, monkeypatch):
    run_id = search_of(services.store, 3_000, Sampling(100_000))
    look_on(opened("workbench", run=run_id))

    def again(*_, **__):
        raise AssertionError("This was there already.")

    monkeypatch.setattr(services.store, "rows", again)
    monkeypatch.setattr("relens_dashboard.components.result_lines.GroupLines", again)
    monkeypatch.setattr("relens_dashboard.components.result_lines.StringLines", again)
    monkeypatch.setattr("relens_dashboard.share_charts.share_bars", again)
    page = opened("workbench", run=run_id)
    assert len(page.dataframe[0].value) > 10


def test_the_other_lines_are_on_the_other_pages_and_can_be_selected(opened, services):
    run_id = search_of(services.store, 1_200)
    page = opened("workbench", run=run_id)
    page.get("button_group")
    page.session_state["by"] = "Encodings"
    page.run()
    first = page.dataframe[0].value
    assert list(first["#"]) == list(range(1, 501))
    (pager,) = page.get("pagination")
    pager.set_value(3).run()
    last = page.dataframe[0].value
    assert list(last["#"]) == list(range(1_001, 1_201))
    assert "Lines 1,001 to 1,200 of 1,200" in [caption.value for caption in page.caption]
    assert set(last.columns) == set(first.columns)
    key = f"matches_{run_id}_Encodings_1000"
    page.session_state[key] = {"selection": {"rows": [4], "columns": [], "cells": []}}
    page.run()
    assert "Match 1005" in [header.value for header in page.header]


def test_a_run_with_too_many_rows_has_no_shares_and_figures(opened, services, monkeypatch):
    monkeypatch.setattr(run_rows, "MOST_ROWS", 2_000)
    run_id = search_of(services.store, 3_000, Sampling(100_000))
    page = opened("workbench", run=run_id)
    assert "This run has 3,000 rows; a page shows the first 2,000" in infos(page)
    table = page.dataframe[0].value
    assert not {"Share", "95 %", "Strings", "Encodings", "Canonical share"} & set(table.columns)
    assert list(table["number"] if "number" in table else table["#"])[:3] == [1, 2, 3]
    assert not page.get("plotly_chart")
    assert 'class="relens-mass"' not in html_of(page)
    assert 'class="relens-findings"' not in html_of(page)
    (pager,) = page.get("pagination")
    pager.set_value(4).run()
    assert list(page.dataframe[0].value["#"])[-1] == 2_000


def study_of(store, times):
    run_id = store.submit(StudySpecification("smollm2-135m", STUDY))
    store.add_rows(run_id, ROWS * times)
    store.change(run_id, status="done", progress={"units": 2, "units_done": 2})
    return run_id


def test_a_study_shows_the_progress_of_reading_and_then_its_findings(opened, services, impatient):
    run_id = study_of(services.store, math.ceil(5_000 / len(ROWS)))
    page = opened("bias", run=run_id)
    assert "Reading rows: 2,000 of" in infos(page)
    assert "data-study-verdict" not in html_of(page)
    assert not page.get("plotly_chart")
    assert look_on(page) >= 2
    assert "data-study-verdict" in html_of(page)
    assert page.get("plotly_chart")


def test_a_study_with_too_many_rows_has_no_verdict(opened, services, monkeypatch):
    monkeypatch.setattr(run_rows, "MOST_ROWS", 10)
    page = opened("bias", run=study_of(services.store, 2))
    assert f"This run has {2 * len(ROWS)} rows; a page shows the first 10" in infos(page)
    assert "data-study-verdict" not in html_of(page)
    assert not page.get("plotly_chart")
    assert not page.get("arrow_data_frame")
    assert "study_report" not in {button.key for button in page.button}


def test_long_tables_of_a_study_have_pages(opened, services, monkeypatch):
    monkeypatch.setattr("relens_dashboard.components.pager.LINES", 3)
    page = opened("bias", run=study_of(services.store, 1))
    assert page.get("pagination")
    assert all(len(table.value) <= 3 for table in page.dataframe)


def test_more_rows_than_can_be_compared_are_not_compared(opened, services, monkeypatch):
    services.store.listed = lambda **_: []
    runs = [search_of(services.store, 60, Distribution()) for _ in range(2)]
    page = opened("compare", runs=",".join(runs))
    assert "data-compared" in html_of(page)
    monkeypatch.setattr(compared_rows, "MOST_ROWS_COMPARED", 100)
    page.run()
    assert "These runs have 120 rows together" in infos(page)
    assert "data-compared" not in html_of(page)
    assert "data-overlap" not in html_of(page)


def test_a_comparison_waits_for_all_rows(opened, services, impatient):
    services.store.listed = lambda **_: []
    runs = [search_of(services.store, 3_000, Distribution()) for _ in range(2)]
    page = opened("compare", runs=",".join(runs))
    assert "Reading rows: 4,000 of 6,000." in infos(page)
    assert "data-compared" not in html_of(page)
    assert look_on(page) == 1
    assert "data-compared" in html_of(page)
    assert all(len(table.value) <= LINES for table in page.dataframe)
