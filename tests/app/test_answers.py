"""Only the newest question matters, one at a time, and every answer is kept for a while."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from relens.errors import NotFetchedError, QueryError
from relens_dashboard.answers import Answer, Latest


@pytest.fixture
def threads():
    with ThreadPoolExecutor(4) as executor:
        yield executor


def latest_of(work, threads, **more):
    return Latest(work, threads, subject="The work", **more)


def test_an_answer_is_computed_once(threads):
    questions = []
    latest = latest_of(lambda question: questions.append(question) or question.upper(), threads)
    answers = [latest.ask("a", wait=20), latest.ask("b", wait=20), latest.ask("a")]
    assert answers == [Answer("A"), Answer("B"), Answer("A")]
    assert questions == ["a", "b"]


def test_an_error_is_an_answer_and_a_bug_is_a_sentence(threads):
    errors = {"wrong": QueryError("No."), "bug": ZeroDivisionError("secret")}

    def work(question):
        raise errors[question]

    latest = latest_of(work, threads)
    assert latest.ask("wrong", wait=20) == Answer(error=errors["wrong"])
    assert latest.ask("bug", wait=20).error.sentence == "The work failed: ZeroDivisionError."


def test_outdated_questions_are_skipped(threads):
    begun, go_on, questions = threading.Event(), threading.Event(), []

    def work(question):
        questions.append(question)
        begun.set()
        assert go_on.wait(20)
        return question.upper()

    latest = latest_of(work, threads)
    assert latest.ask("(").is_pending
    assert begun.wait(20)
    assert all(latest.ask(question).is_pending for question in ("(a", "(a|", "(a|b)"))
    go_on.set()
    assert latest.ask("(a|b)", wait=20).value == "(A|B)"
    assert questions == ["(", "(a|b)"]


def test_a_question_that_no_thread_has_begun_is_cancelled_for_another():
    go_on, questions = threading.Event(), []
    with ThreadPoolExecutor(1) as one_thread:
        one_thread.submit(go_on.wait, 20)
        latest = latest_of(lambda question: questions.append(question) or question.upper(), one_thread)
        assert all(latest.ask(question).is_pending for question in ("a", "a", "b"))
        go_on.set()
        assert latest.ask("b", wait=20).value == "B"
    assert questions == ["b"]


def test_an_answer_that_may_change_soon_is_computed_again(threads):
    answers = ["not yet", "not yet", "here", "never asked for"]

    def work(question):
        if (answer := answers.pop(0)) == "not yet":
            raise NotFetchedError(answer)
        return answer

    latest = latest_of(work, threads)
    assert [latest.ask("a", wait=20).value for _ in range(4)] == [None, None, "here", "here"]
    assert answers == ["never asked for"]


def test_until_then_the_old_answer_stays(threads):
    go_on = threading.Event()
    go_on.set()

    def work(question):
        assert go_on.wait(20)
        return "not yet"

    latest = latest_of(work, threads, is_lasting=lambda answer: False)
    assert latest.ask("a", wait=20).value == "not yet"
    go_on.clear()
    assert latest.ask("a").value == "not yet"
    go_on.set()
