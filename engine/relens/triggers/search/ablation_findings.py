"""The findings of search effort: figure 4b, hits by G and restarts, and figure 4a, losses by sweep.

    normal, o-greedy       r = 1           r = 3           r = 5
    G = 10              3 of 10         5 of 10         6 of 10      0.4 s, 1.2 s, 2.0 s a target
    G = 30              5 of 10         6 of 10         6 of 10      0.9 s, 2.6 s, 4.2 s

As in the algorithm, a search with r restarts keeps the one with the least objective, and counts where that one is a
hit. The restarts of a search run side by side, so the time of the first r of them is no measurement: it is the share of
the search's time by the inputs that each of them tried.

All settings have the same targets, so McNemar's test compares them with the least effort target by target, corrected
for the number of settings (Holm).

Source: He and Glass 2019, appendix D.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from relens.counted import counted
from relens.paired import SIGNIFICANT, holm, paired_test, proportion
from relens.percent import percent
from relens.statistics import Estimate
from relens.studies.rows import Rows
from relens.triggers.search.ablation_study import AblationStudy
from relens.triggers.search.rows import ListRow, SearchRow
from relens.triggers.search.trigger_findings import left_out

#: A list and a hit type.
_Pair = tuple[str, str]


@dataclass(frozen=True)
class EffortCell:
    """The targets reached of a list by a hit type, a G and a number of restarts, and the effort.

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
class LossCurve:
    """The mean objective of the best restart at first and after each sweep, over the targets of a list.

    values: nats, without R, the cost of the input.
    """

    target_list: str
    hit_type: str
    shortlist: int
    targets: int
    values: tuple[float, ...]


@dataclass(frozen=True)
class AblationFindings:
    """searches: by list and hit type and then by G, of the targets that have a search with every G.

    Those of one target have the same place everywhere.
    """

    lists: tuple[ListRow, ...]
    searches: Mapping[_Pair, Mapping[int, Sequence[SearchRow]]]

    @property
    def cells(self) -> tuple[EffortCell, ...]:
        """A cell for each list, hit type, G and number of restarts, in this order."""
        return tuple(cell for cells in self.cells_by_pair.values() for cell in cells)

    @cached_property
    def cells_by_pair(self) -> dict[_Pair, list[EffortCell]]:
        """The cells of each list and hit type."""
        return {
            pair: [
                _cell(shortlist, restarts, searches)
                for shortlist, searches in by_shortlist.items()
                for restarts in range(1, min(len(row.objectives) for row in searches) + 1)
            ]
            for pair, by_shortlist in self.searches.items()
        }

    @property
    def curves(self) -> tuple[LossCurve, ...]:
        """A curve for each list, hit type and G; a search that has ended stays where it was."""
        return tuple(
            LossCurve(*pair, shortlist, len(searches), mean_curve([row.curve for row in searches]))
            for pair, by_shortlist in self.searches.items()
            for shortlist, searches in by_shortlist.items()
        )

    @property
    def verdict(self) -> tuple[str, ...]:
        """The gain by more words and more restarts; () before a target has searches with all of them."""
        if not self.searches:
            return ()
        sentences: list[str] = []
        for pair, cells in self.cells_by_pair.items():
            sentences += _sentences(cells, self.searches[pair])
        return (*sentences, *left_out({row.list: len(row.dropped) for row in self.lists}))


def ablation_findings(rows: Rows, study: AblationStudy) -> AblationFindings:
    """The findings of these rows, which may be those of a study that is not finished."""
    rows = list(rows)
    return AblationFindings(tuple(ListRow.all_in(rows)), _compared(SearchRow.all_in(rows)))


def mean_curve(curves: Sequence[Sequence[float]], longest: int | None = None) -> tuple[float, ...]:
    """The mean after each sweep, up to `longest` or the longest curve; a search that has ended stays where it was."""
    sweeps = max(map(len, curves), default=0) if longest is None else longest
    return tuple(
        math.fsum(values[min(sweep, len(values) - 1)] for values in curves) / len(curves) for sweep in range(sweeps)
    )


def _compared(searches: Sequence[SearchRow]) -> dict[_Pair, dict[int, list[SearchRow]]]:
    """The searches for the targets that have one with every G, so that all shares are of the same targets."""
    shortlists = sorted({row.shortlist for row in searches})
    by_target: dict[_Pair, dict[int, dict[int, SearchRow]]] = {}
    for row in searches:
        by_target.setdefault((row.list, row.hit_type), {}).setdefault(row.place, {})[row.shortlist] = row
    compared = {}
    for pair, targets in by_target.items():
        whole = [by_shortlist for by_shortlist in targets.values() if len(by_shortlist) == len(shortlists)]
        if whole:
            compared[pair] = {shortlist: [rows[shortlist] for rows in whole] for shortlist in shortlists}
    return compared


def _cell(shortlist: int, restarts: int, searches: Sequence[SearchRow]) -> EffortCell:
    tried = [sum(row.tried[:restarts]) for row in searches]
    seconds = sum(row.seconds * part / max(1, sum(row.tried)) for row, part in zip(searches, tried, strict=True))
    hits, count = sum(_is_hit(row, restarts) for row in searches), len(searches)
    return EffortCell(
        target_list=searches[0].list,
        hit_type=searches[0].hit_type,
        shortlist=shortlist,
        restarts=restarts,
        targets=count,
        hits=hits,
        hits_of_any=sum(any(row.is_hit[:restarts]) for row in searches),
        share=proportion(hits, count),
        candidates=sum(tried) / count,
        seconds=seconds / count,
    )


def _is_hit(row: SearchRow, restarts: int) -> bool:
    """Whether the best of the first so many restarts is a hit."""
    objectives = row.objectives[:restarts]
    return row.is_hit[objectives.index(min(objectives))]


def _sentences(cells: Sequence[EffortCell], searches: Mapping[int, Sequence[SearchRow]]) -> Iterator[str]:
    """The least and the most effort for one list and hit type, and the least that reaches as many targets."""
    least = min(cells, key=lambda cell: (cell.shortlist, cell.restarts))
    most = max(cells, key=lambda cell: (cell.shortlist, cell.restarts))
    best = max(cells, key=lambda cell: (cell.hits, -cell.seconds))
    targets = f"Of {counted(most.targets, 'target')} of the list {most.target_list!r}"
    if least == most:
        yield f"{targets}, {_effort(most)} reached {_reached(most)} by {most.hit_type}."
        return
    yield (
        f"{targets}, {_effort(least)} reached {_reached(least)} by {least.hit_type}; {_effort(most)}, {_reached(most)}."
    )
    if not best.hits:
        yield "No setting reached any of them."
    elif best.hits == least.hits:
        yield (
            f"No setting reached more than the least effort did: {least.seconds:.2g} s a target, against"
            f" {most.seconds:.2g} s with the most."
        )
    else:
        yield (
            f"No setting reached more than {best.hits:,} of them; the fastest of these is {_effort(best)}:"
            f" {best.seconds:.2g} s a target, against {most.seconds:.2g} s with the most."
        )
        yield _difference(least, best, cells, searches)


def _difference(
    least: EffortCell, best: EffortCell, cells: Sequence[EffortCell], searches: Mapping[int, Sequence[SearchRow]]
) -> str:
    """Whether the best of all settings reaches more targets than the least by more than chance."""

    def hits(cell: EffortCell) -> list[bool]:
        return [_is_hit(row, cell.restarts) for row in searches[cell.shortlist]]

    others = [cell for cell in cells if cell != least]
    tests = [paired_test(hits(least), hits(cell)) for cell in others]
    place = others.index(best)
    p_value = holm([test.p_value for test in tests])[place]
    chance = "hardly chance" if p_value <= SIGNIFICANT else "possibly chance"
    return (
        f"Reached by this setting only: {counted(tests[place].second_only, 'target')}; by the least effort only:"
        f" {tests[place].first_only:,}. That is {chance} (McNemar's test, corrected for"
        f" {counted(len(others), 'comparison')}: p = {p_value:.2g})."
    )


def _effort(cell: EffortCell) -> str:
    return f"{counted(cell.shortlist, 'word')} at a place and {counted(cell.restarts, 'restart')}"


def _reached(cell: EffortCell) -> str:
    share = cell.share
    return f"{cell.hits:,}, {percent(share.value)} ({percent(share.low)} to {percent(share.high)} with 95 % confidence)"
