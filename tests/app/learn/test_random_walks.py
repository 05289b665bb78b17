"""The part on random walks, on walks drawn by the engine in this process with a tiny tokenizer."""

from __future__ import annotations

from collections import Counter

import pytest

from relens.errors import LimitError
from relens.learn.random_walks import RULES, UNEDITED, random_walks
from relens.runs.screens import ScreenStore
from relens_dashboard.learn import walk_page
from relens_dashboard.learn.walk_figures import (
    RULE_NAMES,
    RULE_WORDS,
    crossing_table,
    cumulative_chart,
    edits_listed,
    findings,
    positions_chart,
)


@pytest.fixture(scope="module")
def walks(byte_tokenizer):
    return random_walks("The", byte_tokenizer, draws=5000, seed=1)


@pytest.fixture
def opened(dashboard, monkeypatch, walks):
    """A function that opens the page at an address."""

    class Answers:
        def walks(self, pattern, model, seed):
            if pattern == "too many":
                raise LimitError("There are <too> many strings.", limit="strings")
            return walks

    def open_page(**parameters):
        dashboard.run()
        dashboard.switch_page("../../pages/replay.py")
        for name, value in {"shown": "Random walks", **parameters}.items():
            dashboard.query_params[name] = value
        page = dashboard.run()
        assert not page.exception
        return page

    monkeypatch.setattr(walk_page, "walk_answers", Answers)
    return open_page


@pytest.fixture
def page(opened):
    return opened()


def html_of(page):
    return "\n".join(element.proto.body for element in page.get("html"))


@pytest.mark.parametrize("rule", range(3))
def test_bars_are_the_walks_drawn_so_far_and_marks_are_exact(walks, rule):
    draws = walks.draws[rule]
    chart = positions_chart(draws, 300)
    bars, marks = chart.figure.data
    counts = Counter(draws.positions[:300])
    assert list(bars.y) == pytest.approx([counts[place] / 300 for place in range(UNEDITED, len(draws.exact) - 1)])
    assert sum(bars.y) == pytest.approx(1.0)
    assert list(marks.y) == list(draws.exact)
    assert list(bars.x) == list(marks.x) == ["none", *map(str, range(len(draws.exact) - 1))]
    assert "300 walks" in chart.alt


def test_cumulative_lines_end_at_one(walks):
    chart = cumulative_chart(walks, 200)
    assert all(trace.y[-1] == pytest.approx(1.0) for trace in chart.figure.data)
    assert [trace.name for trace in chart.figure.data if trace.mode == "lines"] == [RULE_NAMES[rule] for rule in RULES]
    assert set(RULE_WORDS) == set(RULES)


def test_the_sentences_have_the_exact_shares(walks):
    strings, edges, _ = findings(walks)
    assert "663 strings" in strings
    assert "By edges, 99 % of the walks" in edges
    assert "28 %" in edges or "29 %" in edges
    assert edits_listed(["a", "a"]) == ["1: a", "2: a"]


def test_a_crossing_lists_its_ways(walks):
    walk = walks.draws[0].walks[0]
    crossing = walks.crossings[walk.crossings[-1]]
    table = crossing_table(crossing, walk.turns[-1])
    assert list(table["Taken"]) == [False] * (len(table) - 1) + [True]
    assert table["Way on"].iloc[-1] == "stop here"
    assert table["By strings"].sum() == pytest.approx(1.0)
    assert table["By edges"].sum() == pytest.approx(1.0)


def test_a_walk_is_followed_character_by_character(page, walks):
    walk = walks.draws[0].walks[0]
    assert 'data-walk-step="0"' in html_of(page)
    for step in range(1, len(walk.turns)):
        page.button(key="walk_next").click().run()
        assert f'data-walk-step="{step}"' in html_of(page)
    assert page.button(key="walk_next").disabled
    assert "the walk stops" in html_of(page)
    page.segmented_control(key="walk_rule").set_value("By edges").run()
    assert 'data-walk-step="0"' in html_of(page)
    assert not page.exception


def test_the_slider_shows_more_walks(page):
    assert page.slider(key="walk_drawn").value == 100
    page.slider(key="walk_drawn").set_value(5000).run()
    assert not page.exception


def test_a_refusal_is_shown_as_text(page):
    page.text_input(key="walk_pattern").set_value("too many").run()
    assert "too" in page.error[0].value
    assert "<too>" not in page.error[0].value.replace("\\", "") or "\\<" in page.error[0].value
    assert not page.exception


def test_each_histogram_is_pinned_as_it_stands(page, walks, tmp_path, monkeypatch):
    monkeypatch.setenv("RELENS_STORE", f"sqlite:///{tmp_path / 'screens.db'}")
    page.slider(key="walk_drawn").set_value(300).run()
    rules = [RULE_NAMES[draws.rule].lower() for draws in walks.draws]
    for rule in rules:
        page.button(key=f"pin_walks_Random edits: {rule}").click().run()
        assert not page.exception
    screens = ScreenStore(f"sqlite:///{tmp_path / 'screens.db'}").all()
    assert [screen.title for screen in screens] == [f"Random edits: {rule}" for rule in rules]
    for screen, draws in zip(screens, walks.draws, strict=True):
        assert screen.alt == positions_chart(draws, 300).alt
        assert screen.source["page"] == "replay"


def test_the_pattern_and_the_seed_are_those_of_the_address(opened):
    page = opened(walk_pattern="A dog", walk_seed="3")
    assert page.text_input(key="walk_pattern").value == "A dog"
    assert page.number_input(key="walk_seed").value == 3
