"""The findings of a continuous relaxation: Table 1, and Figures 2 and 3 of the paper.

    space        list     hits of relaxed inputs   hits of projected inputs      (of the paper)
    embedding    normal       95 %
    embedding    mal           7.2 %
    one-hot      normal       63.4 %                   0 %
    one-hot      mal           1.7 %                   0 %

Shares have Wilson's interval. Figure 2 counts the largest and the second largest share of a word at each place: near 1
and near 0 where inputs are nearly one-hot. Figure 3 has the mean distances that the projection moves embeddings and
states, by place: embeddings hardly move, and states do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from relens.counted import counted
from relens.paired import proportion
from relens.percent import percent
from relens.statistics import Estimate
from relens.studies.rows import Rows
from relens.triggers.relaxation.rows import DescentStep, LeftOut, ListLength, RelaxedTarget
from relens.triggers.relaxation.settings import SPACE_LABELS, Space
from relens.triggers.search.trigger_findings import left_out

if TYPE_CHECKING:
    from relens.triggers.relaxation.study import RelaxationStudy

#: Bins of the histogram, each as wide as the others, from 0 to 1.
BINS = 20


@dataclass(frozen=True)
class TargetGroup:
    """One list in one space: a line of Table 1, a histogram of Figure 2, a line of Figure 3."""

    space: Space
    list: str
    targets: tuple[RelaxedTarget, ...]

    @property
    def hits(self) -> int:
        """Targets that are the reply to their relaxed input."""
        return sum(target.hit for target in self.targets)

    @property
    def projected_hits(self) -> int:
        """Targets that are the reply to their projected input."""
        return sum(target.projected_hit for target in self.targets)

    @property
    def share(self) -> Estimate:
        """That of `hits`."""
        return proportion(self.hits, len(self.targets))

    @property
    def projected_share(self) -> Estimate:
        """That of `projected_hits`."""
        return proportion(self.projected_hits, len(self.targets))

    def histogram(self, share: Literal["largest", "second"], bins: int = BINS) -> tuple[int, ...]:
        """How many places have this share of a word, by bin."""
        counts = [0] * bins
        for target in self.targets:
            for value in getattr(target, share):
                counts[min(bins - 1, int(value * bins))] += 1
        return tuple(counts)

    def mean_distances(self, moved: Literal["embedding", "state"]) -> tuple[float, ...]:
        """How far the projection moves it at each place, the mean over the targets."""
        columns = [getattr(target, moved) for target in self.targets]
        return tuple(sum(place) / len(columns) for place in zip(*columns, strict=True))


@dataclass(frozen=True)
class RelaxationFindings:
    """groups: in the order of the rows; steps: of all descents; dropped: targets left out, by list."""

    groups: tuple[TargetGroup, ...]
    steps: tuple[DescentStep, ...]
    dropped: Mapping[str, int]
    empty_lists: tuple[str, ...]

    @property
    def verdict(self) -> tuple[str, ...]:
        """Table 1 in sentences, what was left out, and which lists are empty."""
        return (
            *map(_sentence, self.groups),
            *left_out(self.dropped),
            *(f"The list {name!r} has no target for this model, so it says nothing." for name in self.empty_lists),
        )


def relaxation_findings(rows: Rows, study: RelaxationStudy) -> RelaxationFindings:
    """The findings of these rows, which may be those of a study that is not finished."""
    rows = list(rows)
    groups: dict[tuple[Space, str], list[RelaxedTarget]] = {}
    for target in RelaxedTarget.all_in(rows):
        groups.setdefault((target.space, target.list), []).append(target)
    # A target is left out of a list once, whatever the number of spaces.
    dropped = dict.fromkeys((row.list, row.reason) for row in LeftOut.all_in(rows))
    names = [name for name, _ in dropped]
    return RelaxationFindings(
        tuple(TargetGroup(space, name, tuple(targets)) for (space, name), targets in groups.items()),
        tuple(DescentStep.all_in(rows)),
        {name: names.count(name) for name in dict.fromkeys(names)},
        tuple(dict.fromkeys(row.list for row in ListLength.all_in(rows) if not row.targets)),
    )


def _sentence(group: TargetGroup) -> str:
    return (
        f"Inputs of {SPACE_LABELS[group.space]}: {group.hits:,} of"
        f" {counted(len(group.targets), 'target')} of the list {group.list!r} reached ({_interval(group.share)});"
        f" with the nearest words instead, {group.projected_hits:,} ({_interval(group.projected_share)})."
    )


def _interval(share: Estimate) -> str:
    return f"{percent(share.value, 1)}, {100 * share.low:.1f} to {100 * share.high:.1f}"
