"""The positions of edits in drawn prefixes, by each way to draw a prefix.

    The man was trained in     22 characters, and 4,254 strings within one edit

    by edges      at the start, 1 of the 95 arcs is no edit: nearly all edits fall on the first character
    by strings    all strings alike: every position has its share

No model is needed. Source: ReLM appendix C (Figure 9).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from relens.language.reading import Reader
from relens.query import Limits, Query, Sampling
from relens.studies.rows import StudyRow
from relens.studies.study import StudyContext
from relens.tokens.compiled import compile_query
from relens.traversal.prefixes import drawn_prefixes

#: The ways to draw a prefix string that Figure 9 compares.
WAYS_TO_DRAW: tuple[Literal["strings", "tokens", "edges"], ...] = ("strings", "tokens", "edges")

#: Readings between two checks of whether to stop.
_AT_A_TIME = 50


@dataclass(frozen=True)
class Unedited(StudyRow):
    """The number of draws without an edit. drawn_by: the way to draw; draws: all of them."""

    row_name: ClassVar[str] = "unedited"
    drawn_by: str
    count: int
    draws: int


@dataclass(frozen=True)
class EditPosition(StudyRow):
    """The number of edits at a position, in characters from the start of the text."""

    row_name: ClassVar[str] = "position"
    drawn_by: str
    position: int
    count: int


def edit_positions(query: Query, draws: int, seed: int, context: StudyContext) -> Iterator[StudyRow | None]:
    """Draw the prefixes of `query` in each way and count their edits; None now and then.

    query: edits in the prefix, and the pattern is one literal string. Raises the errors of compilation.
    """
    compiled = compile_query(query, context.model.tokenizer, Limits(), context.compiler)
    reader = Reader(query, compiled.language)
    yield None
    for way in WAYS_TO_DRAW:
        counts: Counter[int] = Counter()
        unedited = 0
        for number, (text, count) in enumerate(drawn_prefixes(compiled, Sampling(draws, seed, prefix_by=way))):
            edits = reader.read(text + query.pattern).edits
            unedited += 0 if edits else count
            counts.update({edit.position: count for edit in edits})
            if number % _AT_A_TIME == 0:
                yield None
                if context.stop():
                    return
        yield Unedited(way, unedited, draws)
        for position, count in sorted(counts.items()):
            yield EditPosition(way, position, count)
