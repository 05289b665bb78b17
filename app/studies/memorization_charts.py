"""The figures of a memorization study: what was found by when, how fast, how often again, and how much of all there is.

    finds
      280 |            ______ shortest path
          |      _____|
       22 | ____|=========== sampled, 16 tokens
          +----------------- seconds

Pure functions of what `engine.studies.memorization_findings` counted, and of what a find is called. A method has its
hue, its dashes and its mark on every figure, so that none is told by colour alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from app.charts import BLUE, GREEN, LEGEND, MARGINS, ORANGE, PINK, RED, SKY, Chart, hatched
from app.narrative import duration_text, probability_text
from app.studies.view import Figure
from app.text import as_plotly
from engine.studies.find_words import FindWording
from engine.studies.memorization import SEARCH
from engine.studies.memorization_findings import Curve, MethodFinding, RecallCurve, best_sampled

_GREY = "#8A939B"
_SAMPLED_HUES = (ORANGE, GREEN, PINK, RED, SKY, _GREY)
_DASHES = ("dash", "dot", "dashdot", "longdash", "longdashdot")
_MARKS = ("square", "diamond", "triangle-up", "cross", "x", "star", "pentagon")

#: Of a line, the most steps that are drawn.
MOST_STEPS = 1000


@dataclass(frozen=True)
class _Line:
    method: str
    is_search: bool
    places: Sequence[float]
    values: Sequence[float]


def finds_over_time(curves: Sequence[Curve], found: Sequence[MethodFinding], words: FindWording) -> Figure:
    """Different finds by seconds, a step line for each method (ReLM figures 5 and 10)."""
    figure = _step_lines([_Line(curve.method, curve.unit == SEARCH, curve.seconds, curve.valid) for curve in curves])
    figure.update_xaxes(title="Seconds of finding", rangemode="tozero")
    figure.update_yaxes(title=f"Different {words.many}", rangemode="tozero")
    sentence = _over_time_sentence(curves, found, words)
    if any(curve.unit == SEARCH for curve in curves):
        sentence = _with_caution(sentence, words)
    title = f"{words.many[0].upper()}{words.many[1:]} over time"
    return Figure(title, sentence, Chart(figure, f"One line for each method. {sentence}"))


def _over_time_sentence(curves: Sequence[Curve], found: Sequence[MethodFinding], words: FindWording) -> str:
    by_unit = {curve.unit: curve for curve in curves}
    search, best = by_unit.get(SEARCH), best_sampled(found)
    if search is None:
        return "The search has not begun yet."
    ends = [search.seconds[-1], *([by_unit[best.unit].seconds[-1]] if best else [])]
    when = min(ends)
    told = f"After {duration_text(when)} the search had found {words.different(search.at(when))}"
    if best is not None:
        return f"{told}, the best of sampling ({best.method}) {by_unit[best.unit].at(when):,}."
    sampled = [one for one in found if one.unit != SEARCH and one.tally.attempts]
    return f"{told}, sampling none." if sampled else f"{told}."


def throughput(found: Sequence[MethodFinding], words: FindWording) -> Figure:
    """Different finds a second, with the ratio to the best sampled method (ReLM figure 6)."""
    begun = [one for one in found if one.seconds > 0.0]
    best = best_sampled(begun)
    labels = [f"{one.valid_a_second:.3g}" + (f", {one.ratio:.2g} ×" if one.ratio is not None else "") for one in begun]
    shapes = ["" if one.unit == SEARCH else "x" if one == best else "/" for one in begun]
    figure = go.Figure(
        go.Bar(
            x=[one.valid_a_second for one in begun],
            y=list(range(len(begun))),
            orientation="h",
            marker={
                "color": [BLUE if one.unit == SEARCH else ORANGE for one in begun],
                "pattern": hatched(shapes),
            },
            text=labels,
            # Beside the bars: on hatches nothing can be read.
            textposition="outside",
            cliponaxis=False,
            hovertext=[
                f"{as_plotly(one.method)}: {one.tally.new_valid:,} in {duration_text(one.seconds)}" for one in begun
            ],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    )
    _name_lines(figure, [f"{one.method} (best n)" if one == best else one.method for one in begun])
    most = max((one.valid_a_second for one in begun), default=0.0)
    figure.update_xaxes(title=f"Different {words.many} a second", range=[0, 1.3 * most or 1.0])
    figure.update_layout(height=_height(len(begun)), margin=MARGINS, bargap=0.25, showlegend=False)
    search = next((one for one in begun if one.unit == SEARCH), None)
    if search is None:
        sentence = "Nothing was measured yet."
    elif best is None:
        sentence = f"The search finds {search.valid_a_second:.3g} different {words.many} a second"
        sentence += "; sampling found none, so there is no ratio." if len(begun) > 1 else "."
    else:
        sentence = (
            f"The search finds {search.valid_a_second:.3g} different {words.many} a second, {search.ratio:.2g} times "
            f"what sampling does with its best number of tokens ({best.method}: {best.valid_a_second:.3g})."
        )
    if search is not None:
        sentence = _with_caution(sentence, words)
    return Figure("How fast", sentence, Chart(figure, sentence))


def _with_caution(sentence: str, words: FindWording) -> str:
    return f"{sentence} {words.caution}" if words.caution else sentence


def attempts_and_repeats(found: Sequence[MethodFinding]) -> Figure:
    """The share of attempts that are a match, and of matches that were found before."""
    tried = [one for one in found if one.tally.attempts]
    figure = go.Figure()
    for name, values, color, pattern in (
        ("attempts that are a match", [one.completion_rate for one in tried], GREEN, ""),
        ("matches that repeat an earlier one", [one.duplicate_share for one in tried], PINK, "/"),
    ):
        figure.add_trace(
            go.Bar(
                x=values,
                y=list(range(len(tried))),
                name=name,
                orientation="h",
                marker={"color": color, "pattern": hatched(pattern)},
                hovertext=[
                    f"{as_plotly(one.method)}, {name}: {'none yet' if value is None else probability_text(value)}"
                    for one, value in zip(tried, values, strict=True)
                ],
                hovertemplate="%{hovertext}<extra></extra>",
            )
        )
    _name_lines(figure, [one.method for one in tried])
    figure.update_xaxes(title="Share", range=[0, 1.02], tickformat=".0%")
    figure.update_layout(height=_height(len(tried), 40), margin=MARGINS, barmode="group", bargap=0.25)
    figure.update_layout(legend=LEGEND | {"traceorder": "normal"})
    sentence = _repeats_sentence(tried)
    return Figure("Wasted work", sentence, Chart(figure, sentence))


def _repeats_sentence(tried: Sequence[MethodFinding]) -> str:
    sampled = [one for one in tried if one.unit != SEARCH]
    search = next((one for one in tried if one.unit == SEARCH), None)
    told = []
    if sampled:
        best = max(sampled, key=lambda one: one.completion_rate or 0.0)
        told.append(
            f"Of what sampling writes, at most {probability_text(best.completion_rate or 0.0)} is a match "
            f"({best.method})."
        )
        repeating = max(sampled, key=lambda one: one.duplicate_share or 0.0)
        if repeating.duplicate_share:
            share = probability_text(repeating.duplicate_share)
            told.append(f"Up to {share} of its matches had been found before ({repeating.method}).")
    if search is not None and search.duplicate_share is not None:
        share = probability_text(search.duplicate_share) if search.duplicate_share else "none"
        told.append(f"The search cannot fail; {share} of its matches spell a string anew in other tokens.")
    return " ".join(told) or "Nothing was tried yet."


def recall(curves: Sequence[RecallCurve]) -> Figure:
    """How much of what there is to be found is found, by matches examined."""
    figure = _step_lines([_Line(curve.method, curve.unit == SEARCH, curve.examined, curve.recall) for curve in curves])
    figure.update_xaxes(title="Matches examined", rangemode="tozero")
    figure.update_yaxes(title="Known values found", range=[0, 1.04], tickformat=".0%")
    told = []
    for curve in curves:
        finds = len(curve.examined) - 2
        last = f", the last as match {curve.examined[-2]:,}" if finds else ""
        told.append(f"{curve.method}: {finds:,} of {curve.known:,}{last}")
    sentence = f"Known values that were found, {'; '.join(told)}. The steeper a line, the earlier they come."
    return Figure("Known values found", sentence, Chart(figure, sentence))


def _step_lines(lines: Sequence[_Line]) -> go.Figure:
    figure = go.Figure()
    sampled = 0
    for line in lines:
        if line.is_search:
            style, mark = {"color": BLUE, "width": 3.5, "dash": "solid"}, "circle"
        else:
            hue, dash = _SAMPLED_HUES[sampled % len(_SAMPLED_HUES)], _DASHES[sampled % len(_DASHES)]
            style, mark = {"color": hue, "width": 2, "dash": dash}, _MARKS[sampled % len(_MARKS)]
            sampled += 1
        places, values = _thinned(line)
        name = as_plotly(line.method)
        figure.add_trace(
            go.Scatter(
                x=places,
                y=values,
                name=name,
                mode="lines+markers",
                line={**style, "shape": "hv"},
                # A mark at the end alone.
                marker={"symbol": mark, "color": style["color"], "size": [0] * (len(places) - 1) + [9]},
                hovertemplate=f"{name}: %{{y:.3~g}} at %{{x:.3~g}}<extra></extra>",
            )
        )
    figure.update_layout(height=360, margin=MARGINS, legend=LEGEND, showlegend=True)
    return figure


def _thinned(line: _Line) -> tuple[list[float], list[float]]:
    """At most about `MOST_STEPS` of its steps, the first and the last among them."""
    count = len(line.places)
    stride = max(1, -(-count // MOST_STEPS))
    kept = sorted({*range(0, count, stride), count - 1})
    return [line.places[place] for place in kept], [line.values[place] for place in kept]


def _name_lines(figure: go.Figure, labels: Sequence[str]) -> None:
    figure.update_yaxes(
        autorange="reversed",
        tickmode="array",
        tickvals=list(range(len(labels))),
        ticktext=[as_plotly(label) for label in labels],
        automargin=True,
        ticklabelstandoff=6,
    )


def _height(lines: int, each: int = 30) -> int:
    return max(170, 90 + each * lines)
