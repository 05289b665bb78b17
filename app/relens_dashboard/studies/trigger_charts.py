"""The figures of a search for triggers: targets reached, losses by sweep and by restart, costs word by word.

    says it (greedy)       ●───┤   ◆─┤          shares of the targets of each list, with intervals
    every word likely          ├─●─┤  ├◆┤

    loss  \\___ mal         words of a target:   ▂ you  ▂ are  █ rude     -T_out ----
          \\_____ normal                                                  -T_out + log 2 ....

Pure functions of the findings. Figures 4a and 5 of He and Glass 2019 are among them, and 4b's restarts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from relens.counted import counted
from relens.studies.masking import Masker
from relens.triggers.score_row import ScoreRow
from relens.triggers.search.ablation_findings import mean_curve
from relens.triggers.search.rows import TriggerRow
from relens.triggers.search.trigger_findings import TriggerFindings
from relens_dashboard.charts import (
    BLUE,
    FROM_ZERO,
    GREEN,
    GREY,
    ORANGE,
    PINK,
    RED,
    SKY,
    STYLES,
    Axis,
    Chart,
    Panel,
    Style,
    bars,
    chart,
    dots,
    labelled,
    level,
    line,
    panels,
)
from relens_dashboard.masks import shown as shown_masked
from relens_dashboard.narrative import estimate_text, probability_text
from relens_dashboard.studies.trigger_words import hit_label, list_label, token_labels
from relens_dashboard.studies.view import Figure
from relens_dashboard.text import shortened

_STYLES = {
    "normal": Style(BLUE, "", "circle", "solid"),
    "mal": Style(RED, "/", "diamond", "dash"),
    "random": Style(GREEN, "x", "square", "dot"),
    "own": Style(ORANGE, ".", "triangle-up", "dashdot"),
    "file": Style(PINK, "\\", "cross", "longdash"),
}
_OTHER = Style(SKY, "+", "x", "longdashdot")

#: Words likelier than those of real replies, at least half as likely, and less likely.
_LIKELY, _HALF, _UNLIKELY = *STYLES[:2], Style(RED, "x")
_THRESHOLD, _LOOSER = Style(GREY, dash="dash"), Style(GREY, dash="dot")

#: Triggers in the figure of words; the room in a figure of one, in bars.
MOST_SHOWN, _FEWEST_BARS = 4, 8


def list_style(name: str) -> Style:
    """The style of a list, on all pages."""
    return _STYLES.get(name, _OTHER)


def hits(findings: TriggerFindings) -> Figure:
    """The share of targets reached by list and hit type, with Wilson's interval (tables 3 and 11)."""
    cells, hit_type = findings.cells, findings.hit_type
    kinds = list(dict.fromkeys(cell.hit_type for cell in cells))
    lists = list(dict.fromkeys(cell.target_list for cell in cells))
    marks = []
    for place, name in enumerate(lists):
        own = [cell for cell in cells if cell.target_list == name]
        shift = (place - (len(lists) - 1) / 2) * 0.22
        marks.append(
            dots(
                [cell.share for cell in own],
                [kinds.index(cell.hit_type) + shift for cell in own],
                name=list_label(name),
                style=list_style(name),
                hover=[
                    f"{list_label(name)}\n{hit_label(cell.hit_type)}: {cell.hits} of {cell.targets}, "
                    f"{estimate_text(cell.share)}"
                    for cell in own
                ],
            )
        )
    counts = [f"{cell.hits} of {cell.targets} ({cell.target_list})" for cell in cells if cell.hit_type == hit_type]
    sentence = f"Reached by {hit_type} ({hit_label(hit_type)}), the hit type of the search: {', '.join(counts)}."
    drawn = chart(
        marks,
        f"Dots with intervals. {sentence}",
        x={"title": "Share of targets reached", "range": [-0.02, 1.02], "tickformat": ".0%"},
        # In two lines, for a narrow screen.
        y_labels=[("▸ " if kind == hit_type else "") + hit_label(kind).replace(", and", ",\nand") for kind in kinds],
        row_height=18 + 14 * len(lists),
        showlegend=True,
    )
    return Figure("Targets reached", sentence, drawn)


def losses(findings: TriggerFindings) -> Figure | None:
    """The objective of the best restart at first and after each sweep, mean over the targets of a list (figure 4a).

    As in the paper without R, the cost of the input.
    """
    sweeps = [sweep for of_target in findings.sweeps for sweep in of_target]
    if not sweeps:
        return None
    # Old runs have R in it, and begin after the first sweep.
    is_whole = all(sweep.reply_before is not None for sweep in sweeps)
    by_list: dict[str, list[list[float]]] = {}
    for of_target in findings.sweeps:
        values = [sweep.best if sweep.reply_value is None else sweep.reply_value for sweep in of_target]
        first = of_target[0].reply_before
        by_list.setdefault(of_target[0].list, []).append(values if first is None else [first, *values])
    longest = max(len(values) for targets in by_list.values() for values in targets)
    curves = {name: mean_curve(targets, longest) for name, targets in by_list.items()}
    tried, kept = sum(sweep.candidates for sweep in sweeps), sum(sweep.accepted for sweep in sweeps)
    ends = ", ".join(f"{values[0]:.2f} to {values[-1]:.2f} ({name})" for name, values in curves.items())
    sentence = (
        f"The objective of the reply fell from {ends} nats, on average over the targets of a list; "
        f"{counted(tried, 'input')} {'was' if tried == 1 else 'were'} tried, and {counted(kept, 'change')} kept."
    )
    drawn = _list_lines(
        curves,
        0 if is_whole else 1,
        "sweep %{x}: %{y:.3f} nats",
        f"Lines by sweep. {sentence}",
        x={"title": "Sweep", "dtick": max(1, longest // 10)},
        y=FROM_ZERO | {"title": "Objective of the reply, nats"},
    )
    return Figure("Objective by sweep", sentence, drawn)


def restarts(findings: TriggerFindings) -> Figure | None:
    """The expected share of targets reached with fewer restarts, drawn at random (as in figure 4b)."""
    most = max((len(row.objectives) for row in findings.triggers), default=0)
    if most < 2:
        return None
    curves = {}
    for name, rows in findings.by_list.items():
        own = [len(row.restarts_that_hit.get(findings.hit_type, ())) for row in rows if len(row.objectives) == most]
        curves[name] = [
            math.fsum(any_of(most, hitting, count) for hitting in own) / len(own) for count in range(1, most + 1)
        ]
    ends = ", ".join(f"{values[0]:.0%} to {values[-1]:.0%} ({name})" for name, values in curves.items())
    sentence = (
        f"From 1 to {most} restarts, the share of targets with a hit of type {findings.hit_type} by at least one of "
        f"them rises from {ends}."
    )
    drawn = _list_lines(
        curves,
        1,
        "%{x} restarts: %{y:.1%}",
        f"Lines by restarts. {sentence}",
        x={"title": "Restarts", "dtick": max(1, most // 10)},
        y={"title": "Share of targets reached", "range": [-0.02, 1.02], "tickformat": ".0%"},
    )
    return Figure("Targets reached by restarts", sentence, drawn)


def _list_lines(curves: Mapping[str, Sequence[float]], begin: int, hover: str, alt: str, *, x: Axis, y: Axis) -> Chart:
    """A line for each list, its first value at `begin`."""
    marks = [
        line(
            list(range(begin, begin + len(values))),
            values,
            name=list_label(name),
            style=list_style(name),
            marked="everywhere",
            hover=hover,
        )
        for name, values in curves.items()
    ]
    return chart(marks, alt, x=x, y=y, showlegend=True)


def any_of(restarts: int, hitting: int, drawn: int) -> float:
    """The probability that of `drawn` restarts, of which `hitting` hit, at least one does."""
    return 1.0 - math.comb(restarts - hitting, drawn) / math.comb(restarts, drawn)


def words(shown: Sequence[TriggerRow], mask: Masker | None) -> Figure:
    """The cost of each word of some targets, and the mean cost of a word of real replies (figure 5)."""
    targets = [target_bars(row, mask, f"{row.list} {row.place}") for row in shown]
    drawn = word_bars(targets)
    above = sum(max(target.costs) > targets[0].enough for target in targets)
    sentence = (
        "The closest target of each list. A bar below the dashed line (−T_out) is a word likelier than the average "
        f"word of a real reply; {above} of {len(shown)} have a word above it. At the dotted line, −T_out + log 2, a "
        "word is half as likely as that (k = 2)."
    )
    return Figure("Word by word", sentence, Chart(drawn.figure, f"{sentence} {drawn.alt}"))


@dataclass(frozen=True)
class TargetBars:
    """A target as bars, masked. costs: -log P of each token, nats; enough: -T_out."""

    title: str
    target: str
    labels: Sequence[str]
    costs: Sequence[float]
    enough: float


def target_bars(row: ScoreRow, mask: Masker | None, title: str = "") -> TargetBars:
    """The bars of a score."""
    score = row.score
    labels = token_labels(score.target_tokens, mask, score.token_name)
    if score.ends:
        labels = [*labels[:-1], "end"]
    costs = [-value for value in score.token_log_probs]
    return TargetBars(title, shown_masked(mask, row.target_text), labels, costs, -score.thresholds.out)


def word_bars(shown: Sequence[TargetBars]) -> Chart:
    """Bars of -log P of each word of the targets, with lines at -T_out and -T_out + log 2 (k = 1 and k = 2)."""
    is_one = len(shown) == 1
    # Few words would make bars as wide as a page.
    fewest = _FEWEST_BARS if is_one else _FEWEST_BARS // 2
    parts, counts = [], []
    for target in shown:
        costs, enough = target.costs, target.enough
        texts = [shortened(label, 14) for label in target.labels]
        mark = bars(
            costs,
            style=[_LIKELY if cost < enough else _HALF if cost < enough + math.log(2) else _UNLIKELY for cost in costs],
            hover=[
                f"{text}: {cost:.2f} nats, {probability_text(math.exp(-cost))}"
                for text, cost in zip(texts, costs, strict=True)
            ],
            upright=True,
        )
        title = "" if is_one else shortened(target.title, 30)
        x = labelled(texts) | {"range": [-0.6, max(len(texts), fewest) - 0.4], "tickangle": -45}
        parts.append(Panel([mark], title, x=x))
        likely = sum(cost < enough for cost in costs)
        counts.append(f"“{target.target}”: {likely} of {len(costs)} words are likely enough")
    drawn = panels(
        parts,
        f"Bars of the cost of each word, with the end of the reply. {'; '.join(counts)}.",
        across=len(parts),
        # The lines of the thresholds are enough.
        y=FROM_ZERO | {"showgrid": False},
        bargap=0.2,
    )
    drawn.figure.update_yaxes(title="−log P, nats", row=1, col=1)
    for column, target in enumerate(shown, 1):
        # With several targets there is no room for the names of the lines, which the sentence has.
        cell = {"row": 1, "col": column}
        level(drawn.figure, target.enough, "−T_out" if is_one else "", _THRESHOLD, "bottom right", **cell)
        level(drawn.figure, target.enough + math.log(2), "−T_out + log 2" if is_one else "", _LOOSER, **cell)
    return drawn


def closest(findings: TriggerFindings) -> list[TriggerRow]:
    """The trigger with the largest margin of each list, at most `MOST_SHOWN`."""
    best = [
        max(own, key=lambda row: row.score.margins.get(findings.hit_type, -math.inf))
        for own in findings.by_list.values()
    ]
    return best[:MOST_SHOWN]
