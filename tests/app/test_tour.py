"""The tour on Start: which step is shown, what its buttons open, and that it stays closed."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relens_dashboard.form import DEFAULT_MODEL, Form
from relens_dashboard.gallery import load_gallery
from relens_dashboard.links import parameters
from relens_dashboard.tour import PATTERN, STEPS, step_number

START = "../../pages/start.py"


def html_of(page):
    return "\n".join(element.proto.body for element in page.get("html"))


def step_of(page):
    """The step on the page, from 1; None where there is no tour."""
    steps = re.findall(r'data-tour-step="(\d+)"', html_of(page))
    assert len(steps) <= 1
    return int(steps[0]) if steps else None


def address_of(page):
    """The parameters of the page's address, each a single value."""
    return {name: value if isinstance(value, str) else value[0] for name, value in page.query_params.items()}


@given(st.none() | st.text(max_size=6), st.none() | st.integers(), st.booleans())
def test_any_address_gives_a_step_or_none(address, reached, seen):
    number = step_number(address, reached, seen=seen)
    assert number is None or 1 <= number <= len(STEPS)
    assert (number is None) == (address is None and reached is None and seen)


def test_the_address_wins_over_the_last_step():
    assert step_number("2", 4, seen=True) == 2
    assert step_number(None, 4, seen=True) == 4
    assert step_number("999999999", 4, seen=True) == 1
    assert step_number("99", None, seen=True) == len(STEPS)
    assert step_number("²", None, seen=True) == 1


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.picture)
def test_a_step_is_short(step):
    assert len(step.words) <= 330
    assert step.words.endswith(".")
    assert len(step.title) <= 40


def test_a_first_visitor_walks_through_it_and_back(dashboard):
    page = dashboard.run()
    for number in range(1, len(STEPS) + 1):
        assert not page.exception
        assert step_of(page) == number
        assert page.button(key="tour_back").disabled == (number == 1)
        assert page.button(key="tour_next").disabled == (number == len(STEPS))
        if number < len(STEPS):
            page.button(key="tour_next").click().run()
    assert address_of(page)["tour"] == str(len(STEPS))
    page.button(key="tour_back").click().run()
    assert step_of(page) == len(STEPS) - 1


def test_the_examples_pattern_is_counted_drawn_and_taken_along(dashboard):
    dashboard.query_params["tour"] = "2"
    page = dashboard.run()
    page.text_input(key="tour_pattern").set_value("cat").run()
    assert "<b>1 string</b>" in html_of(page)
    page.button(key="tour_next").click().run()
    assert not page.exception
    page.button(key="tour_back").click().run()
    assert page.text_input(key="tour_pattern").value == "cat"
    page.button(key="tour_open").click().run()
    assert address_of(page)["pattern"] == "cat"


def test_a_mistake_in_the_example_is_one_sentence(dashboard):
    dashboard.query_params["tour"] = "2"
    page = dashboard.run()
    page.text_input(key="tour_pattern").set_value("a(b").run()
    assert not page.exception
    assert len(page.error) == 1
    page.button(key="tour_next").click().run()
    assert not page.exception
    assert "has no automaton" in "".join(caption.value for caption in page.caption)


@pytest.mark.parametrize(
    ("number", "opened"),
    [
        (1, {"pattern": "The (cat|dog|door)"}),
        (2, {"pattern": PATTERN}),
        (3, {"lesson": PATTERN}),
        (4, parameters(Form.from_specification(load_gallery()[0].specification(DEFAULT_MODEL)))),
        (5, {"lesson": "The ((cat)|(dog))"}),
    ],
)
def test_each_step_opens_a_page_with_its_example(dashboard, number, opened):
    dashboard.query_params["tour"] = str(number)
    page = dashboard.run()
    page.button(key="tour_open").click().run()
    assert not page.exception
    assert opened.items() <= address_of(page).items()
    assert "tour" not in address_of(page)


def test_it_waits_at_the_next_step(dashboard):
    page = dashboard.run()
    page.button(key="tour_open").click().run()
    page.switch_page(START).run()
    assert step_of(page) == 2


def test_closed_it_stays_closed_until_its_button_is_pressed(dashboard):
    page = dashboard.run()
    page.button(key="tour_close").click().run()
    assert not page.exception
    assert step_of(page) is None
    assert "tour" not in page.query_params
    page.run()
    assert step_of(page) is None
    page.button(key="tour_button").click().run()
    assert step_of(page) == 1
