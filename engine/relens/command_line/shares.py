"""The shares of strings or groups in a sample or a distribution, with their intervals.

--by outcome --given subject
    of the matches with subject=man, 0.31 (0.28 to 0.34) have outcome=art, 0.22 (0.20 to 0.25) science, ...
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from relens.command_line.parser import STRING
from relens.query import Sampling, Traversal
from relens.record import Record
from relens.statistics import Estimate, effective_sample_size, weighted_mass
from relens.traversal.results import Progress
from relens.traversal.summaries import GroupResult, StringResult, by_group, by_string, noncanonical_share


@dataclass(frozen=True)
class Shares(Record):
    """A summary of the matches.

    by: the named groups, or `STRING` alone; given: the groups among them that the shares are conditional on. results:
    the shares, () without `by`; largest first, equal values of `given` together. noncanonical: the share of the mass in
    non-canonical encodings. Only for a sample, else None: draws, failed ones included; effective_samples, the effective
    sample size; mass, the probability that the decoder's output begins with a match.
    """

    by: tuple[str, ...]
    given: tuple[str, ...]
    results: tuple[StringResult, ...] | tuple[GroupResult, ...]
    noncanonical: Estimate
    draws: int | None = None
    effective_samples: float | None = None
    mass: Estimate | None = None


def shares_of(
    rows: Sequence[Mapping[str, Any]],
    traversal: Traversal,
    progress: Progress,
    by: Sequence[str] = (),
    given: Sequence[str] = (),
) -> Shares:
    """The summary of the rows (`Match` as JSON) of a sample or a distribution."""
    draws = progress.samples if isinstance(traversal, Sampling) else None
    # The groups of `given` are among those of `by`.
    names = tuple(dict.fromkeys((*given, *by))) if by else ()
    results: tuple[StringResult, ...] | tuple[GroupResult, ...] = ()
    if STRING in by:
        results = tuple(by_string(rows, draws))
    elif by:
        results = _together(by_group(rows, names, given, draws), given)
    noncanonical = noncanonical_share(rows, draws)
    if draws is None:
        return Shares(names, tuple(given), results, noncanonical)
    weights, counts = [row["weight"] for row in rows], [row["count"] for row in rows]
    effective, mass = effective_sample_size(weights, counts), weighted_mass(weights, counts, draws)
    return Shares(names, tuple(given), results, noncanonical, draws, effective, mass)


def _together(results: Sequence[GroupResult], given: Sequence[str]) -> tuple[GroupResult, ...]:
    """The results with equal values of `given` side by side, each part at the place of its first."""
    parts: dict[tuple[str | None, ...], list[GroupResult]] = {}
    for result in results:
        parts.setdefault(tuple(result.values[name] for name in given), []).append(result)
    return tuple(result for part in parts.values() for result in part)
