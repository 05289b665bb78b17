"""A finding that a page pins: a figure, sentences, caveats.

    page        Finding("Outcomes by subject", figure, sentences, caveats, explanation, source)
    pinned      a `Screen` at the end of a deck

A finding is made of what the page shows at this moment, with the same words masked in every text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import plotly.graph_objects as go

from relens.runs.screens import LONGEST_TEXT, Screen
from relens_dashboard.present.figures import masked_figure

#: Most sentences and caveats of a screen.
MOST_SENTENCES, MOST_CAVEATS = 3, 5
#: Most characters of a sentence, which may quote a model.
_LONGEST_SENTENCE = 600


@dataclass(frozen=True, eq=False)
class Finding:
    """title: a few words. sentences: the first is the headline. caveats: limits of these. explanation: the speaker's
    words. figure: of plotly, or the text of an SVG, or None; alt: a sentence in its place. table: a small one, names of
    columns first. source: where it was pinned: "page", "run", "label".
    """

    title: str
    sentences: Sequence[str]
    caveats: Sequence[str] = ()
    explanation: str = ""
    figure: go.Figure | str | None = None
    alt: str = ""
    table: Sequence[Sequence[str]] = ()
    source: Mapping[str, str] = field(default_factory=dict)

    def screen(self, deck: str = "", mask: Callable[[str], str] | None = None) -> Screen:
        """The finding as the store keeps it; mask: hides words in every text, those of the figure too."""
        figure = self.figure
        written = figure if isinstance(figure, str) else "" if figure is None else str(_bare(figure).to_json())
        screen = Screen(
            title=_cut(self.title),
            sentences=tuple(_cut(sentence) for sentence in self.sentences if sentence)[:MOST_SENTENCES],
            caveats=tuple(_cut(sentence) for sentence in self.caveats if sentence)[:MOST_CAVEATS],
            explanation=self.explanation[: LONGEST_TEXT // 4],
            figure=written,
            alt=_cut(self.alt),
            table=tuple(tuple(_cut(str(cell)) for cell in line) for line in self.table),
            source={str(name): str(value) for name, value in self.source.items()},
            deck=deck,
        )
        return screen if mask is None else masked(screen, mask)


def masked(screen: Screen, mask: Callable[[str], str]) -> Screen:
    """The screen with `mask` on every visible text."""
    return replace(
        screen,
        title=mask(screen.title),
        sentences=tuple(map(mask, screen.sentences)),
        caveats=tuple(map(mask, screen.caveats)),
        explanation=mask(screen.explanation),
        figure=masked_figure(screen.figure, mask),
        alt=mask(screen.alt),
        table=tuple(tuple(map(mask, line)) for line in screen.table),
    )


def _bare(figure: go.Figure) -> go.Figure:
    """The figure without its template: a screen has its own colours."""
    copy: Any = go.Figure(figure)
    copy.update_layout(template=None)
    return copy


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_SENTENCE else text[: _LONGEST_SENTENCE - 1] + "…"
