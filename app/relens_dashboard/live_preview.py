"""Previews computed in the background (`relens_dashboard.answers`), so that no keystroke waits for a hostile pattern.

ask(query)  ->  Answer(Drawn(preview, pictures))  |  Answer(error=...)  |  pending
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Protocol

from relens.query import Limits, Query
from relens.runs.preview import Preview
from relens_dashboard.answers import Answer, Latest
from relens_dashboard.picture import Picture, picture_of

#: A preview is refused after this many seconds; a run has the longer limit of `Limits`.
PREVIEW_LIMITS = Limits(compile_seconds=4.0)


class PreviewSource(Protocol):
    """The part of `relens.runs.preview.Previewer` used here; tests have a stand-in."""

    def preview(self, query: Query, model_name: str, limits: Limits | None = None) -> Preview:
        """The preview of a query."""


@dataclass(frozen=True)
class Drawn:
    """A preview of `query` with its two pictures; no `tokens` where the preview has none."""

    query: Query
    preview: Preview
    language: Picture
    tokens: Picture | None


def draw(query: Query, preview: Preview, most_states: int | None = None, executor: Executor | None = None) -> Drawn:
    """The preview's two automata as pictures of at most `most_states` states each.

    With an executor, both are laid out at the same time.
    """

    def language() -> Picture:
        return picture_of(preview.language_graph, most_states=most_states, separator="")

    drawing = executor.submit(language) if executor is not None else None
    graph = preview.token_graph
    tokens = picture_of(graph, most_states=most_states, separator=" · ") if graph is not None else None
    return Drawn(query, preview, drawing.result() if drawing is not None else language(), tokens)


_Question = tuple[Query, str, int | None]


class LivePreview:
    """The previews of one browser session; see the module. Safe for threads."""

    def __init__(self, source: PreviewSource, executor: Executor, drawers: Executor | None = None) -> None:
        self._source = source
        self._drawers = drawers
        self._latest: Latest[_Question, Drawn] = Latest(
            self._drawn, executor, subject="The preview", is_lasting=_is_lasting
        )

    def ask(self, query: Query, model: str, wait: float = 0.0, most_states: int | None = None) -> Answer[Drawn]:
        """The answer for `query` after at most `wait` seconds; starts the work where needed.

        most_states: how many states a picture may have, None for all of the preview.
        """
        return self._latest.ask((query, model, most_states), wait)

    def _drawn(self, question: _Question) -> Drawn:
        query, model, most_states = question
        return draw(query, self._source.preview(query, model, PREVIEW_LIMITS), most_states, self._drawers)


def _is_lasting(answer: Answer[Drawn]) -> bool:
    """Whether the answer can be used again: missing tokens may have been fetched by the next request."""
    return answer.value is None or answer.value.tokens is not None
