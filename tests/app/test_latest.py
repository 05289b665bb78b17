"""Only the newest question matters, one at a time, and every answer is kept for a while."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.latest import Latest


@pytest.fixture
def threads():
    with ThreadPoolExecutor(4) as executor:
        yield executor


def test_an_answer_is_worked_out_once(threads):
    asked = []
    latest = Latest(lambda question: asked.append(question) or question.upper(), threads)
    assert [latest.ask("a", wait=20), latest.ask("b", wait=20), latest.ask("a")] == ["A", "B", "A"]
    assert asked == ["a", "b"]


def test_questions_that_nobody_waits_for_any_more_are_passed_over(threads):
    begun, go_on, asked = threading.Event(), threading.Event(), []

    def work(question):
        asked.append(question)
        begun.set()
        assert go_on.wait(20)
        return question.upper()

    latest = Latest(work, threads)
    assert latest.ask("(") is None
    assert begun.wait(20)
    assert [latest.ask("(a"), latest.ask("(a|"), latest.ask("(a|b)")] == [None, None, None]
    go_on.set()
    assert latest.ask("(a|b)", wait=20) == "(A|B)"
    assert asked == ["(", "(a|b)"]


def test_an_answer_that_may_soon_be_another_is_worked_out_again(threads):
    answers = ["not yet", "not yet", "here", "never asked for"]
    latest = Latest(lambda question: answers.pop(0), threads, lasting=lambda answer: answer != "not yet")
    assert [latest.ask("a", wait=20) for _ in range(4)] == ["not yet", "not yet", "here", "here"]
    assert answers == ["never asked for"]


def test_until_then_the_old_one_is_given(threads):
    go_on = threading.Event()
    go_on.set()

    def work(question):
        assert go_on.wait(20)
        return "not yet"

    latest = Latest(work, threads, lasting=lambda answer: False)
    assert latest.ask("a", wait=20) == "not yet"
    go_on.clear()
    assert latest.ask("a") == "not yet"
    go_on.set()
