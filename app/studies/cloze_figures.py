"""Figures of a cloze test: how many last words are found, by which way more, with what answers, and in which place.

    any word               ▇▇▇▇▇▇▇├──┤           45 %
    words of the context   ▇▇▇▇▇▇▇▇▇▇▇▇├──┤      80 %   the bar is what was found, the line its 95 % interval

Pure functions of findings and rows. A passage whose search was cut is drawn as undecided, never as wrong.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from app.charts import BLUE, GREEN, MARGINS, ORANGE, PINK, SKY, Chart, hatched, interval_bars
from app.narrative import interval_text, probability_text
from app.studies.view import Figure, Rows
from app.text import as_plotly, shortened, visible
from engine.counted import counted
from engine.studies.cloze import ANSWER, LABELS
from engine.studies.cloze_findings import Comparison, VariantResult, WordShare, is_counted
from engine.studies.study import rows_of

_GREY = "#8A939B"
#: Characters of a line of a label beside a bar.
_LABEL_WIDTH = 25
_LEGEND = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "traceorder": "normal"}

LISTED, NOT_LISTED, UNDECIDED = "listed", "not among the answers", "undecided"
#: Places of the truth as they are drawn together: the last place of each, its name, colour and pattern.
_PLACES = ((1, "in the first place", BLUE, ""), (2, "second", SKY, "/"), (5, "third to fifth", GREEN, "."))
_LATER = ("sixth or later", PINK, "x")

_HUES = (BLUE, GREEN, ORANGE, PINK, _GREY)
_PATTERNS = ("", ".", "/", "x", "\\")


def accuracy_figure(results: Sequence[VariantResult]) -> Figure:
    """The share of last words that each way finds, with its interval, and what the undecided passages could add."""
    places = list(range(len(results)))
    figure = go.Figure()
    if any(result.undecided for result in results):
        figure.add_trace(
            go.Bar(
                x=[result.at_most - result.accuracy.value for result in results],
                y=places,
                base=[result.accuracy.value for result in results],
                orientation="h",
                name="undecided",
                marker={"color": ORANGE, "pattern": hatched("/")},
                hovertext=[
                    f"{LABELS[result.variant]}: {counted(result.undecided, 'passage')} cut before the answer was "
                    "certain"
                    for result in results
                ],
                hovertemplate="%{hovertext}<extra></extra>",
            )
        )
    figure.add_trace(
        go.Bar(
            x=[result.accuracy.value for result in results],
            y=places,
            orientation="h",
            name="found",
            marker={"color": BLUE},
            error_x=interval_bars([result.accuracy for result in results], thickness=1.5, width=4, color=_GREY),
            hovertext=[f"{LABELS[result.variant]}: {_with_interval(result)}" for result in results],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    )
    _label_rows(figure, [f"{LABELS[result.variant]}\n{result.right} of {result.asked}" for result in results])
    figure.update_xaxes(title="Share of last words found", range=[0, 1.02], tickformat=".0%")
    figure.update_layout(barmode="overlay", height=110 + 56 * len(results), margin=MARGINS, bargap=0.35)
    figure.update_layout(showlegend=len(figure.data) > 1, legend=_LEGEND)
    alt = "; ".join(f"{LABELS[result.variant]} {_with_interval(result)}" for result in results)
    return Figure("Last words found", _accuracy_sentence(results), Chart(figure, f"Bars of the share found: {alt}."))


def comparison_figure(comparisons: Sequence[Comparison]) -> Figure:
    """Of each two ways, the passages that only the one and only the other has right."""
    places = list(range(len(comparisons)))
    hover = [
        f"{LABELS[each.first]} only: {each.test.first_only}; {LABELS[each.second]} only: {each.test.second_only}; of"
        f" {counted(each.test.pairs, 'passage')} that both decided; p = {p_text(each.corrected_p_value)}"
        for each in comparisons
    ]
    figure = go.Figure()
    for name, counts, side, color, pattern in (
        ("only the first is right", [each.test.first_only for each in comparisons], -1, BLUE, ""),
        ("only the second is right", [each.test.second_only for each in comparisons], 1, ORANGE, "/"),
    ):
        figure.add_trace(
            go.Bar(
                x=[side * count for count in counts],
                y=places,
                orientation="h",
                name=name,
                marker={"color": color, "pattern": hatched(pattern)},
                text=[f"{count}" if count else "" for count in counts],
                textposition="outside",
                cliponaxis=False,
                hovertext=hover,
                hovertemplate="%{hovertext}<extra></extra>",
            )
        )
    _label_rows(figure, [f"{LABELS[each.first]}\nagainst {LABELS[each.second]}" for each in comparisons])
    most = max([1, *(max(each.test.first_only, each.test.second_only) for each in comparisons)])
    ticks = sorted({side * round(most * part) for side in (-1, 1) for part in (0.0, 0.5, 1.0)})
    figure.update_xaxes(
        title="Passages",
        range=[-1.2 * most, 1.2 * most],
        tickvals=ticks,
        ticktext=[f"{abs(tick):,}" for tick in ticks],
        zeroline=True,
    )
    figure.update_layout(barmode="overlay", height=130 + 68 * len(comparisons), margin=MARGINS, bargap=0.35)
    figure.update_layout(legend=_LEGEND)
    return Figure("The same passages, two ways", _comparison_sentence(comparisons), Chart(figure, "; ".join(hover)))


def answers_figure(results: Sequence[VariantResult], truths: Sequence[WordShare]) -> Figure:
    """The most frequent answers of each way, above the most frequent of the words that were to be found."""
    panels = [(LABELS[result.variant], result.frequent) for result in results if result.frequent]
    panels.append(("the words that were to be found", tuple(truths)))
    # Each panel is as high as it has words.
    heights = [max(len(words), 1) for _, words in panels]
    figure = make_subplots(
        rows=len(panels),
        cols=1,
        shared_xaxes="all",
        row_heights=heights,
        vertical_spacing=min(0.35 / len(panels), 0.1),
        subplot_titles=[name for name, _ in panels],
    )
    figure.update_annotations(x=0, xanchor="left", font_size=13)
    for row, (name, words) in enumerate(panels, start=1):
        style = row - 1 if row < len(panels) else len(_HUES) - 1
        places = list(range(len(words)))
        shown = [as_plotly(shortened(visible(each.word, spaces=False), 20)) for each in words]
        figure.add_trace(
            go.Bar(
                x=[each.share for each in words],
                y=places,
                orientation="h",
                name=name,
                marker={"color": _HUES[style], "pattern": hatched(_PATTERNS[style])},
                hovertext=[
                    f"{word}: {counted(each.count, 'passage')}, {probability_text(each.share)}"
                    for word, each in zip(shown, words, strict=True)
                ],
                hovertemplate="%{hovertext}<extra></extra>",
            ),
            row=row,
            col=1,
        )
        figure.update_yaxes(
            autorange="reversed", tickvals=places, ticktext=shown, automargin=True, ticklabelstandoff=6, row=row, col=1
        )
    figure.update_xaxes(tickformat=".0%", rangemode="tozero")
    figure.update_xaxes(title="Share of the first answers", row=len(panels), col=1)
    margins = MARGINS | {"t": 28}
    figure.update_layout(height=90 + 22 * sum(heights) + 34 * len(panels), margin=margins, showlegend=False, bargap=0.3)
    told = "; ".join(f"{name}: {_words(words)}" for name, words in panels if words)
    return Figure("Most frequent answers", _answers_sentence(results, truths), Chart(figure, f"Bars, {told}."))


def places_figure(rows: Rows) -> Figure:
    """In which place of the answers the truth stands, as parts of all passages of each way."""
    counts = place_counts(rows)
    styles = {name: (color, pattern) for _, name, color, pattern in _PLACES} | {_LATER[0]: _LATER[1:]}
    styles |= {NOT_LISTED: (_GREY, "\\"), UNDECIDED: (ORANGE, "+")}
    ways = list(counts)
    figure = go.Figure()
    for name, (color, pattern) in styles.items():
        if not any(counts[way][name] for way in ways):
            continue
        figure.add_trace(
            go.Bar(
                x=[counts[way][name] / counts[way].total() for way in ways],
                y=list(range(len(ways))),
                orientation="h",
                name=name,
                marker={"color": color, "pattern": hatched(pattern)},
                hovertext=[
                    f"{LABELS[way]}, {name}: {counts[way][name]} of {counted(counts[way].total(), 'passage')}"
                    for way in ways
                ],
                hovertemplate="%{hovertext}<extra></extra>",
            )
        )
    _label_rows(figure, [LABELS[way] for way in ways])
    figure.update_xaxes(title="Share of the passages", range=[0, 1.0], tickformat=".0%")
    figure.update_layout(barmode="stack", height=170 + 44 * len(ways), margin=MARGINS, bargap=0.35)
    figure.update_layout(legend=_LEGEND, showlegend=True)
    told = [
        f"{LABELS[way]}: " + ", ".join(f"{name} {counts[way][name]}" for name in styles if counts[way][name])
        for way in ways
    ]
    return Figure("Where the right word stands", _places_sentence(counts), Chart(figure, f"{'; '.join(told)}."))


def place_counts(rows: Rows) -> dict[str, Counter[str]]:
    """How many passages of each way have the truth in which place; what could not be asked or answered is left out."""
    counts: dict[str, Counter[str]] = {}
    for row in rows_of(rows, ANSWER):
        if is_counted(row):
            counts.setdefault(row["variant"], Counter())[_place(row)] += 1
    return {way: counts[way] for way in LABELS if way in counts}


def p_text(p_value: float) -> str:
    """A p-value with two figures, "< 0.0001" where nobody asks how much less."""
    return "< 0.0001" if p_value < 0.0001 else f"{p_value:.2g}"


def _place(row: Mapping[str, Any]) -> str:
    if row["rank"] is not None:
        return next((name for last, name, _, _ in _PLACES if row["rank"] <= last), _LATER[0])
    return UNDECIDED if row["cut"] and not row["answers"] else NOT_LISTED


def _with_interval(result: VariantResult) -> str:
    accuracy = result.accuracy
    return f"{probability_text(accuracy.value)} (95 %: {interval_text(accuracy.low, accuracy.high)})"


def _accuracy_sentence(results: Sequence[VariantResult]) -> str:
    best = max(results, key=lambda result: result.accuracy.value)
    worst = min(results, key=lambda result: result.accuracy.value)
    if len(results) == 1:
        said = f"With {LABELS[best.variant]} the model finds {_with_interval(best)} of the last words."
    elif best.accuracy.value == worst.accuracy.value:
        said = f"All ways of asking find the same share of the last words, {probability_text(best.accuracy.value)}."
    else:
        said = (
            f"With {LABELS[best.variant]} the model finds the most last words, {_with_interval(best)}; with"
            f" {LABELS[worst.variant]} the fewest, {_with_interval(worst)}."
        )
    if any(result.undecided for result in results):
        said += " What is hatched was cut before its answer was certain, and may be right or wrong."
    return said


def _comparison_sentence(comparisons: Sequence[Comparison]) -> str:
    certain = sum(each.is_significant for each in comparisons)
    if not certain:
        return "No two ways of asking differ by more than chance could make it on these passages."
    clearest = min(comparisons, key=lambda each: each.corrected_p_value)
    better, worse = clearest.first, clearest.second
    if clearest.test.second_only > clearest.test.first_only:
        better, worse = worse, better
    return (
        f"{'One pair' if certain == 1 else counted(certain, 'pair')} of {len(comparisons)} differ"
        f"{'s' if certain == 1 else ''} by more than chance explains; clearest is that {LABELS[better]} finds more than"
        f" {LABELS[worse]} (p = {p_text(clearest.corrected_p_value)}, corrected for the number of pairs)."
    )


def _answers_sentence(results: Sequence[VariantResult], truths: Sequence[WordShare]) -> str:
    firsts = [(result, result.frequent[0]) for result in results if result.frequent]
    result, most = max(firsts, key=lambda pair: (pair[1].count > 1, pair[1].share))
    of_truths = next((each.share for each in truths if each.word == most.word), None)
    share = "which is none of the most frequent right ones" if of_truths is None else ""
    share = share or f"which is right in {probability_text(of_truths or 0.0)} of the passages"
    return (
        f"With {LABELS[result.variant]} the model answers “{_shown(most.word)}” to {probability_text(most.share)} of"
        f" the passages, {share}."
    )


def _places_sentence(counts: Mapping[str, Counter[str]]) -> str:
    said = []
    for way, places in counts.items():
        listed = places.total() - places[NOT_LISTED] - places[UNDECIDED]
        later = listed - places[_PLACES[0][1]]
        if later:
            said.append((later / places.total(), way, later))
    if not said:
        return "Where the right word is among the answers, it is the first of them."
    share, way, later = max(said)
    return (
        f"With {LABELS[way]} the right word is among the answers of {counted(later, 'further passage')}"
        f" ({probability_text(share)}), and another comes before it."
    )


def _words(words: Sequence[WordShare]) -> str:
    return ", ".join(f"{_shown(each.word)} {probability_text(each.share)}" for each in words)


def _shown(word: str) -> str:
    return shortened(visible(word, spaces=False), 30)


def _label_rows(figure: go.Figure, labels: Sequence[str]) -> None:
    """Texts from top to bottom, in lines that leave room for bars on a narrow screen."""
    lines = [[piece for line in label.split("\n") for piece in textwrap.wrap(line, _LABEL_WIDTH)] for label in labels]
    figure.update_yaxes(
        autorange="reversed",
        tickmode="array",
        tickvals=list(range(len(labels))),
        ticktext=["<br>".join(map(as_plotly, each)) for each in lines],
        automargin=True,
        ticklabelstandoff=6,
    )
