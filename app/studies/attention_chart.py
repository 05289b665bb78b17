"""What each word of a target was weighed from, as a map: words of the input side by side, the target's going down.

                 do   you   like   cats   end
         i      .05   .10    .12    .40   .33      the "i" looked mostly at "cats"
         love   .02   .03    .55    .30   .10
         end    ...                                each line adds up to 1

Source: He and Glass 2019, section 2, where the weights are a_t(i).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from app.charts import Chart
from app.studies.trigger_words import masked_words
from app.text import as_plotly, shortened
from engine.percent import percent
from engine.studies.masking import Masker

#: Nothing is the page's own ground, so the map is read the same in light and in dark.
_SCALE = [[0.0, "rgba(0,114,178,0.03)"], [1.0, "rgba(0,114,178,1)"]]
_PADDING = "padding"
#: Weights that differ by less were rounded.
_ALIKE = 1e-3
#: Pixels of a line, and of what stands around the lines.
_LINE, _AROUND = 26, 110


def attention_chart(row: Mapping[str, Any], mask: Masker | None) -> Chart:
    """The map of a row that has "attention": words of the target and its end x ids of the input.

    Places that are only padding are one column, with what they were given together.
    """
    weights, columns = _without_padding(row["attention"], masked_words(mask, row["input"]))
    lines = [*masked_words(mask, row["target"]), "end"]
    across = [as_plotly(shortened(word, 14)) for word in columns]
    down = [as_plotly(shortened(word, 14)) for word in lines]
    figure = go.Figure(
        go.Heatmap(
            z=weights,
            x=list(range(len(across))),
            y=list(range(len(down))),
            zmin=0.0,
            zmax=max((max(line) for line in weights), default=1.0) or 1.0,
            colorscale=_SCALE,
            colorbar={"title": {"text": "weight"}, "thickness": 12, "tickformat": ".0%"},
            customdata=[[f"{word} looks at {seen}" for seen in across] for word in down],
            hovertemplate="%{customdata}: %{z:.1%}<extra></extra>",
            xgap=1,
            ygap=1,
        )
    )
    figure.update_xaxes(
        tickmode="array",
        tickvals=list(range(len(across))),
        ticktext=across,
        tickangle=-45,
        showgrid=False,
        zeroline=False,
        automargin=True,
    )
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(range(len(down))),
        ticktext=down,
        autorange="reversed",
        showgrid=False,
        zeroline=False,
        automargin=True,
        ticklabelstandoff=6,
    )
    figure.update_layout(height=_AROUND + _LINE * len(down), margin={"l": 8, "r": 8, "t": 8, "b": 8})
    return Chart(figure, _sentence(weights, lines, columns) + _at_first(row))


def _without_padding(weights: Sequence[Sequence[float]], words: Sequence[str]) -> tuple[list[list[float]], list[str]]:
    begin = next((place for place, word in enumerate(words) if word != "<pad>"), len(words))
    shown = ["end" if word == "<eou>" else word for word in words[begin:]]
    if not begin:
        return [list(line) for line in weights], shown
    return [[sum(line[:begin]), *line[begin:]] for line in weights], [_PADDING, *shown]


def _sentence(weights: Sequence[Sequence[float]], lines: Sequence[str], columns: Sequence[str]) -> str:
    """Where most was looked, on the whole, and where the sharpest look went."""
    totals = [sum(line[place] for line in weights) / len(weights) for place in range(len(columns))]
    most = max(range(len(columns)), key=totals.__getitem__)
    sharpest = max(range(len(lines)), key=lambda place: max(weights[place]))
    at = max(range(len(columns)), key=weights[sharpest].__getitem__)
    return (
        f"A map of the words of the target, from top to bottom, by the words of the input. On the whole most was "
        f"looked at “{columns[most]}” ({percent(totals[most])}), where all {len(columns)} alike would have "
        f"{percent(1 / len(columns))}; most sharply “{lines[sharpest]}” at “{columns[at]}” "
        f"({percent(weights[sharpest][at])})."
    )


def _at_first(row: Mapping[str, Any]) -> str:
    """Of attention that depends on the decoder's state alone: that is zeros before the first word."""
    first = row["attention"][0]
    if max(first) - min(first) > _ALIKE:
        return ""
    return " Before its first word the model has nothing to look by, so it looks everywhere alike."
