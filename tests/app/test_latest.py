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
