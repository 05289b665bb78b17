"""The findings of a brute-force study: Tables 5, 6 and 7 of the paper, for all inputs that were enumerated.

    list       targets   equal to a reply          within a reply
    normal       9,782   37   0.38 % (0.27 to 0.52)  99   1.0 %
    reversed     9,482    0   0 %    (0 to 0.04)     11   0.12 %
    random      18,000    0   0 %    (0 to 0.02)      0   0 %
    mal            575    0   0 %    (0 to 0.7)       0   0 %

    (all inputs of up to three symbols, after an epoch of 300,000 pairs of the corpus that comes with Relens)

A target is a hit if any input has it as its reply. The enumeration leaves no chance, so Wilson's interval is about the
list: the share of other targets of the same kind. The share of replies outside the list normal is exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from relens.counted import counted
from relens.paired import proportion
from relens.statistics import Estimate
from relens.studies.rows import Rows
from relens.triggers.brute_force.rows import (
    CharacterModel,
    ListLength,
    OutsideReply,
    Part,
    PartHits,
    SearchOutcome,
    TrainingStep,
)

if TYPE_CHECKING:
    from relens.triggers.brute_force.study import BruteForceStudy


@dataclass(frozen=True)
class ListHits:
    """One list. whole, parts: an input for each target that is a reply, or stands in a reply (a reply included)."""

    list: str
    targets: int
    whole: dict[str, str]
    parts: dict[str, str]

    @property
    def whole_share(self) -> Estimate:
        """That of `whole`."""
        return proportion(len(self.whole), self.targets)

    @property
    def parts_share(self) -> Estimate:
        """That of `parts`."""
        return proportion(len(self.parts), self.targets)

    @property
    def triggers(self) -> dict[str, str]:
        """For each target that stands in a reply an input, whose reply it is where there is such an input."""
        return {**self.parts, **self.whole}


@dataclass(frozen=True)
class Coverage:
    """The inputs of one length or (0) of all. possible: all there are; outside: replies not on the list normal."""

    length: int
    possible: int
    inputs: int
    outside: int
    seconds: float

    @classmethod
    def of_parts(cls, length: int, possible: int, parts: Sequence[Part]) -> Coverage:
        """The sums over some parts."""
        return cls(
            length,
            possible,
            sum(part.inputs for part in parts),
            sum(part.outside for part in parts),
            sum(part.seconds for part in parts),
        )

    @property
    def outside_share(self) -> float:
        """That of `outside`; 0 without inputs."""
        return self.outside / self.inputs if self.inputs else 0.0

    @property
    def inputs_a_second(self) -> float:
        """The speed; 0 without inputs."""
        return self.inputs / self.seconds if self.seconds > 0.0 else 0.0


@dataclass(frozen=True)
class BruteForceFindings:
    """lists: Tables 5 and 6. coverage: by length, then in all; () before the first part. outside: each output once.

    searches: of the lists with targets that exist.
    """

    steps: tuple[TrainingStep, ...]
    lists: tuple[ListHits, ...]
    coverage: tuple[Coverage, ...]
    outside: tuple[OutsideReply, ...]
    searches: tuple[SearchOutcome, ...]

    @property
    def verdict(self) -> tuple[str, ...]:
        """The tables in sentences; () before the first part."""
        return tuple(_sentences(self)) if self.coverage else ()


def brute_force_findings(rows: Rows, study: BruteForceStudy) -> BruteForceFindings:
    """The findings of these rows, which may be those of a study that is not finished."""
    rows = list(rows)
    outside: dict[str, OutsideReply] = {}
    for reply in OutsideReply.all_in(rows):
        outside.setdefault(reply.output, reply)
    return BruteForceFindings(
        tuple(TrainingStep.all_in(rows)),
        _list_hits(rows),
        _coverage(rows),
        tuple(outside.values()),
        tuple(search for search in SearchOutcome.all_in(rows) if search.existing),
    )


def _list_hits(rows: Rows) -> tuple[ListHits, ...]:
    lists = {row.list: ListHits(row.list, row.targets, {}, {}) for row in ListLength.all_in(rows)}
    for row in PartHits.all_in(rows):
        if hits := lists.get(row.list):
            for inputs, own in ((hits.whole, row.whole), (hits.parts, row.parts)):
                for target, trigger in own.items():
                    inputs.setdefault(target, trigger)
    return tuple(lists.values())


def _coverage(rows: Rows) -> tuple[Coverage, ...]:
    parts, models = Part.all_in(rows), CharacterModel.all_in(rows)
    if not parts or not models:
        return ()
    symbols = max(len(model.symbols) for model in models)
    lengths = sorted({part.length for part in parts})
    lines = [
        Coverage.of_parts(length, symbols**length, [part for part in parts if part.length == length])
        for length in lengths
    ]
    return (*lines, Coverage.of_parts(0, sum(line.possible for line in lines), parts))


def _sentences(findings: BruteForceFindings) -> Iterator[str]:
    *lines, total = findings.coverage
    lengths = [line.length for line in lines]
    # Shorter inputs may have been left out, and are not counted then.
    of = "of" if len(lengths) == 1 else f"of {lengths[0]} to" if lengths[0] > 1 else "of up to"
    yield (
        f"The model answered {counted(total.inputs, 'input')}, {100 * total.inputs / total.possible:.4g} % of those"
        f" {of} {counted(lengths[-1], 'symbol')}; {counted(total.outside, 'reply', 'replies')}"
        f" ({100 * total.outside_share:.2f} %) {'is' if total.outside == 1 else 'are'} no word of its training."
    )
    for hits in findings.lists:
        yield (
            f"Of {counted(hits.targets, 'target')} of the list {hits.list!r}, {len(hits.whole):,}"
            f" {'is a reply' if len(hits.whole) == 1 else 'are replies'} ({_interval(hits.whole_share)});"
            f" {len(hits.parts):,} ({100 * hits.parts_share.value:.3g} %)"
            f" {'stands' if len(hits.parts) == 1 else 'stand'} in a reply."
        )
    for search in findings.searches:
        yield (
            f"Of {counted(search.existing, 'target')} of the list {search.list!r} that inputs of"
            f" {counted(search.length, 'symbol')} reach, gibbs-enum finds {len(search.triggers):,}"
            f" ({_interval(search.share)}), with {search.candidates / search.existing:,.0f} of {search.inputs:,} inputs"
            " tried for each."
        )


def _interval(share: Estimate) -> str:
    return f"{100 * share.value:.3g} %, {100 * share.low:.3g} to {100 * share.high:.3g}"
