"""Where the page's lessons come from: child processes that all sessions share, asked beside the page."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol

import streamlit as st

from app.latest import Latest
from app.shared import shared
from engine.errors import NotFetchedError, RelensError
from engine.learn.steps import Lesson, LessonOptions
from engine.runs.learning import Lessons

#: Pattern, model and options.
LessonQuestion = tuple[str, str, LessonOptions]


@dataclass(frozen=True)
class LessonAnswer:
    """A lesson, or why there is none."""

    lesson: Lesson | None = None
    error: RelensError | None = None


class LessonMaker(Protocol):
    """What makes lessons: `engine.runs.learning.Lessons`, or a test's stand-in."""

    def lesson(self, pattern: str, model: str, options: LessonOptions) -> Lesson:
        """The lesson of a pattern."""

    def close(self) -> None:
        """End the child processes."""


@dataclass(frozen=True)
class LessonSource:
    """What makes lessons, and the threads that wait for it."""

    maker: LessonMaker
    threads: Executor = field(default_factory=lambda: ThreadPoolExecutor(8, "lesson"))

    def latest(self) -> Latest[LessonQuestion, LessonAnswer]:
        """Lessons for one more browser session."""
        return Latest(self._answer, self.threads, lasting=lambda answer: not isinstance(answer.error, NotFetchedError))

    def close(self) -> None:
        """End the child process and the threads."""
        self.maker.close()
        self.threads.shutdown(wait=False, cancel_futures=True)

    def _answer(self, question: LessonQuestion) -> LessonAnswer:
        try:
            return LessonAnswer(self.maker.lesson(*question))
        except RelensError as error:
            return LessonAnswer(error=error)
        except Exception as error:  # a bug of ours must not leave the session waiting for ever
            return LessonAnswer(error=RelensError(f"The lesson failed: {type(error).__name__}."))


@shared
def get_lesson_source() -> LessonSource:
    """The one source of this server; its child process starts when somebody first asks."""
    return LessonSource(Lessons())


def ask_lesson(
    question: LessonQuestion, wait: float, source: Callable[[], LessonSource] | None = None
) -> LessonAnswer | None:
    """What is known of the question by now in this browser session; None while it is worked on."""
    if "lessons" not in st.session_state:
        st.session_state["lessons"] = (source or get_lesson_source)().latest()
    return st.session_state["lessons"].ask(question, wait)
