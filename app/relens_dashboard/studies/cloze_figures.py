"""Figures of a cloze test: accuracies, pairs of variants, frequent answers, and ranks of the truth.

    any word               ▇▇▇▇▇▇▇├──┤           45 %
    words of the context   ▇▇▇▇▇▇▇▇▇▇▇▇├──┤      80 %   a bar with its 95 % interval

Pure functions of the findings. A passage whose search was cut is drawn as undecided, never as wrong.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence

from relens.counted import counted
from relens.percent import p_text
from relens.studies.cloze import LABELS, PassageAnswers
from relens.studies.cloze_findings import Comparison, VariantResult, WordShare
from relens_dashboard.charts import (
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
from relens_dashboard.narrative import estimate_text, probability_text
from relens_dashboard.studies.view import Figure
from relens_dashboard.text import shortened, visible

#: Characters of a line of a label beside a bar, for a narrow screen.
_LABEL_WIDTH = 25

FIRST, NOT_LISTED, UNDECIDED = "first", "not among the answers", "undecided"
#: Ranks of the truth that are drawn together, by the last of each.
_RANKS = ((1, FIRST), (2, "second"), (5, "third to fifth"))
_LATER = "sixth or later"
_RANK_STYLES = {
    FIRST: Style(),
    "second": Style(SKY, "/"),
    "third to fifth": Style(GREEN, "."),
    _LATER: Style(PINK, "x"),
    NOT_LISTED: Style(GREY, "\\"),
    UNDECIDED: Style(ORANGE, "+"),
}


def accuracy_figure(results: Sequence[VariantResult]) -> Figure:
    """The accuracy of each variant with its interval, and the share of undecided passages after it."""
    undecided = bars(
        [result.at_most - result.accuracy.value for result in results],
        begin=[result.accuracy.value for result in results],
        name="undecided",
        style=STYLES[1],
        hover=[f"{result.label}: {counted(result.undecided, 'undecided passage')}" for result in results],
    )
    shares = [f"{result.label}: {estimate_text(result.accuracy)}" for result in results]
    right = bars([result.accuracy for result in results], name="found", hover=shares)
    drawn = chart(
        [undecided, right] if any(result.undecided for result in results) else [right],
        f"Bars of the share found: {'; '.join(shares)}.",
        x=SHARE | {"title": "Share of last words found"},
        y_labels=_wrapped([f"{result.label}\n{result.right} of {result.passages}" for result in results]),
        row_height=56,
        barmode="overlay",
    )
    return Figure("Last words found", _accuracy_sentence(results), drawn)


def comparison_figure(comparisons: Sequence[Comparison]) -> Figure:
    """Of each two variants, the passages that only one of them has right."""
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
    return Figure("Pairs of variants on the same passages", _comparison_sentence(comparisons), drawn)


def answers_figure(results: Sequence[VariantResult], truths: Sequence[WordShare]) -> Figure:
    """The most frequent answers of each variant, above the most frequent last words."""
    series = [(result.label, result.frequent) for result in results if result.frequent]
    styles = [*STYLES[: len(series)], Style(GREY, "\\")]
    series.append(("true last words", tuple(truths)))
    parts = []
    for (name, words), style in zip(series, styles, strict=True):
        shown = [shortened(visible(each.word, spaces=False), 20) for each in words]
        hover = [
            f"{word}: {counted(each.count, 'passage')}, {probability_text(each.share)}"
            for word, each in zip(shown, words, strict=True)
        ]
        mark = bars([each.share for each in words], name=name, style=style, hover=hover)
        # Each panel is as high as it has words.
        parts.append(Panel([mark], name, y=listed(shown), height=27 * max(len(words), 1)))
    described = "; ".join(f"{name}: {_words(words)}" for name, words in series if words)
    x = FROM_ZERO | {"tickformat": ".0%"}
    drawn = panels(parts, f"Bars, {described}.", x=x, showlegend=False)
    drawn.figure.update_annotations(x=0, xanchor="left")
    drawn.figure.update_xaxes(title="Share of the first answers", row=len(parts), col=1)
    return Figure("Most frequent answers", _answers_sentence(results, truths), drawn)


def ranks_figure(results: Sequence[VariantResult]) -> Figure:
    """The rank of the truth among the answers, as shares of the passages of each variant."""
    counts = {result.label: rank_counts(result) for result in results}
    names = [name for name in _RANK_STYLES if any(ranks[name] for ranks in counts.values())]
    marks = [
        bars(
            [ranks[name] / ranks.total() for ranks in counts.values()],
            name=name,
            style=_RANK_STYLES[name],
            hover=[
                f"{label}, {name}: {ranks[name]} of {counted(ranks.total(), 'passage')}"
                for label, ranks in counts.items()
            ],
        )
        for name in names
    ]
    described = [
        f"{label}: " + ", ".join(f"{name} {ranks[name]}" for name in names if ranks[name])
        for label, ranks in counts.items()
    ]
    drawn = chart(
        marks,
        f"{'; '.join(described)}.",
        x={"title": "Share of the passages", "range": [0, 1.0], "tickformat": ".0%"},
        y_labels=_wrapped(list(counts)),
        row_height=44,
        barmode="stack",
        showlegend=True,
    )
    return Figure("Rank of the right word", _ranks_sentence(counts), drawn)


def rank_counts(result: VariantResult) -> Counter[str]:
    """The number of passages by the rank of the truth."""
    return Counter(map(_rank, result.scored))


def _rank(row: PassageAnswers) -> str:
    if row.rank is not None:
        return next((name for last, name in _RANKS if row.rank <= last), _LATER)
    return UNDECIDED if row.is_undecided else NOT_LISTED


def _accuracy_sentence(results: Sequence[VariantResult]) -> str:
    best = max(results, key=lambda result: result.accuracy.value)
    worst = min(results, key=lambda result: result.accuracy.value)
    if len(results) == 1:
        sentence = f"With {best.label} the model finds {estimate_text(best.accuracy)} of the last words."
    elif best.accuracy.value == worst.accuracy.value:
        sentence = f"All variants find the same share of the last words, {probability_text(best.accuracy.value)}."
    else:
        sentence = (
            f"With {best.label} the model finds the most last words, {estimate_text(best.accuracy)}; with"
            f" {worst.label} the fewest, {estimate_text(worst.accuracy)}."
        )
    if any(result.undecided for result in results):
        sentence += " Hatched passages are undecided: they may be right or wrong."
    return sentence


def _comparison_sentence(comparisons: Sequence[Comparison]) -> str:
    significant = sum(each.is_significant for each in comparisons)
    if not significant:
        return "No two variants differ by more than chance explains."
    clearest = min(comparisons, key=lambda each: each.corrected_p_value)
    return (
        f"{counted(significant, 'pair')} of {len(comparisons)} {'differs' if significant == 1 else 'differ'} by more"
        f" than chance explains. The clearest: {LABELS[clearest.better]} finds more than {LABELS[clearest.worse]}"
        f" (p = {p_text(clearest.corrected_p_value)}, corrected for the number of pairs)."
    )


def _answers_sentence(results: Sequence[VariantResult], truths: Sequence[WordShare]) -> str:
    firsts = [(result, result.frequent[0]) for result in results if result.frequent]
    result, most = max(firsts, key=lambda pair: (pair[1].count > 1, pair[1].share))
    true_share = next((each.share for each in truths if each.word == most.word), None)
    comment = (
        "none of the most frequent last words"
        if true_share is None
        else f"the last word of {probability_text(true_share)} of the passages"
    )
    return (
        f"With {result.label} the model answers “{_shown(most.word)}” to {probability_text(most.share)} of the"
        f" passages; it is {comment}."
    )


def _ranks_sentence(counts: Mapping[str, Counter[str]]) -> str:
    later = {
        label: ranks.total() - ranks[FIRST] - ranks[NOT_LISTED] - ranks[UNDECIDED] for label, ranks in counts.items()
    }
    label = max(later, key=lambda label: (later[label] / counts[label].total(), label))
    if not later[label]:
        return "Where the right word is among the answers, it is the first of them."
    return (
        f"With {label} the right word is among the later answers of {counted(later[label], 'further passage')}"
        f" ({probability_text(later[label] / counts[label].total())})."
    )


def _words(words: Sequence[WordShare]) -> str:
    return ", ".join(f"{_shown(each.word)} {probability_text(each.share)}" for each in words)


def _shown(word: str) -> str:
    return shortened(visible(word, spaces=False), 30)


def _wrapped(labels: Sequence[str]) -> list[str]:
    """The labels in lines short enough to leave room for bars."""
    return [
        "\n".join(piece for line in label.split("\n") for piece in textwrap.wrap(line, _LABEL_WIDTH))
        for label in labels
    ]
