"""The figures of a memorization study: valid strings over time, throughput, wasted attempts, and recall.

    valid strings
      280 |            ______ shortest path
          |      _____|
       22 | ____|=========== sampled, 16 tokens
          +----------------- seconds

Pure functions of the findings. A method has its colour, its dashes and its mark in every figure, so that colour is
never the only difference.
"""

from __future__ import annotations

from collections.abc import Sequence

from relens.studies.find_words import FindWording
from relens.studies.memorization_findings import MemorizationFindings, MethodFindings, StepCurve
from relens_dashboard.charts import (
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
from relens_dashboard.narrative import duration_text, probability_text
from relens_dashboard.studies.view import Figure

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


def valid_over_time(findings: MemorizationFindings) -> Figure:
    """Different valid strings over seconds, a step line for each method (ReLM figures 5 and 10)."""
    wording = findings.wording
    sentence = _over_time_sentence(findings)
    if findings.search is not None:
        sentence = _with_caution(sentence, wording)
    drawn = _step_lines(
        [(method, method.valid_curve) for method in findings.methods],
        f"One line for each method. {sentence}",
        x=FROM_ZERO | {"title": "Seconds of search or sampling"},
        y=FROM_ZERO | {"title": f"Different {wording.many}"},
    )
    return Figure(f"{wording.many[0].upper()}{wording.many[1:]} over time", sentence, drawn)


def _over_time_sentence(findings: MemorizationFindings) -> str:
    search, best = findings.search, findings.best_sampled
    if search is None:
        return "The search has not begun yet."
    when = min(method.valid_curve.places[-1] for method in (search, best) if method)
    valid = findings.wording.different(int(search.valid_curve.at(when)))
    begin = f"After {duration_text(when)} the search had found {valid}"
    if best is not None:
        return f"{begin}, the best of sampling ({best.label}) {best.valid_curve.at(when):,}."
    return f"{begin}, sampling none." if any(method.tally.attempts for method in findings.sampled) else f"{begin}."


def throughput(findings: MemorizationFindings) -> Figure:
    """Different valid strings a second, with the ratio to the best sampled method (ReLM figure 6)."""
    methods = [method for method in findings.methods if method.seconds > 0.0]
    best, wording = findings.best_sampled, findings.wording
    sentence = _throughput_sentence(findings)
    most = max((method.valid_a_second for method in methods), default=0.0)
    drawn = chart(
        [
            bars(
                [method.valid_a_second for method in methods],
                style=[
                    _SEARCH if method.is_search else _SAMPLED_BEST if method is best else _SAMPLED[0]
                    for method in methods
                ],
                text=[
                    f"{method.valid_a_second:.3g}" + (f", {ratio:.2g} ×" if ratio is not None else "")
                    for method in methods
                    for ratio in [findings.ratio(method)]
                ],
                hover=[
                    f"{method.label}: {method.tally.new_valid:,} in {duration_text(method.seconds)}"
                    for method in methods
                ],
            )
        ],
        sentence,
        x={"title": f"Different {wording.many} a second", "range": [0, 1.3 * most or 1.0]},
        y_labels=[f"{method.label} (best n)" if method is best else method.label for method in methods],
        row_height=30,
    )
    return Figure("Pace", sentence, drawn)


def _throughput_sentence(findings: MemorizationFindings) -> str:
    search, best, wording = findings.search, findings.best_sampled, findings.wording
    if search is None or not search.seconds:
        return "There is no measurement yet."
    begin = f"The search finds {search.valid_a_second:.3g} different {wording.many} a second"
    if best is not None:
        times = f"{findings.ratio(search):.2g} times as many as the best of sampling"
        sentence = f"{begin}, {times} ({best.label}: {best.valid_a_second:.3g})."
    elif any(method.seconds for method in findings.sampled):
        sentence = f"{begin}; sampling found none, so there is no ratio."
    else:
        sentence = f"{begin}."
    return _with_caution(sentence, wording)


def _with_caution(sentence: str, wording: FindWording) -> str:
    return f"{sentence} {wording.caution}" if wording.caution else sentence


def attempts_and_repeats(findings: MemorizationFindings) -> Figure:
    """The share of matches among the attempts, and of duplicates among the matches."""
    methods = [method for method in findings.methods if method.tally.attempts]
    series = (
        ("attempts that are a match", [method.tally.completion_rate for method in methods], Style(GREEN)),
        ("matches that repeat an earlier one", [method.tally.duplicate_share for method in methods], Style(PINK, "/")),
    )
    sentence = _repeats_sentence(methods)
    drawn = chart(
        [
            bars(
                values,
                name=name,
                style=style,
                hover=[
                    f"{method.label}, {name}: {'none yet' if value is None else probability_text(value)}"
                    for method, value in zip(methods, values, strict=True)
                ],
            )
            for name, values, style in series
        ],
        sentence,
        x=SHARE | {"title": "Share"},
        y_labels=[method.label for method in methods],
        row_height=40,
    )
    return Figure("Wasted attempts", sentence, drawn)


def _repeats_sentence(methods: Sequence[MethodFindings]) -> str:
    sentences = []
    if sampled := [method for method in methods if not method.is_search]:
        best = max(sampled, key=lambda method: method.tally.completion_rate or 0.0)
        share = probability_text(best.tally.completion_rate or 0.0)
        sentences.append(f"At most {share} of the samples are a match ({best.label}).")
        repeating = max(sampled, key=lambda method: method.tally.duplicate_share or 0.0)
        if repeating.tally.duplicate_share:
            share = probability_text(repeating.tally.duplicate_share)
            sentences.append(f"Up to {share} of its matches had been found before ({repeating.label}).")
    search = next((method for method in methods if method.is_search), None)
    if search is not None and search.tally.duplicate_share is not None:
        share = probability_text(search.tally.duplicate_share) if search.tally.duplicates else "none"
        sentences.append(f"The search cannot fail; {share} of its matches spell a string anew in other tokens.")
    return " ".join(sentences) or "There is no attempt yet."


def recall(findings: MemorizationFindings) -> Figure:
    """Recall of known values over the number of matches."""
    curves = [(method, curve) for method in findings.methods if (curve := method.recall_curve)]
    counts = []
    for method, curve in curves:
        last = f", the last as match {curve.places[-2]:,}" if method.valid_matches else ""
        counts.append(f"{method.label}: {len(method.valid_matches):,} of {method.setup.known:,}{last}")
    sentence = f"Known values that were found, {'; '.join(counts)}. The steeper a line, the earlier they come."
    drawn = _step_lines(
        curves,
        sentence,
        x=FROM_ZERO | {"title": "Matches examined"},
        y=SHARE | {"title": "Recall of known values"},
    )
    return Figure("Known values found", sentence, drawn)


def _step_lines(curves: Sequence[tuple[MethodFindings, StepCurve]], alt: str, *, x: Axis, y: Axis) -> Chart:
    """A curve for each method, marked at its end; that of the search is wider."""
    sampled = [method.unit for method, _ in curves if not method.is_search]
    marks = []
    for method, curve in curves:
        style = _SEARCH if method.is_search else _SAMPLED[sampled.index(method.unit) % len(_SAMPLED)]
        kept = thinned(len(curve.places), MOST_STEPS)
        marks.append(
            line(
                [curve.places[step] for step in kept],
                [curve.values[step] for step in kept],
                name=method.label,
                style=style,
                width=3.5 if method.is_search else 2,
                steps=True,
                marked="end",
                hover="%{fullData.name}: %{y:.3~g} at %{x:.3~g}",
            )
        )
    return chart(marks, alt, x=x, y=y, height=360, showlegend=True)
