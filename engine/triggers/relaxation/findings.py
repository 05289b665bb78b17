"""What the rows of a continuous relaxation say: Table 1, and Figures 2 and 3 of the paper.

    space        list     hit by numbers   hit by the words next to them      of the paper
    embedding    normal       95 %
    embedding    mal           7.2 %
    one-hot      normal       63.4 %            0 %
    one-hot      mal           1.7 %            0 %

A share has Wilson's interval. The histogram counts the largest and the second largest share of a word at each place:
where inputs are nearly one-hot, the former is near 1 and the latter near 0. The differences are means over targets, by
place: what the encoder reads hardly changes when words are put in the place of numbers, and its state does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.counted import counted
from engine.paired import proportion
from engine.record import Record
from engine.statistics import Estimate
from engine.studies.rows import rows_of
from engine.studies.study import Study
from engine.triggers.relaxation.study import DROPPED, LIST, TARGET
from engine.triggers.search.trigger_findings import left_out

#: Bins of the histogram, each as wide as the others, from 0 to 1.
BINS = 20

Rows = Iterable[Mapping[str, Any]]


@dataclass(frozen=True)
class RelaxationHits(Record):
    """One line of Table 1. hits: by numbers; projected_hits: by the words next to them, of all targets."""

    space: str
    list: str
    targets: int
    hits: int
    share: Estimate
    projected_hits: int
    projected_share: Estimate


@dataclass(frozen=True)
class ShareHistogram(Record):
    """Figure 2 for one list. edges: of the bins, one more than there are counts; places: how many were counted."""

    list: str
    edges: tuple[float, ...]
    largest: tuple[int, ...]
    second: tuple[int, ...]
    places: int


@dataclass(frozen=True)
class ProjectionDifferences(Record):
    """Figure 3 for one space and list: mean Euclidean norms by place, before against after the projection.

    vector: of the shares of words, one-hot space only; embedding: of what the encoder reads; state: of its state.
    """

    space: str
    list: str
    targets: int
    vector: tuple[float, ...]
    embedding: tuple[float, ...]
    state: tuple[float, ...]


def relaxation_hits(rows: Rows) -> tuple[RelaxationHits, ...]:
    """Table 1, a line for each space and list in the order of the rows."""
    found = []
    for (space, name), group in _groups(rows).items():
        hits, projected = (sum(bool(row[key]) for row in group) for key in ("hit", "projected_hit"))
        shares = proportion(hits, len(group)), proportion(projected, len(group))
        found.append(RelaxationHits(space, name, len(group), hits, shares[0], projected, shares[1]))
    return tuple(found)


def share_histograms(rows: Rows, bins: int = BINS) -> tuple[ShareHistogram, ...]:
    """Figure 2, for each list that was tried in the one-hot space. Raises `ValueError` for less than one bin."""
    if bins < 1:
        raise ValueError(f"A histogram has at least one bin, not {bins}.")
    found = []
    for (space, name), group in _groups(rows).items():
        if space != "one-hot":
            continue
        counts = {"largest": [0] * bins, "second": [0] * bins}
        for key, column in counts.items():
            for row in group:
                for share in row[key]:
                    column[min(bins - 1, int(share * bins))] += 1
        edges = tuple(number / bins for number in range(bins + 1))
        largest, second = counts["largest"], counts["second"]
        found.append(ShareHistogram(name, edges, tuple(largest), tuple(second), sum(largest)))
    return tuple(found)


def projection_differences(rows: Rows) -> tuple[ProjectionDifferences, ...]:
    """Figure 3, a line for each space and list in the order of the rows."""
    return tuple(
        ProjectionDifferences(
            space, name, len(group), *(_mean([row[key] for row in group]) for key in ("vector", "embedding", "state"))
        )
        for (space, name), group in _groups(rows).items()
    )


def relaxation_verdict(rows: Rows, study: Study | None = None) -> tuple[str, ...]:
    """The lines of Table 1 in plain sentences, and which lists are empty; () without a row of either."""
    kept = list(rows)
    empty = dict.fromkeys(row["list"] for row in rows_of(kept, LIST) if not row["targets"])
    names = {"embedding": "any embeddings", "one-hot": "shares of words"}
    lines = tuple(
        f"With {names.get(line.space, line.space)} for an input, {line.hits:,} of {counted(line.targets, 'target')} of"
        f" the list {line.list!r} {'was' if line.hits == 1 else 'were'} said ({100 * line.share.value:.1f} %,"
        f" {100 * line.share.low:.1f} to {100 * line.share.high:.1f}); with the nearest words instead,"
        f" {line.projected_hits:,} ({100 * line.projected_share.value:.1f} %, {100 * line.projected_share.low:.1f} to"
        f" {100 * line.projected_share.high:.1f})."
        for line in relaxation_hits(kept)
    )
    dropped: dict[str, set[str]] = {}
    for row in rows_of(kept, DROPPED):  # told with each space
        dropped.setdefault(row["list"], set()).add(row["reason"])
    left = left_out({name: len(reasons) for name, reasons in dropped.items()})
    return (*lines, *left, *(f"The list {name!r} has no target for this model, so it says nothing." for name in empty))


def _groups(rows: Rows) -> dict[tuple[str, str], list[Mapping[str, Any]]]:
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows_of(rows, TARGET):
        found.setdefault((row["space"], row["list"]), []).append(row)
    return found


def _mean(columns: Sequence[Sequence[float]]) -> tuple[float, ...]:
    return tuple(sum(place) / len(columns) for place in zip(*columns, strict=True))
