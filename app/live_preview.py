"""Previews computed beside the page, so that no keystroke waits for a hostile pattern.

Somebody types `(a|aa){500}b`, a character at a time. Each version is a preview that may take seconds, and only the
last one matters. So a browser session has one `LivePreview`, which answers at once with whatever it has (`app.latest`):

    ask(query)  ->  ready(preview, pictures)  |  refused(error)  |  pending

The work is done by a few threads shared by all sessions, which only wait for the limited child processes of
`engine.runs.preview` and for `dot`. One session holds one thread, and therefore one child, at most.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Protocol

from app.latest import Latest
from app.picture import Picture, picture_of
from engine.errors import RelensError
from engine.query import Limits, Query
from engine.runs.preview import Preview

#: A preview is refused after this many seconds; a run has the longer limit of `Limits`.
PREVIEW_LIMITS = Limits(compile_seconds=4.0)


class PreviewSource(Protocol):
    """What computes a preview: `engine.runs.preview.Previewer`, or a test's stand-in."""

    def preview(self, query: Query, model_name: str, limits: Limits | None = None) -> Preview:
        """The preview of a query."""


@dataclass(frozen=True)
class Drawn:
    """A preview of `query` with its two pictures; no `tokens` where the preview has none."""

    query: Query
    preview: Preview
    language: Picture
    tokens: Picture | None


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

    def language() -> Picture:
        return picture_of(preview.language_graph, most_states=most_states, separator="")

    beside = executor.submit(language) if executor is not None else None
    graph = preview.token_graph
    tokens = picture_of(graph, most_states=most_states, separator=" · ") if graph is not None else None
    return Drawn(query, preview, beside.result() if beside is not None else language(), tokens)


_Question = tuple[Query, str, int | None]


class LivePreview:
    """The previews of one browser session; see the module. Safe for threads."""

    def __init__(self, source: PreviewSource, executor: Executor, drawers: Executor | None = None) -> None:
        self._source = source
        self._drawers = drawers
        self._latest: Latest[_Question, Answer] = Latest(self._answer, executor, lasting=_lasting)

    def ask(self, query: Query, model: str, wait: float = 0.0, most_states: int | None = None) -> Answer:
        """What is known of `query` after at most `wait` seconds; starts the work where that is needed.

        most_states: how many states a picture may have, None for all that the preview has.
        """
        return self._latest.ask((query, model, most_states), wait) or Answer()

    def _answer(self, question: _Question) -> Answer:
        query, model, most_states = question
        try:
            return Answer(
                drawn=draw(query, self._source.preview(query, model, PREVIEW_LIMITS), most_states, self._drawers)
            )
        except RelensError as error:
            return Answer(error=error)
        except Exception as error:  # a bug of ours must not leave the session waiting for ever
            return Answer(error=RelensError(f"The preview failed: {type(error).__name__}."))


def _lasting(answer: Answer) -> bool:
    """Whether the answer stays what it is: tokens that are missing now may have been fetched when one asks again."""
    return answer.drawn is None or answer.drawn.tokens is not None
