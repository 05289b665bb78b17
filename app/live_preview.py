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

from app.drawing import graph_to_dot, join_chains, layout, nearest
from engine.errors import RelensError
from engine.query import Limits, Query
from engine.runs.preview import Graph, Preview

#: A preview is refused after this many seconds; a run has the longer limit of `Limits`.
PREVIEW_LIMITS = Limits(compile_seconds=4.0)

_REMEMBERED = 32


class PreviewSource(Protocol):
    """What computes a preview: `engine.runs.preview.Previewer`, or a test's stand-in."""

    def preview(self, query: Query, model_name: str, limits: Limits | None = None) -> Preview:
        """The preview of a query."""


@dataclass(frozen=True)
class Picture:
    """One automaton, drawn: DOT, its layout where `dot` is at hand, and what is not in the picture."""

    dot: str
    svg: str | None
    note: str


@dataclass(frozen=True)
class Drawn:
    """A preview of `query` with its two pictures."""

    query: Query
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


def draw(query: Query, preview: Preview, most_states: int | None = None, executor: Executor | None = None) -> Drawn:
    """The preview's two automata as pictures of at most `most_states` states each.

    They are laid out side by side where there is an executor to do it.
    """
    language = _reduced(preview.language_graph, "", most_states)
    tokens = _reduced(preview.token_graph, " · ", most_states)
    language_dot, token_dot = graph_to_dot(language), graph_to_dot(tokens)
    language_svg = executor.submit(layout, language_dot) if executor is not None else None
    token_svg = layout(token_dot)
    return Drawn(
        query,
        preview,
        Picture(language_dot, language_svg.result() if language_svg else layout(language_dot), language.note),
        Picture(token_dot, token_svg, tokens.note),
    )


def _reduced(graph: Graph, separator: str, most_states: int | None) -> Graph:
    joined = join_chains(graph, separator)
    return joined if most_states is None else nearest(joined, most_states)


_Question = tuple[Query, str, int | None]


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

    def ask(self, query: Query, model: str, wait: float = 0.0, most_states: int | None = None) -> Answer:
        """What is known of `query` after at most `wait` seconds; starts the work where that is needed.

        most_states: how many states a picture may have, None for all that the preview has.
        """
        question = (query, model, most_states)
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
        query, model, most_states = question
        try:
            answer = Answer(
                drawn=draw(query, self._source.preview(query, model, PREVIEW_LIMITS), most_states, self._drawers)
            )
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
