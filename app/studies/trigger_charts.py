"""The figures of a search for triggers: what was reached, how the search went, and which words are in the way.

    says it (greedy)       ●───┤   ◆─┤          shares of the targets of each list, with intervals
    every word likely          ├─●─┤  ├◆┤

    loss  \\___ mal         words of a target:   ▂ you  ▂ are  █ rude     -T_out ----
          \\_____ normal                                                  -T_out + log 2 ....

Pure functions of rows. Figures 4a and 5 of He and Glass 2019 are among them, and 4b's restarts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.charts import (
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
from app.masks import shown as shown_masked
from app.narrative import estimate_text, probability_text
from app.studies.trigger_words import hit_label, list_label, target_text, token_labels
from app.studies.view import Figure, Rows
from app.text import shortened
from engine.counted import counted
from engine.studies.masking import Masker
from engine.studies.rows import rows_of
from engine.triggers.score_row import ScoreRow
from engine.triggers.search.ablation_findings import mean_curve
from engine.triggers.search.trigger_findings import HitCell
from engine.triggers.search.trigger_study import SWEEP, TRIGGER

_STYLES = {
    "normal": Style(BLUE, "", "circle", "solid"),
    "mal": Style(RED, "/", "diamond", "dash"),
    "random": Style(GREEN, "x", "square", "dot"),
    "own": Style(ORANGE, ".", "triangle-up", "dashdot"),
    "file": Style(PINK, "\\", "cross", "longdash"),
}
_OTHER = Style(SKY, "+", "x", "longdashdot")

#: How likely a word is: more than a word of real replies, more than half as much, or less.
_LIKELY, _HALF, _UNLIKELY = *STYLES[:2], Style(RED, "x")
_THRESHOLD, _LOOSER = Style(GREY, dash="dash"), Style(GREY, dash="dot")

#: Triggers in the figure of words; bars for which a figure of one has room.
MOST_SHOWN, _FEWEST_BARS = 4, 8

Row = Mapping[str, Any]


def list_style(name: str) -> Style:
    """The style of a list, on all pages."""
    return _STYLES.get(name, _OTHER)


def hits(cells: Sequence[HitCell], hit_type: str) -> Figure:
    """Of each list and hit type the share of targets that were reached, with Wilson's interval (tables 3 and 11)."""
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
    told = [
        f"{cell.hits} of {cell.targets} of the list {cell.target_list}" for cell in cells if cell.hit_type == hit_type
    ]
    sentence = f"Searched for: the hit type {hit_type} ({hit_label(hit_type)}). Reached: {', '.join(told)}."
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


def losses(rows: Rows) -> Figure | None:
    """The objective of the best restart at first and after each sweep, mean over the targets of a list (figure 4a).

    As in the paper without R, what the input itself costs.
    """
    by_list = _by_list(rows)
    longest = max((len(values) for targets in by_list.values() for values in targets.values()), default=0)
    if not longest:
        return None
    curves = {name: mean_curve(list(targets.values()), longest) for name, targets in by_list.items()}
    sweeps = rows_of(rows, SWEEP)
    # Runs of before tell only what was left after each sweep.
    begin = 0 if all("reply_before" in row for row in sweeps) else 1
    tried, kept = (sum(int(row[name]) for row in sweeps) for name in ("candidates", "accepted"))
    ends = ", ".join(f"{values[0]:.2f} to {values[-1]:.2f} ({name})" for name, values in curves.items())
    sentence = (
        f"The objective of the reply, on average over the targets of a list, went from {ends} nats; "
        f"{counted(tried, 'input')} {'was' if tried == 1 else 'were'} tried, and {counted(kept, 'change')} kept."
    )
    drawn = _list_lines(
        curves,
        begin,
        "sweep %{x}: %{y:.3f} nats",
        f"Lines by sweep. {sentence}",
        x={"title": "Sweep", "dtick": max(1, longest // 10)},
        y=FROM_ZERO | {"title": "Objective of the reply, nats"},
    )
    return Figure("Objective by sweep", sentence, drawn)


def restarts(rows: Rows, hit_type: str) -> Figure | None:
    """How many targets would be reached with fewer restarts, in expectation over which ones (as in figure 4b)."""
    found = rows_of(rows, TRIGGER)
    most = max((len(row["objectives"]) for row in found), default=0)
    if most < 2:
        return None
    curves = {}
    for name in dict.fromkeys(row["list"] for row in found):
        own = [row for row in found if row["list"] == name and len(row["objectives"]) == most]
        curves[name] = [
            math.fsum(any_of(most, len(row["restarts_that_hit"].get(hit_type, ())), count) for row in own) / len(own)
            for count in range(1, most + 1)
        ]
    ends = ", ".join(f"{values[0]:.0%} to {values[-1]:.0%} ({name})" for name, values in curves.items())
    sentence = (
        f"From 1 to {most} restarts, the share of targets for which at least one of them is a hit of type {hit_type} "
        f"goes from {ends}."
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


def words(shown: Sequence[Row], mask: Masker | None) -> Figure:
    """What each word of some targets costs, beside what a word of real replies costs on average (figure 5)."""
    targets = [target_bars(row, mask) for row in shown]
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


def target_bars(row: Row, mask: Masker | None) -> TargetBars:
    """The bars of a row that has a score."""
    score = ScoreRow.of(row)
    labels = token_labels(score.target_tokens, mask, score.token_name)
    if score.ends:
        labels = [*labels[:-1], "end"]
    title = f"{row.get('list', '')} {row.get('place', '')}".strip()
    costs = [-value for value in score.token_log_probs]
    return TargetBars(title, shown_masked(mask, target_text(row)), labels, costs, -score.thresholds.out)


def word_bars(shown: Sequence[TargetBars]) -> Chart:
    """Bars of -log P of each word of the targets, with lines at -T_out and -T_out + log 2 (k = 1 and k = 2)."""
    is_one = len(shown) == 1
    # Few words would make bars as wide as a page.
    fewest = _FEWEST_BARS if is_one else _FEWEST_BARS // 2
    parts, told = [], []
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
        told.append(f"“{target.target}”: {likely} of {len(costs)} words are likely enough")
    drawn = panels(
        parts,
        f"Bars of what each word costs, with the end of the reply. {'; '.join(told)}.",
        across=len(parts),
        # There are lines enough, and names at them.
        y=FROM_ZERO | {"showgrid": False},
        bargap=0.2,
    )
    drawn.figure.update_yaxes(title="−log P, nats", row=1, col=1)
    for column, target in enumerate(shown, 1):
        # Beside several targets there is no room for the names of the lines; the sentence above says which is which.
        cell = {"row": 1, "col": column}
        level(drawn.figure, target.enough, "−T_out" if is_one else "", _THRESHOLD, "bottom right", **cell)
        level(drawn.figure, target.enough + math.log(2), "−T_out + log 2" if is_one else "", _LOOSER, **cell)
    return drawn


def closest(rows: Rows, hit_type: str) -> list[Row]:
    """Of each list the trigger with the largest margin, at most `MOST_SHOWN`."""
    found = rows_of(rows, TRIGGER)
    best = []
    for name in dict.fromkeys(row["list"] for row in found):
        own = [row for row in found if row["list"] == name]
        best.append(max(own, key=lambda row: row["margins"].get(hit_type, -math.inf)))
    return best[:MOST_SHOWN]


def _by_list(rows: Rows) -> dict[str, dict[str, list[float]]]:
    """The objective of the best reply, at first and after each sweep, by list and target; of old runs with R."""
    found: dict[str, dict[str, list[float]]] = {}
    for row in rows_of(rows, SWEEP):
        values = found.setdefault(row["list"], {}).setdefault(str(row["unit"]), [])
        if not values and "reply_before" in row:
            values.append(float(row["reply_before"]))
        values.append(float(row.get("reply_value", row["best"])))
    return found
