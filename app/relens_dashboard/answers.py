"""Answers computed in the background: a page asks, waits a moment, and looks again.

    answer = get_lessons().ask((pattern, model, options), wait=0.4)
    answer.value         the lesson
    answer.error         why there is none
    answer.is_pending    neither yet: the page keeps what it shows, and a `ticker` makes it look again

Somebody types `(a|aa){500}b`, a character at a time. Each version is a question that may take seconds to answer, and
only the last one counts. So a browser session has one `Latest` of each kind. It works on one question at a time and
remembers only the newest of those that came in meanwhile:

    ask("(a")        pending, and the work begins
    ask("(a|b")      pending, remembered as the newest
    ask("(a|b)")     pending, and the one before is forgotten
    ask("(a|b)")     the answer, once the work on "(a" is done and that on "(a|b)" too

An answer that may change soon, such as "the model is not on this server yet", is computed again at the next request.
The threads of an `AnswerSource` serve all sessions; they only wait for limited child processes and for `dot`. One
session holds at most one thread, and so at most one child.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import streamlit as st

from relens.errors import NotFetchedError, RelensError
from relens_dashboard.shared import Closable

Question = TypeVar("Question")
Value = TypeVar("Value")


@dataclass(frozen=True)
class Answer(Generic[Value]):
    """The answer so far: a value, or an error, or neither while the work goes on."""

    value: Value | None = None
    error: RelensError | None = None

    @property
    def is_pending(self) -> bool:
        """Whether the work goes on."""
        return self.value is None and self.error is None


def _is_lasting(answer: Answer[Any]) -> bool:
    return not isinstance(answer.error, NotFetchedError)


class Latest(Generic[Question, Value]):
    """The answers of one browser session; safe for threads.

    work: computes the value for a question; may raise `RelensError`. subject: the first words of the error for a bug.
    is_lasting: whether an answer can be used again. remembered: how many answers are kept.
    """

    def __init__(
        self,
        work: Callable[[Question], Value],
        executor: Executor,
        *,
        subject: str,
        is_lasting: Callable[[Answer[Value]], bool] = _is_lasting,
        remembered: int = 32,
    ) -> None:
        self._work = work
        self._executor = executor
        self._subject = subject
        self._is_lasting = is_lasting
        self._remembered = remembered
        self._changed = threading.Condition()
        self._answers: OrderedDict[Question, Answer[Value]] = OrderedDict()
        self._working: tuple[Question, Future[None] | None] | None = None
        self._newest: Question | None = None

    def ask(self, question: Question, wait: float = 0.0) -> Answer[Value]:
        """The answer after at most `wait` seconds; starts the work where needed."""
        with self._changed:
            previous = self._answers.get(question)
            if previous is not None and not self._is_lasting(previous):
                del self._answers[question]
            if question not in self._answers:
                self._newest = question
                if self._make_way_for(question):
                    self._start(question)
                self._changed.wait_for(lambda: question in self._answers, wait)
            return self._answers.get(question, previous or Answer())

    def _make_way_for(self, question: Question) -> bool:
        """Cancel another question that no thread has begun; returns whether this one can start now."""
        if self._working is None:
            return True
        other, future = self._working
        return other != question and future is not None and future.cancel()

    def _start(self, question: Question) -> None:
        self._working = question, None
        future = self._executor.submit(self._answer, question)
        if self._working is not None:  # an executor may have finished it at once
            self._working = question, future

    def _answer(self, question: Question) -> None:
        answer = self._computed(question)
        with self._changed:
            self._answers[question] = answer
            while len(self._answers) > self._remembered:
                self._answers.popitem(last=False)
            self._working = None
            if self._newest is not None and self._newest not in self._answers:
                self._start(self._newest)
            self._changed.notify_all()

    def _computed(self, question: Question) -> Answer[Value]:
        try:
            return Answer(self._work(question))
        except RelensError as error:
            return Answer(error=error)
        except Exception as error:  # a bug of ours must not leave the session waiting for ever
            return Answer(error=RelensError(f"{self._subject} failed: {type(error).__name__}."))


class AnswerSource(Generic[Question, Value]):
    """The source of one kind of answer for all sessions: `work`, and the threads that wait for it.

    owner: has the child processes; closed together with the threads. key: of the session's own `Latest`.
    """

    def __init__(
        self, key: str, work: Callable[[Question], Value], owner: Closable, *, subject: str, threads: int = 8
    ) -> None:
        self._key, self._work, self._owner, self._subject = key, work, owner, subject
        self.threads: Executor = ThreadPoolExecutor(threads, key)

    def ask(self, question: Question, wait: float) -> Answer[Value]:
        """This browser session's answer to the question after at most `wait` seconds."""
        if self._key not in st.session_state:
            st.session_state[self._key] = Latest(self._work, self.threads, subject=self._subject)
        answer: Answer[Value] = st.session_state[self._key].ask(question, wait)
        return answer

    def close(self) -> None:
        """End the child processes and the threads."""
        self._owner.close()
        self.threads.shutdown(wait=False, cancel_futures=True)
