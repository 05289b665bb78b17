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

from app.charts import (
    FROM_ZERO,
    GREEN,
    GREY,
    ORANGE,
    PINK,
    RED,
    SHARE,
    SKY,
    Axis,
    Chart,
    Style,
    bars,
    chart,
    line,
    thinned,
)
from app.narrative import duration_text, probability_text
from app.studies.view import Figure
from engine.studies.find_words import FindWording
from engine.studies.memorization import SEARCH
from engine.studies.memorization_findings import Curve, MethodFinding, RecallCurve, best_sampled

_SEARCH = Style()
_SAMPLED = (
    Style(ORANGE, "/", "square", "dash"),
    Style(GREEN, "/", "diamond", "dot"),
    Style(PINK, "/", "triangle-up", "dashdot"),
    Style(RED, "/", "cross", "longdash"),
    Style(SKY, "/", "x", "longdashdot"),
    Style(GREY, "/", "star", "dash"),
)
_SAMPLED_BEST = Style(ORANGE, "x")

#: Of a line, the most steps that are drawn.
MOST_STEPS = 1000


def finds_over_time(curves: Sequence[Curve], found: Sequence[MethodFinding], words: FindWording) -> Figure:
    """Different finds by seconds, a step line for each method (ReLM figures 5 and 10)."""
    sentence = _over_time_sentence(curves, found, words)
    if any(curve.unit == SEARCH for curve in curves):
        sentence = _with_caution(sentence, words)
    drawn = _step_lines(
        [(curve, curve.seconds, curve.valid) for curve in curves],
        f"One line for each method. {sentence}",
        x=FROM_ZERO | {"title": "Seconds of finding"},
        y=FROM_ZERO | {"title": f"Different {words.many}"},
    )
    return Figure(f"{words.many[0].upper()}{words.many[1:]} over time", sentence, drawn)


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
    most = max((one.valid_a_second for one in begun), default=0.0)
    drawn = chart(
        [
            bars(
                [one.valid_a_second for one in begun],
                style=[
                    _SEARCH if one.unit == SEARCH else _SAMPLED_BEST if one == best else _SAMPLED[0] for one in begun
                ],
                text=[
                    f"{one.valid_a_second:.3g}" + (f", {one.ratio:.2g} ×" if one.ratio is not None else "")
                    for one in begun
                ],
                hover=[f"{one.method}: {one.tally.new_valid:,} in {duration_text(one.seconds)}" for one in begun],
            )
        ],
        sentence,
        x={"title": f"Different {words.many} a second", "range": [0, 1.3 * most or 1.0]},
        y_labels=[f"{one.method} (best n)" if one == best else one.method for one in begun],
        row_height=30,
    )
    return Figure("Pace", sentence, drawn)


def _with_caution(sentence: str, words: FindWording) -> str:
    return f"{sentence} {words.caution}" if words.caution else sentence


def attempts_and_repeats(found: Sequence[MethodFinding]) -> Figure:
    """The share of attempts that are a match, and of matches that were found before."""
    tried = [one for one in found if one.tally.attempts]
    series = (
        ("attempts that are a match", [one.completion_rate for one in tried], Style(GREEN)),
        ("matches that repeat an earlier one", [one.duplicate_share for one in tried], Style(PINK, "/")),
    )
    sentence = _repeats_sentence(tried)
    drawn = chart(
        [
            bars(
                values,
                name=name,
                style=style,
                hover=[
                    f"{one.method}, {name}: {'none yet' if value is None else probability_text(value)}"
                    for one, value in zip(tried, values, strict=True)
                ],
            )
            for name, values, style in series
        ],
        sentence,
        x=SHARE | {"title": "Share"},
        y_labels=[one.method for one in tried],
        row_height=40,
    )
    return Figure("Wasted attempts", sentence, drawn)


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
    told = []
    for curve in curves:
        finds = len(curve.examined) - 2
        last = f", the last as match {curve.examined[-2]:,}" if finds else ""
        told.append(f"{curve.method}: {finds:,} of {curve.known:,}{last}")
    sentence = f"Known values that were found, {'; '.join(told)}. The steeper a line, the earlier they come."
    drawn = _step_lines(
        [(curve, curve.examined, curve.recall) for curve in curves],
        sentence,
        x=FROM_ZERO | {"title": "Matches examined"},
        y=SHARE | {"title": "Recall of known values"},
    )
    return Figure("Known values found", sentence, drawn)


def _step_lines(
    lines: Sequence[tuple[Curve | RecallCurve, Sequence[float], Sequence[float]]], alt: str, *, x: Axis, y: Axis
) -> Chart:
    """Each method's (curve, places, values), marked at its end; that of the search is wider."""
    sampled = [curve.method for curve, _, _ in lines if curve.unit != SEARCH]
    marks = []
    for curve, places, values in lines:
        is_search = curve.unit == SEARCH
        kept = thinned(len(places), MOST_STEPS)
        marks.append(
            line(
                [places[place] for place in kept],
                [values[place] for place in kept],
                name=curve.method,
                style=_SEARCH if is_search else _SAMPLED[sampled.index(curve.method) % len(_SAMPLED)],
                width=3.5 if is_search else 2,
                steps=True,
                marked="end",
                hover="%{fullData.name}: %{y:.3~g} at %{x:.3~g}",
            )
        )
    return chart(marks, alt, x=x, y=y, height=360, showlegend=True)
