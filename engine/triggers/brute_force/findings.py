"""What the rows of a brute-force study say: Tables 5, 6 and 7 of the paper, of all inputs that have been tried.

    list       targets   said as a whole           said, or stood in what was said
    normal       9,782   37   0.38 % (0.27 to 0.52)  99   1.0 %
    reversed     9,482    0   0 %    (0 to 0.04)     11   0.12 %
    random      18,000    0   0 %    (0 to 0.02)      0   0 %
    mal            575    0   0 %    (0 to 0.7)       0   0 %

    (all inputs of up to three symbols, after an epoch of 300,000 pairs of the corpus that comes with Relens)

A target is a hit if any input makes the model say it. What is enumerated leaves no chance, so Wilson's interval is
about the list: had other targets of the same kind been written down, how many would be said? The share of replies that
are no word is a plain share of the inputs that were tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from engine.counted import counted
from engine.paired import proportion
from engine.record import Record
from engine.statistics import Estimate
from engine.studies.rows import rows_of
from engine.studies.study import Study
from engine.triggers.brute_force.rows import EXAMPLE, HITS, LIST, MODEL, PART, SEARCH

Rows = Iterable[Mapping[str, Any]]


@dataclass(frozen=True)
class ListHits(Record):
    """One list. whole: targets that were said; parts: those that stand in what was said, these included.

    triggers: of each target that was said, as a whole if it ever was and else as a part, an input that made it so.
    """

    list: str
    targets: int
    whole: int
    whole_share: Estimate
    parts: int
    parts_share: Estimate
    triggers: dict[str, str]


@dataclass(frozen=True)
class Coverage(Record):
    """The inputs that were tried, of one length or (0) of all. outside: replies that are no word of the list normal."""

    length: int
    inputs: int
    possible: int
    outside: int
    outside_share: float
    seconds: float
    cpu_seconds: float

    @property
    def inputs_a_second(self) -> float:
        """Of the time that passed; 0 where nothing was tried."""
        return self.inputs / self.seconds if self.seconds > 0.0 else 0.0

    @property
    def inputs_a_cpu_second(self) -> float:
        """Of the time that processors worked; 0 where nothing was tried."""
        return self.inputs / self.cpu_seconds if self.cpu_seconds > 0.0 else 0.0


@dataclass(frozen=True)
class OutsideReply(Record):
    """A line of Table 7: symbols with blanks between them."""

    input: str
    output: str


def list_hits(rows: Rows, length: int | None = None) -> tuple[ListHits, ...]:
    """Tables 5 and 6, a line for each list; of inputs of one length, or of all."""
    kept = list(rows)
    said = [row for row in rows_of(kept, HITS) if length in (None, row["length"])]
    found = []
    for listed in rows_of(kept, LIST):
        name, targets = listed["list"], listed["targets"]
        whole: dict[str, str] = {}
        parts: dict[str, str] = {}
        for row in said:
            if row["list"] == name:
                for hits, stored in ((whole, row["whole"]), (parts, row["parts"])):
                    for target, trigger in stored.items():
                        hits.setdefault(target, trigger)
        shares = proportion(len(whole), targets), proportion(len(parts), targets)
        found.append(ListHits(name, targets, len(whole), shares[0], len(parts), shares[1], {**parts, **whole}))
    return tuple(found)


def coverage(rows: Rows) -> tuple[Coverage, ...]:
    """How much was tried, a line for each length, and one for all with the length 0; () before the first."""
    kept = list(rows)
    symbols = {len(row["symbols"]) for row in rows_of(kept, MODEL)}
    lengths = sorted({row["length"] for row in rows_of(kept, PART)})
    if not symbols or not lengths:
        return ()
    possible = {length: max(symbols) ** length for length in lengths}
    lines = []
    for length in (*lengths, 0):
        part = [row for row in rows_of(kept, PART) if length in (0, row["length"])]
        inputs, outside = (sum(row[key] for row in part) for key in ("inputs", "outside"))
        seconds, work = (sum(row[key] for row in part) for key in ("seconds", "cpu_seconds"))
        of = possible.get(length, sum(possible.values()))
        lines.append(Coverage(length, inputs, of, outside, outside / inputs if inputs else 0.0, seconds, work))
    return tuple(lines)


def outside_replies(rows: Rows, length: int | None = None) -> tuple[OutsideReply, ...]:
    """Table 7: examples, each output once; of inputs of one length, or of all."""
    found: dict[str, OutsideReply] = {}
    for row in rows_of(rows, EXAMPLE):
        if length in (None, row["length"]):
            found.setdefault(row["output"], OutsideReply(row["input"], row["output"]))
    return tuple(found.values())


@dataclass(frozen=True)
class SearchFound(Record):
    """What gibbs-enum found of a list. existing: targets that some input of `length` symbols is known to reach.

    candidates: inputs that it tried, for all of them; possible: all there are. triggers: of each target that was found
    an input; missed: the others.
    """

    list: str
    length: int
    existing: int
    found: int
    share: Estimate
    candidates: int
    possible: int
    triggers: dict[str, str]
    missed: tuple[str, ...]


def searches_found(rows: Rows) -> tuple[SearchFound, ...]:
    """A line for each list of which some target exists; () before the search."""
    return tuple(
        SearchFound(
            row["list"],
            row["length"],
            row["existing"],
            len(row["triggers"]),
            proportion(len(row["triggers"]), row["existing"]),
            row["candidates"],
            row["inputs"],
            dict(row["triggers"]),
            tuple(row["missed"]),
        )
        for row in rows_of(rows, SEARCH)
        if row["existing"]
    )


def brute_force_verdict(rows: Rows, study: Study | None = None) -> tuple[str, ...]:
    """The tables in plain sentences; () before the first input was tried."""
    kept = list(rows)
    lines = coverage(kept)
    if not lines:
        return ()
    everything, lengths = lines[-1], [line.length for line in lines[:-1]]
    # Shorter inputs may have been left out, and are not counted then.
    of = "of" if len(lengths) == 1 else f"of {lengths[0]} to" if lengths[0] > 1 else "of up to"
    sentences = [
        f"The model answered {counted(everything.inputs, 'input')},"
        f" {100 * everything.inputs / everything.possible:.4g} % of those {of}"
        f" {counted(lengths[-1], 'symbol')}; {counted(everything.outside, 'reply', 'replies')}"
        f" ({100 * everything.outside_share:.2f} %) {_are(everything.outside)} no word that it was trained with."
    ]
    for hits in list_hits(kept):
        sentences.append(
            f"Of {counted(hits.targets, 'target')} of the list {hits.list!r}, {hits.whole:,}"
            f" {'was' if hits.whole == 1 else 'were'} said"
            f" ({100 * hits.whole_share.value:.3g} %, {100 * hits.whole_share.low:.3g} to"
            f" {100 * hits.whole_share.high:.3g}); {hits.parts:,} ({100 * hits.parts_share.value:.3g} %)"
            f" {'stands' if hits.parts == 1 else 'stand'} in what was said."
        )
    for search in searches_found(kept):
        sentences.append(
            f"Of {counted(search.existing, 'target')} of the list {search.list!r} that inputs of"
            f" {counted(search.length, 'symbol')} are known to reach, gibbs-enum finds {search.found:,}"
            f" ({100 * search.share.value:.3g} %, {100 * search.share.low:.3g} to {100 * search.share.high:.3g}),"
            f" by trying {search.candidates / search.existing:,.0f} of {search.possible:,} inputs for each."
        )
    return tuple(sentences)


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
