"""Previews computed beside the page, so that no keystroke waits for a hostile pattern.

Somebody types `(a|aa){500}b`, a character at a time. Each version is a preview that may take seconds, and only the
last one matters. So a browser session has one `LivePreview`: it runs one preview at a time, remembers only the newest
question that came meanwhile, and answers at once with whatever it has:

    ask(query)  ->  ready(preview, pictures)  |  refused(error)  |  pending

The work is done by a few threads shared by all sessions, which only wait for the limited child processes of
`engine.runs.preview` and for `dot`. One session holds one thread, and therefore one child, at most.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Protocol

from app.drawing import graph_to_dot, join_chains, layout
from engine.errors import RelensError
from engine.query import Limits, Query
from engine.runs.preview import Preview

#: A preview is refused after this many seconds; a run has the longer limit of `Limits`.
PREVIEW_LIMITS = Limits(compile_seconds=4.0)

_REMEMBERED = 32


class PreviewSource(Protocol):
    """What computes a preview: `engine.runs.preview.Previewer`, or a test's stand-in."""

    def preview(self, query: Query, model_name: str, limits: Limits | None = None) -> Preview:
        """The preview of a query."""


@dataclass(frozen=True)
class Picture:
    """One automaton, drawn: DOT, and its layout where `dot` is at hand."""

    dot: str
    svg: str | None


@dataclass(frozen=True)
class Drawn:
    """A preview with its two pictures."""

    preview: Preview
    language: Picture
    tokens: Picture


@dataclass(frozen=True)
class Answer:
    """What is known of a question by now: `drawn`, or `error`, or neither while it is being worked on."""

    drawn: Drawn | None = None
    error: RelensError | None = None

    @property
    def is_pending(self) -> bool:
        """Whether the work goes on."""
        return self.drawn is None and self.error is None


def draw(preview: Preview, executor: Executor | None = None) -> Drawn:
    """The preview's two automata as pictures, laid out side by side where there is an executor to do it."""
    language_dot = graph_to_dot(join_chains(preview.language_graph))
    token_dot = graph_to_dot(join_chains(preview.token_graph, " · "))
    if executor is None:
        return Drawn(preview, Picture(language_dot, layout(language_dot)), Picture(token_dot, layout(token_dot)))
    language_svg = executor.submit(layout, language_dot)
    token_svg = layout(token_dot)
    return Drawn(preview, Picture(language_dot, language_svg.result()), Picture(token_dot, token_svg))


_Question = tuple[Query, str]


class LivePreview:
    """The previews of one browser session; see the module. Safe for threads."""

    def __init__(self, source: PreviewSource, executor: Executor, drawers: Executor | None = None) -> None:
        self._source = source
        self._executor = executor
        self._drawers = drawers
        self._changed = threading.Condition()
        self._answers: OrderedDict[_Question, Answer] = OrderedDict()
        self._running: _Question | None = None
        self._newest: _Question | None = None

    def ask(self, query: Query, model: str, wait: float = 0.0) -> Answer:
        """What is known of `query` after at most `wait` seconds; starts the work where that is needed."""
        question = (query, model)
        with self._changed:
            if question not in self._answers:
                self._newest = question
                if self._running is None:
                    self._start(question)
                self._changed.wait_for(lambda: question in self._answers, wait)
            return self._answers.get(question, Answer())

    def _start(self, question: _Question) -> None:
        self._running = question
        self._executor.submit(self._work, question)

    def _work(self, question: _Question) -> None:
        query, model = question
        try:
            answer = Answer(drawn=draw(self._source.preview(query, model, PREVIEW_LIMITS), self._drawers))
        except RelensError as error:
            answer = Answer(error=error)
        except Exception as error:  # a bug of ours must not leave the session waiting for ever
            answer = Answer(error=RelensError(f"The preview failed: {type(error).__name__}."))
        with self._changed:
            self._answers[question] = answer
            while len(self._answers) > _REMEMBERED:
                self._answers.popitem(last=False)
            self._running = None
            if self._newest is not None and self._newest not in self._answers:
                self._start(self._newest)
            self._changed.notify_all()
