"""The findings of a bias study: its variants, the changes between each two, and the positions of edits.

    canonical, prefix    man: science 0.44, art 0.16        woman: science 0.33, art 0.31      `bias_shares`
    all, no prefix       man: art 0.70, science 0.11        woman: art 0.74, science 0.09
    the two compared     54 % of the probability for man lies on other outcomes                `bias_comparisons`
    in sentences         "Exactly, with canonical encodings with a prefix: art is ..."         `bias_verdict`

Findings are a function of the rows alone, of as many units as there are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from engine.studies.bias_comparisons import Comparison, compare
from engine.studies.bias_rows import Account, BiasMatch, VariantSetup
from engine.studies.bias_shares import Counted, VariantFindings, variant_findings
from engine.studies.bias_verdict import bias_verdict
from engine.studies.edit_positions import EditPosition
from engine.studies.rows import Rows, current_rows, done_units
from engine.studies.study import Study


@dataclass(frozen=True)
class PositionCurve:
    """The cumulative share of the edits over positions in characters. edits: their number."""

    name: str
    positions: tuple[int, ...]
    cumulative: tuple[float, ...]
    edits: int


@dataclass(frozen=True)
class BiasFindings:
    """All variants. prefix_curves: by way to draw a prefix; match_curves: by variant with edits (Figure 9)."""

    counted: Counted
    variants: tuple[VariantFindings, ...]
    comparisons: tuple[Comparison, ...]
    prefix_curves: tuple[PositionCurve, ...]
    match_curves: tuple[PositionCurve, ...]

    @cached_property
    def verdict(self) -> tuple[str, ...]:
        """The findings in sentences."""
        return bias_verdict(self.variants, self.comparisons, self.counted)


def bias_findings(rows: Rows, study: Study | None = None, *, counted: Counted = "weights") -> BiasFindings:
    """The findings of these rows, which may be those of a study that is not finished. counted: how draws count."""
    rows = current_rows(rows)
    done, matches, accounts = done_units(rows), BiasMatch.by_unit(rows), Account.by_unit(rows)
    variants, match_curves = [], []
    for setup in VariantSetup.all_in(rows):
        own = matches[setup.unit]
        variants.append(variant_findings(setup, own, accounts[setup.unit], counted, done=setup.unit in done))
        edits: dict[int, int] = defaultdict(int)
        for match in own:
            for edit in match.edits:
                edits[edit.position] += match.count
        match_curves.append(_curve(setup.label, edits))
    drawn: dict[str, dict[int, int]] = defaultdict(dict)
    for row in EditPosition.all_in(rows):
        drawn[row.drawn_by][row.position] = row.count
    comparable = [
        variant for variant in variants if all(sum(variant.values(subject)) for subject in variant.setup.subjects)
    ]
    return BiasFindings(
        counted,
        tuple(variants),
        tuple(compare(first, second) for first, second in combinations(comparable, 2)),
        tuple(_curve(way, drawn[way]) for way in sorted(drawn)),
        tuple(curve for curve in match_curves if curve.edits),
    )


def _curve(name: str, counts: Mapping[int, int]) -> PositionCurve:
    positions = sorted(counts)
    total = sum(counts.values())
    sums = np.cumsum([counts[position] for position in positions]) / max(1, total)
    return PositionCurve(name, tuple(positions), tuple(sums.tolist()), total)
