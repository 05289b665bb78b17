"""The marks, tables and charts of a lesson; no page."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from relens.counted import counted
from relens.learn.steps import STAGES, Growth, Lesson, Sizes, Step
from relens.pictures.drawing import Marks
from relens_dashboard.charts import STYLES, Chart, chart, line
from relens_dashboard.text import shortened

_TICKS_AT_MOST = 24


def marks_of(step: Step) -> Marks:
    """The marks of a step as those of drawings."""
    return Marks(
        states={mark.state: mark.style for mark in step.states if mark.style},
        arcs={(mark.source, mark.target, mark.label): mark.style for mark in step.arcs if mark.style},
        state_names={mark.state: mark.name for mark in step.states if mark.name},
        state_notes={mark.state: mark.note for mark in step.states if mark.note},
        arc_notes={(mark.source, mark.target, mark.label): mark.note for mark in step.arcs if mark.note},
    )


def sizes_text(sizes: Sizes) -> str:
    """The sizes of a step in a line."""
    if sizes.states is None or sizes.arcs is None:
        parts = ["made as it is explored: too large to count"]
    else:
        parts = [counted(sizes.states, "state"), counted(sizes.arcs, "arc")]
    for count, noun in ((sizes.strings, "string"), (sizes.encodings, "encoding")):
        if count:
            parts.append(f"{count} {noun if count == '1' else noun + 's'}")
    return " · ".join(parts)


def sizes_table(lesson: Lesson) -> pd.DataFrame:
    """One row for each operation: the sizes after its last step."""
    last = {step.stage: step.sizes for step in lesson.steps}
    return pd.DataFrame(
        [
            {
                "After": STAGES[stage],
                "States": sizes.states,
                "Arcs": sizes.arcs,
                "Strings": sizes.strings,
                "Encodings": sizes.encodings,
            }
            for stage, sizes in last.items()
        ]
    ).astype({"States": "Int64", "Arcs": "Int64"})


def growth_sentence(growth: Sequence[Growth]) -> str:
    """The number of encodings of the whole text, and its bound."""
    whole = growth[-1]
    ways = "1 encoding" if whole.encodings == 1 else f"{whole.encodings:,} encodings"
    return (
        f"“{whole.text}” has {ways} in this model's tokens. It is {whole.length:,} "
        f"{'byte' if whole.length == 1 else 'bytes'} long; if every piece of it were a token, it would have "
        f"2^{whole.length - 1} = {whole.most:,}."
    )


def growth_chart(growth: Sequence[Growth]) -> Chart:
    """The number of encodings for every beginning of a text, and 2^(n-1), on a logarithmic scale."""
    lengths = [part.length for part in growth]
    return chart(
        [
            line(
                lengths,
                [float(part.most) for part in growth],
                name="2^(n−1): every piece a token",
                style=STYLES[1],
                hover="%{x} bytes: at most %{y:,}",
            ),
            line(
                lengths,
                [float(part.encodings) for part in growth],
                name="encodings of the text so far",
                marked="everywhere",
                hover=[f"{shortened(part.text, 40)}: {counted(part.encodings, 'encoding')}" for part in growth],
            ),
        ],
        growth_sentence(growth),
        x={"title": "Bytes of the text", "nticks": min(len(lengths), _TICKS_AT_MOST) + 1},
        y={
            "title": "Encodings",
            "type": "log",
            "exponentformat": "power",
            "dtick": 1 if len(lengths) > 6 else None,
        },
    )
