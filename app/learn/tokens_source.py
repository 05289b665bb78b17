"""Where the encodings of a text come from: a child process that all sessions share, asked beside the page."""

from __future__ import annotations

from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol

import streamlit as st

from app.latest import Latest
from app.learn.tokens_drawing import encodings_picture
from app.picture import Picture
from app.shared import shared
from engine.errors import NotFetchedError, RelensError
from engine.learn.text_encodings import TextEncodings
from engine.runs.learning import TextEncoder

#: Text and model.
TextQuestion = tuple[str, str]


@dataclass(frozen=True)
class TextAnswer:
    """The encodings and their picture, or why there are none."""

    encodings: TextEncodings | None = None
    picture: Picture | None = None
    error: RelensError | None = None


class EncodingSource(Protocol):
    """What finds encodings: `engine.runs.learning.TextEncoder`, or a test's stand-in."""

    def encodings(self, text: str, model: str) -> TextEncodings:
        """The encodings of a text."""

    def close(self) -> None:
        """End the child processes."""


@dataclass(frozen=True)
class TextSource:
    """What finds encodings, and the threads that wait for it and for `dot`."""

    encoder: EncodingSource
    threads: Executor = field(default_factory=lambda: ThreadPoolExecutor(8, "encodings"))

    def latest(self) -> Latest[TextQuestion, TextAnswer]:
        """Answers for one more browser session."""
        return Latest(self._answer, self.threads, lasting=lambda answer: not isinstance(answer.error, NotFetchedError))

    def close(self) -> None:
        """End the child process and the threads."""
        self.encoder.close()
        self.threads.shutdown(wait=False, cancel_futures=True)

    def _answer(self, question: TextQuestion) -> TextAnswer:
        try:
            encodings = self.encoder.encodings(*question)
            return TextAnswer(encodings, encodings_picture(encodings))
        except RelensError as error:
            return TextAnswer(error=error)
        except Exception as error:  # a bug of ours must not leave the session waiting for ever
            return TextAnswer(error=RelensError(f"Counting the encodings failed: {type(error).__name__}."))


@shared
def get_text_source() -> TextSource:
    """The one source of this server; its child process starts when somebody first asks."""
    return TextSource(TextEncoder())


def ask_text(question: TextQuestion, wait: float) -> TextAnswer | None:
    """What is known of the question by now in this browser session; None while it is worked on."""
    if "text_encodings" not in st.session_state:
        st.session_state["text_encodings"] = get_text_source().latest()
    return st.session_state["text_encodings"].ask(question, wait)
