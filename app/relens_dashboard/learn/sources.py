"""Lessons and the encodings of a text from child processes, which all sessions share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from relens.learn.steps import Lesson, LessonOptions
from relens.learn.text_encodings import TextEncodings
from relens.runs.learning import Lessons, TextEncoder
from relens_dashboard.answers import AnswerSource
from relens_dashboard.learn.tokens_drawing import encodings_picture
from relens_dashboard.picture import Picture
from relens_dashboard.shared import Closable, shared

#: Pattern, model and options.
LessonQuestion = tuple[str, str, LessonOptions]
#: Text and model.
TextQuestion = tuple[str, str]


class LessonMaker(Closable, Protocol):
    """A source of lessons: `relens.runs.learning.Lessons`, or a stand-in of a test."""

    def lesson(self, pattern: str, model: str, options: LessonOptions) -> Lesson:
        """The lesson of a pattern."""


class EncodingSource(Closable, Protocol):
    """A source of encodings: `relens.runs.learning.TextEncoder`, or a stand-in of a test."""

    def encodings(self, text: str, model: str) -> TextEncodings:
        """The encodings of a text."""


@dataclass(frozen=True)
class DrawnText:
    """The encodings of a text, and their lattice as a picture."""

    encodings: TextEncodings
    picture: Picture


def lesson_source(maker: LessonMaker) -> AnswerSource[LessonQuestion, Lesson]:
    """Lessons for pages."""
    return AnswerSource("lessons", lambda question: maker.lesson(*question), maker, subject="The lesson")


def text_source(encoder: EncodingSource) -> AnswerSource[TextQuestion, DrawnText]:
    """Encodings for pages; the threads draw them too."""

    def drawn(question: TextQuestion) -> DrawnText:
        encodings = encoder.encodings(*question)
        return DrawnText(encodings, encodings_picture(encodings))

    return AnswerSource("text_encodings", drawn, encoder, subject="Counting the encodings")


@shared
def get_lessons() -> AnswerSource[LessonQuestion, Lesson]:
    """The lessons of this server; their child process starts with the first question."""
    return lesson_source(Lessons())


@shared
def get_texts() -> AnswerSource[TextQuestion, DrawnText]:
    """The encodings of this server; their child process starts with the first question."""
    return text_source(TextEncoder())
