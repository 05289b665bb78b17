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

from app.charts import (
    FROM_ZERO,
    GREEN,
    GREY,
    ORANGE,
    PINK,
    SHARE,
    SKY,
    STYLES,
    Panel,
    Style,
    bars,
    chart,
    listed,
    panels,
)
from app.narrative import estimate_text, probability_text
from app.studies.view import Figure, Rows
from app.text import shortened, visible
from engine.counted import counted
from engine.studies.cloze import ANSWER, LABELS
from engine.studies.cloze_findings import Comparison, VariantResult, WordShare, is_counted
from engine.studies.rows import rows_of

#: Characters of a line of a label beside a bar, for a narrow screen.
_LABEL_WIDTH = 25

LISTED, NOT_LISTED, UNDECIDED = "listed", "not among the answers", "undecided"
#: Ranks of the truth as they are drawn together, by the last of each.
_PLACES = ((1, "in the first place"), (2, "second"), (5, "third to fifth"))
_LATER = "sixth or later"
_PLACE_STYLES = {
    "in the first place": Style(),
    "second": Style(SKY, "/"),
    "third to fifth": Style(GREEN, "."),
    _LATER: Style(PINK, "x"),
    NOT_LISTED: Style(GREY, "\\"),
    UNDECIDED: Style(ORANGE, "+"),
}


def accuracy_figure(results: Sequence[VariantResult]) -> Figure:
    """The share of last words that each way finds, with its interval, and what the undecided passages could add."""
    undecided = bars(
        [result.at_most - result.accuracy.value for result in results],
        begin=[result.accuracy.value for result in results],
        name="undecided",
        style=STYLES[1],
        hover=[
            f"{LABELS[result.variant]}: {counted(result.undecided, 'passage')} cut before the answer was certain"
            for result in results
        ],
    )
    told = [f"{LABELS[result.variant]}: {estimate_text(result.accuracy)}" for result in results]
    found = bars([result.accuracy for result in results], name="found", hover=told)
    drawn = chart(
        [undecided, found] if any(result.undecided for result in results) else [found],
        f"Bars of the share found: {'; '.join(told)}.",
        x=SHARE | {"title": "Share of last words found"},
        y_labels=_wrapped([f"{LABELS[result.variant]}\n{result.right} of {result.asked}" for result in results]),
        row_height=56,
        barmode="overlay",
    )
    return Figure("Last words found", _accuracy_sentence(results), drawn)


def comparison_figure(comparisons: Sequence[Comparison]) -> Figure:
    """Of each two ways, the passages that only the one and only the other has right."""
    hover = [
        f"{LABELS[each.first]} only: {each.test.first_only}; {LABELS[each.second]} only: {each.test.second_only}; of"
        f" {counted(each.test.pairs, 'passage')} that both decided; p = {p_text(each.corrected_p_value)}"
        for each in comparisons
    ]
    sides = (
        ("only the first is right", -1, [each.test.first_only for each in comparisons]),
        ("only the second is right", 1, [each.test.second_only for each in comparisons]),
    )
    most = max(1, *(max(counts) for _, _, counts in sides))
    ticks = sorted({side * round(most * part) for side in (-1, 1) for part in (0.0, 0.5, 1.0)})
    drawn = chart(
        [
            bars(
                [side * count for count in counts],
                name=name,
                style=style,
                text=[f"{count}" if count else "" for count in counts],
                hover=hover,
            )
            for (name, side, counts), style in zip(sides, STYLES, strict=False)
        ],
        "; ".join(hover),
        x={
            "title": "Passages",
            "range": [-1.2 * most, 1.2 * most],
            "tickvals": ticks,
            "ticktext": [f"{abs(tick):,}" for tick in ticks],
            "zeroline": True,
        },
        y_labels=_wrapped([f"{LABELS[each.first]}\nagainst {LABELS[each.second]}" for each in comparisons]),
        row_height=68,
        barmode="overlay",
    )
    return Figure("Pairs of ways on the same passages", _comparison_sentence(comparisons), drawn)


def answers_figure(results: Sequence[VariantResult], truths: Sequence[WordShare]) -> Figure:
    """The most frequent answers of each way, above the most frequent of the words that were to be found."""
    found = [(LABELS[result.variant], result.frequent) for result in results if result.frequent]
    found.append(("true last words", tuple(truths)))
    styles = [*STYLES[: len(found) - 1], Style(GREY, "\\")]
    parts = []
    for (name, words), style in zip(found, styles, strict=True):
        shown = [shortened(visible(each.word, spaces=False), 20) for each in words]
        hover = [
            f"{word}: {counted(each.count, 'passage')}, {probability_text(each.share)}"
            for word, each in zip(shown, words, strict=True)
        ]
        mark = bars([each.share for each in words], name=name, style=style, hover=hover)
        # Each panel is as high as it has words.
        parts.append(Panel([mark], name, y=listed(shown), height=27 * max(len(words), 1)))
    told = "; ".join(f"{name}: {_words(words)}" for name, words in found if words)
    x = FROM_ZERO | {"tickformat": ".0%"}
    drawn = panels(parts, f"Bars, {told}.", x=x, showlegend=False)
    drawn.figure.update_annotations(x=0, xanchor="left")
    drawn.figure.update_xaxes(title="Share of the first answers", row=len(parts), col=1)
    return Figure("Most frequent answers", _answers_sentence(results, truths), drawn)


def places_figure(rows: Rows) -> Figure:
    """In which place of the answers the truth stands, as parts of all passages of each way."""
    counts = place_counts(rows)
    names = [name for name in _PLACE_STYLES if any(places[name] for places in counts.values())]
    marks = [
        bars(
            [places[name] / places.total() for places in counts.values()],
            name=name,
            style=_PLACE_STYLES[name],
            hover=[
                f"{LABELS[way]}, {name}: {places[name]} of {counted(places.total(), 'passage')}"
                for way, places in counts.items()
            ],
        )
        for name in names
    ]
    told = [
        f"{LABELS[way]}: " + ", ".join(f"{name} {places[name]}" for name in names if places[name])
        for way, places in counts.items()
    ]
    drawn = chart(
        marks,
        f"{'; '.join(told)}.",
        x={"title": "Share of the passages", "range": [0, 1.0], "tickformat": ".0%"},
        y_labels=_wrapped([LABELS[way] for way in counts]),
        row_height=44,
        barmode="stack",
        showlegend=True,
    )
    return Figure("Rank of the right word", _places_sentence(counts), drawn)


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
        return next((name for last, name in _PLACES if row["rank"] <= last), _LATER)
    return UNDECIDED if row["cut"] and not row["answers"] else NOT_LISTED


def _accuracy_sentence(results: Sequence[VariantResult]) -> str:
    best = max(results, key=lambda result: result.accuracy.value)
    worst = min(results, key=lambda result: result.accuracy.value)
    if len(results) == 1:
        said = f"With {LABELS[best.variant]} the model finds {estimate_text(best.accuracy)} of the last words."
    elif best.accuracy.value == worst.accuracy.value:
        said = f"All ways of asking find the same share of the last words, {probability_text(best.accuracy.value)}."
    else:
        said = (
            f"With {LABELS[best.variant]} the model finds the most last words, {estimate_text(best.accuracy)}; with"
            f" {LABELS[worst.variant]} the fewest, {estimate_text(worst.accuracy)}."
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


def _wrapped(labels: Sequence[str]) -> list[str]:
    """Each line of each label in lines of its own that leave room for bars."""
    return [
        "\n".join(piece for line in label.split("\n") for piece in textwrap.wrap(line, _LABEL_WIDTH))
        for label in labels
    ]
