"""Lessons for the dashboard: made in limited child processes, and remembered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.learn.lessons import lesson_payload
from engine.learn.steps import Lesson, LessonOptions
from engine.query import Limits
from engine.runs.warm_answers import WarmAnswers

#: A lesson is refused after so many seconds.
LESSON_LIMITS = Limits(compile_seconds=6.0, regex_length=500)


class Lessons(WarmAnswers[Lesson]):
    """Lessons computed in child processes; see `WarmAnswers`."""

    def __init__(self, pool_size: int = 1, call: Callable[[dict[str, Any]], Mapping[str, Any]] | None = None) -> None:
        super().__init__(
            "engine.learn.lessons:lesson_job",
            pool_size,
            warm_up="engine.learn.lessons:warm_up",
            read=lambda reply: Lesson.from_json(reply["lesson"]),
            subject="The lesson",
            call=call,
        )

    def lesson(self, pattern: str, model: str, options: LessonOptions) -> Lesson:
        """The lesson; raises what `engine.learn.lesson.lesson` raises, `ModelError` and `LimitError`."""
        return self.ask(lesson_payload(pattern, model, options, LESSON_LIMITS))
