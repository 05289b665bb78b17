"""Lessons, encodings and random walks for the dashboard: made in limited child processes, and remembered."""

from __future__ import annotations

from relens.learn.random_walks import MOST_DRAWS, RandomWalks
from relens.learn.steps import Lesson, LessonOptions
from relens.learn.text_encodings import TextEncodings
from relens.query import Limits
from relens.runs.warm_answers import WarmAnswers

#: Longer work is refused; most texts take milliseconds.
LESSON_LIMITS = Limits(compile_seconds=6.0, regex_length=500)
TEXT_LIMITS = Limits(compile_seconds=4.0)
WALK_LIMITS = Limits(compile_seconds=12.0, regex_length=300)


class Lessons(WarmAnswers[Lesson]):
    """How patterns become automata over tokens."""

    job, warm_up, record = "relens.learn.jobs:lesson_job", "relens.learn.jobs:warm_up", Lesson
    subject = "The lesson"

    def lesson(self, pattern: str, model: str, options: LessonOptions) -> Lesson:
        """The lesson; raises the errors of `relens.learn.lesson.lesson`, `ModelError` and `LimitError`."""
        return self.ask({"pattern": pattern, "model": model, "options": options.to_json()}, LESSON_LIMITS)


class TextEncoder(WarmAnswers[TextEncodings]):
    """The encodings of texts."""

    job, warm_up, record = "relens.learn.jobs:text_encodings_job", "relens.learn.jobs:warm_up", TextEncodings
    subject = "Counting the encodings"

    def encodings(self, text: str, model: str) -> TextEncodings:
        """The encodings of `text` for the tokenizer of `model`; raises the errors of `relens.learn.text_encodings`, and
        `ModelError`.
        """
        return self.ask({"text": text, "model": model}, TEXT_LIMITS)


class WalkAnswers(WarmAnswers[RandomWalks]):
    """Random walks through automata."""

    job, warm_up, record = "relens.learn.jobs:walk_job", "relens.learn.jobs:warm_up", RandomWalks
    subject = "The random walks"

    def walks(self, pattern: str, model: str, seed: int = 0, draws: int = MOST_DRAWS) -> RandomWalks:
        """The walks; raises the errors of `relens.learn.random_walks.random_walks`, `ModelError` and `LimitError`."""
        return self.ask({"pattern": pattern, "model": model, "seed": seed, "draws": draws}, WALK_LIMITS)
