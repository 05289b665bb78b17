"""Where edits fall in the strings of a prefix, by each of the ways to draw these.

    The man was trained in     22 characters, and 4,254 strings within one edit

    by edges      at the start, 1 of the 95 ways on is no edit: nearly all edits fall on the first character
    by strings    all strings alike: every position has its share

No model is needed. Source: ReLM appendix C (Figure 9).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Literal

from engine.language.reading import Reader
from engine.query import Limits, Query, Sampling
from engine.studies.rows import ROW, Row
from engine.studies.study import StudyContext
from engine.tokens.compiled import compile_query
from engine.traversal.prefixes import drawn_prefixes

#: The ways to draw a prefix string that Figure 9 compares.
WAYS_TO_DRAW: tuple[Literal["strings", "tokens", "edges"], ...] = ("strings", "tokens", "edges")

#: Readings between two looks at whether to stop.
_AT_A_TIME = 50


def edit_positions(query: Query, draws: int, seed: int, context: StudyContext) -> Iterator[Row | None]:
    """Draw the prefixes of `query` in each way; where the edits are, in characters from the start of the text.

    query: edits in the prefix, and the pattern is one literal string. For each way a row "unedited", with the number of
    draws that were not edited, and rows "position"; None now and then. Raises the errors of compilation.
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
        yield {ROW: "unedited", "drawn_by": way, "count": unedited, "draws": draws}
        for position, count in sorted(counts.items()):
            yield {ROW: "position", "drawn_by": way, "position": position, "count": count}
