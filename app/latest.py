"""Answers worked out beside a page, of which only the newest question matters.

Somebody types `(a|aa){500}b`, a character at a time. Each version is a question that may take seconds to answer, and
only the last one counts. So a browser session has one `Latest`: it works on one question at a time, remembers only the
newest that came meanwhile, and tells at once whatever it has:

    ask("(a")        None, and the work begins
    ask("(a|b")      None, remembered as the newest
    ask("(a|b)")     None, and the one before is forgotten
    ask("(a|b)")     the answer, once the work on "(a" is done and that on "(a|b)" too

An answer that may soon be another, as "the model is not on this server yet", is worked out again when it is asked for.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Generic, TypeVar

Question = TypeVar("Question")
Answer = TypeVar("Answer")

_REMEMBERED = 32


class Latest(Generic[Question, Answer]):
    """The answers of one browser session; safe for threads. `work` answers a question and never raises.

    lasting: whether an answer stays what it is.
    """

    def __init__(
        self,
        work: Callable[[Question], Answer],
        executor: Executor,
        lasting: Callable[[Answer], bool] = lambda answer: True,
    ) -> None:
        self._work = work
        self._lasting = lasting
        self._executor = executor
        self._changed = threading.Condition()
        self._answers: OrderedDict[Question, Answer] = OrderedDict()
        self._running = False
        self._newest: Question | None = None

    def ask(self, question: Question, wait: float = 0.0) -> Answer | None:
        """What is known after at most `wait` seconds, None while it is worked on; starts the work where needed."""
        with self._changed:
            before = self._answers.get(question)
            if before is not None and not self._lasting(before):
                del self._answers[question]
            if question not in self._answers:
                self._newest = question
                if not self._running:
                    self._start(question)
                self._changed.wait_for(lambda: question in self._answers, wait)
            return self._answers.get(question, before)

    def _start(self, question: Question) -> None:
        self._running = True
        self._executor.submit(self._answer, question)

    def _answer(self, question: Question) -> None:
        answer = self._work(question)
        with self._changed:
            self._answers[question] = answer
            while len(self._answers) > _REMEMBERED:
                self._answers.popitem(last=False)
            self._running = False
            if self._newest is not None and self._newest not in self._answers:
                self._start(self._newest)
            self._changed.notify_all()
