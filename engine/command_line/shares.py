"""What a sample or a distribution says as a whole: the shares of strings or groups, and how sure they are.

--by outcome --given subject
    of the matches with subject=man, 0.31 (0.28 to 0.34) have outcome=art, 0.22 (0.20 to 0.25) science, ...
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.command_line.options import STRING
from engine.query import Sampling, Traversal
from engine.statistics import Estimate, effective_sample_size, weighted_mass
from engine.traversal.results import Progress
from engine.traversal.summaries import GroupResult, StringResult, by_group, by_string, noncanonical_share


@dataclass(frozen=True)
class Shares:
    """A summary of the matches.

    by, given: names of groups, or `STRING` alone. results: the shares, the largest first; () without `by`.
    noncanonical: the share of the mass in other token sequences than the tokenizer's own. Of a sample: draws, failed
    ones included; effective_samples, equally weighted draws that would say as much; mass, the probability that the
    decoder's output is a match. These are None of a distribution, and noncanonical is where nothing was found.
    """

    by: tuple[str, ...]
    given: tuple[str, ...]
    results: tuple[StringResult, ...] | tuple[GroupResult, ...]
    noncanonical: Estimate | None
    draws: int | None = None
    effective_samples: float | None = None
    mass: Estimate | None = None

    def to_json(self) -> dict[str, Any]:
        """The summary as dictionaries, lists, strings and numbers."""
        return dataclasses.asdict(self)


def shares_of(
    rows: Sequence[Mapping[str, Any]],
    traversal: Traversal,
    progress: Progress,
    by: Sequence[str] = (),
    given: Sequence[str] = (),
) -> Shares:
    """The summary of the rows (`Match` as JSON) of a sample or a distribution."""
    draws = progress.samples if isinstance(traversal, Sampling) else None
    # What the shares are conditional on is one of the things they are told apart by.
    names = tuple(dict.fromkeys((*given, *by)))
    results: Sequence[Any] = ()
    if by:
        results = by_string(rows, draws) if STRING in by else by_group(rows, names, given, draws)
    shares = Shares(names, tuple(given), tuple(results), noncanonical_share(rows, draws) if rows else None)
    if draws is None:
        return shares
    weights, counts = [row["weight"] for row in rows], [row["count"] for row in rows]
    return dataclasses.replace(
        shares,
        draws=draws,
        effective_samples=effective_sample_size(weights, counts),
        mass=weighted_mass(weights, counts, draws),
    )
