"""What an ablation found, from its rows alone: figure 4b, hits by G and restarts, and figure 4a, losses by sweep.

    normal, o-greedy       r = 1           r = 3           r = 5
    G = 10              3 of 10         5 of 10         6 of 10      0.4 s, 1.2 s, 2.0 s a target
    G = 30              5 of 10         6 of 10         6 of 10      0.9 s, 2.6 s, 4.2 s

As in the algorithm, a search with r restarts keeps the one with the least objective, and it is asked whether that is a
hit. The restarts of a search go side by side, so the time of the first r of them is not measured apart: it is the
search's, shared out by the inputs that each of them tried.

All settings are tried on the same targets, so whether one reaches more than the least of them is McNemar's test, target
by target, corrected for the number of settings (Holm).

Source: He and Glass 2019, appendix D.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.counted import counted
from engine.paired import SIGNIFICANT, holm, paired_test, proportion
from engine.percent import percent
from engine.record import Record
from engine.statistics import Estimate
from engine.studies.rows import rows_of
from engine.studies.study import Study
from engine.triggers.search.ablation_study import SEARCH
from engine.triggers.search.trigger_findings import left_out
from engine.triggers.search.trigger_study import LIST

Row = Mapping[str, Any]


@dataclass(frozen=True)
class EffortCell(Record):
    """Of a list, a hit type, a G and a number of restarts: how many targets were reached, and what it took.

    hits: by the restart with the least objective; hits_of_any: by at least one. share: of `hits`, with Wilson's
    interval. candidates, seconds: mean over the targets; seconds on the machine of the run.
    """

    target_list: str
    hit_type: str
    shortlist: int
    restarts: int
    targets: int
    hits: int
    hits_of_any: int
    share: Estimate
    candidates: float
    seconds: float


@dataclass(frozen=True)
class LossCurve(Record):
    """The mean objective of the best restart at first and after each sweep, over the targets of a list.

    values: nats, without R, what the input itself costs.
    """

    target_list: str
    hit_type: str
    shortlist: int
    targets: int
    values: tuple[float, ...]


def effort_cells(rows: Iterable[Row]) -> tuple[EffortCell, ...]:
    """A cell for each list, hit type, G and number of restarts, in this order.

    A target counts once it was searched for with every G, so that all shares are of the same targets.
    """
    cells = []
    for (name, hit_type), by_shortlist in _compared(rows).items():
        for shortlist, found in by_shortlist.items():
            for restarts in range(1, min(len(row["objectives"]) for row in found) + 1):
                cells.append(_cell(name, hit_type, shortlist, restarts, found))
    return tuple(cells)


def loss_curves(rows: Iterable[Row]) -> tuple[LossCurve, ...]:
    """A curve for each list, hit type and G; a search that has ended stays where it was."""
    curves = []
    for (name, hit_type), by_shortlist in _compared(rows).items():
        for shortlist, found in by_shortlist.items():
            curves.append(LossCurve(name, hit_type, shortlist, len(found), mean_curve([row["curve"] for row in found])))
    return tuple(curves)


def mean_curve(curves: Sequence[Sequence[float]], longest: int | None = None) -> tuple[float, ...]:
    """The mean after each sweep, up to `longest` or the longest curve; a search that has ended stays where it was."""
    sweeps = max(map(len, curves), default=0) if longest is None else longest
    return tuple(
        math.fsum(values[min(sweep, len(values) - 1)] for values in curves) / len(curves) for sweep in range(sweeps)
    )


def ablation_verdict(rows: Iterable[Row], study: Study | None = None) -> tuple[str, ...]:
    """Sentences on what more words and more restarts bring; () before a target was searched for with all of them."""
    kept = list(rows)
    by_list: dict[tuple[str, str], list[EffortCell]] = {}
    for cell in effort_cells(kept):
        by_list.setdefault((cell.target_list, cell.hit_type), []).append(cell)
    compared = _compared(kept)
    sentences = [sentence for key, cells in by_list.items() for sentence in _sentences(cells, compared[key])]
    if by_list:
        sentences += left_out(rows_of(kept, LIST))
    return tuple(sentences)


def _compared(rows: Iterable[Row]) -> dict[tuple[str, str], dict[int, list[Row]]]:
    """By list and hit type, and then by G: the searches for those targets that were searched for with every G."""
    searches = rows_of(rows, SEARCH)
    shortlists = sorted({int(row["shortlist"]) for row in searches})
    by_target: dict[tuple[str, str], dict[int, dict[int, Row]]] = {}
    for row in searches:
        of_list = by_target.setdefault((str(row["list"]), str(row["hit_type"])), {})
        of_list.setdefault(int(row["place"]), {})[int(row["shortlist"])] = row
    compared = {}
    for key, targets in by_target.items():
        whole = [found for found in targets.values() if len(found) == len(shortlists)]
        if whole:
            compared[key] = {shortlist: [found[shortlist] for found in whole] for shortlist in shortlists}
    return compared


def _cell(name: str, hit_type: str, shortlist: int, restarts: int, found: Sequence[Row]) -> EffortCell:
    hits = of_any = 0
    candidates = seconds = 0.0
    for row in found:
        hits += _is_hit(row, restarts)
        of_any += any(row["is_hit"][:restarts])
        tried = sum(row["tried"][:restarts])
        candidates += tried
        seconds += row["seconds"] * tried / max(1, sum(row["tried"]))
    count = len(found)
    return EffortCell(
        *(name, hit_type, shortlist, restarts, count, hits, of_any),
        proportion(hits, count),
        candidates / count,
        seconds / count,
    )


def _is_hit(row: Row, restarts: int) -> bool:
    """Whether the best of the first so many restarts is a hit."""
    objectives = row["objectives"][:restarts]
    return bool(row["is_hit"][objectives.index(min(objectives))])


def _sentences(cells: Sequence[EffortCell], found: Mapping[int, Sequence[Row]]) -> list[str]:
    """Of one list and hit type: the least and the most that was spent, and the least that reached as many.

    found: the searches by G, those for one target in the same place everywhere.
    """
    least = min(cells, key=lambda cell: (cell.shortlist, cell.restarts))
    most = max(cells, key=lambda cell: (cell.shortlist, cell.restarts))
    best = max(cells, key=lambda cell: (cell.hits, -cell.seconds))
    what = f"Of {counted(most.targets, 'target')} of the list {most.target_list!r}"
    if least == most:
        return [f"{what}, {_spent(most)} found a hit of type {most.hit_type} for {_reached(most)}."]
    sentences = [
        f"{what}, {_spent(least)} found a hit of type {least.hit_type} for {_reached(least)}; {_spent(most)},"
        f" for {_reached(most)}."
    ]
    if not best.hits:
        return [*sentences, "No setting reached any of them."]
    if best.hits == least.hits:
        sentences.append(
            f"No setting reached more than the least of them did, in {least.seconds:.2g} s a target, where all that was"
            f" tried took {most.seconds:.2g} s."
        )
        return sentences
    sentences.append(
        f"No setting reached more than {best.hits:,} of them, and {_spent(best)} did so in the least time:"
        f" {best.seconds:.2g} s a target, where all that was tried took {most.seconds:.2g} s."
    )
    sentences.append(_difference(least, best, cells, found))
    return sentences


def _difference(
    least: EffortCell, best: EffortCell, cells: Sequence[EffortCell], found: Mapping[int, Sequence[Row]]
) -> str:
    """Whether the best of all settings reaches more targets than the least by more than chance."""

    def hits(cell: EffortCell) -> list[bool]:
        return [_is_hit(row, cell.restarts) for row in found[cell.shortlist]]

    others = [cell for cell in cells if cell != least]
    tests = [paired_test(hits(least), hits(cell)) for cell in others]
    place = others.index(best)
    p_value = holm([test.p_value for test in tests])[place]
    more, fewer = tests[place].second_only, tests[place].first_only
    worth = "hardly chance" if p_value <= SIGNIFICANT else "chance may account for that"
    return (
        f"Target by target, {more:,} {'was' if more == 1 else 'were'} reached by the best of these only, and {fewer:,}"
        f" by the least only: {worth} (McNemar's test, corrected for {counted(len(others), 'comparison')}:"
        f" p = {p_value:.2g})."
    )


def _spent(cell: EffortCell) -> str:
    return f"{counted(cell.shortlist, 'word')} at a place and {counted(cell.restarts, 'restart')}"


def _reached(cell: EffortCell) -> str:
    share = cell.share
    return f"{cell.hits:,}, {percent(share.value)} ({percent(share.low)} to {percent(share.high)} with 95 % confidence)"
