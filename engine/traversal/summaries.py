"""What several matches say together: the shares of strings, of the values of groups, and of encodings.

Four matches of `The (?P<who>man|woman) was (?P<what>art|math)`, two of which spell one string:

    The man was | art        weight 0.4        "The man was art"   0.5 of all (0.8 of it canonical)
    The man was | ar t       weight 0.1        given who=man:      what=art 0.5 / 0.6, what=math 0.1 / 0.6
    The man was | math       weight 0.1
    The woman was | art      weight 0.4        in other than canonical encodings: 0.1 of all

What a match counts for is its `weight`, times its `count` of draws, whether it comes from a sample or from an exact
search (`Match`). So the share of some matches among others is always a ratio of two such sums. Given the draws of a
sample it is an estimate with an interval; else it is exact, and low, value and high are the same.

Rows are `Match` as JSON, with or without further fields such as a number, or `Match` itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.errors import QueryError
from engine.query import Record
from engine.statistics import Estimate, WeightSums, share_of_sums
from engine.traversal.results import Match

Rows = Iterable[Mapping[str, Any] | Match]


@dataclass(frozen=True)
class StringResult(Record):
    """One string with all its encodings. Where one text has several prefixes, each makes a result of its own.

    groups: its named groups. encodings: how many token sequences of it were found; canonical_share: the part of its
    weight (of its probability, where it has none) that is in the tokenizer's own sequence; probability: the sum of
    exp(decoder_log_prob) over the sequences. share: of the weight of all, between low and high. count: draws.
    """

    text: str
    prefix_text: str
    groups: dict[str, str | None]
    encodings: int
    canonical_share: float
    probability: float
    share: float
    low: float
    high: float
    count: int


@dataclass(frozen=True)
class GroupResult(Record):
    """The matches that have the same values of some named groups; None is the value of what could not be told.

    share: of the weight of those that agree in the groups that were given, between low and high. encodings, strings:
    how many token sequences and strings these are. count: draws. effective_samples: how many draws of equal weight
    would say as much about the share, None where it is exact.
    """

    values: dict[str, str | None]
    share: float
    low: float
    high: float
    encodings: int
    strings: int
    count: int
    effective_samples: float | None


def by_string(rows: Rows, draws: int | None = None) -> list[StringResult]:
    """One result a string, the largest share first. draws: how many a sample has, None where the rows are exact."""
    table = _as_rows(rows)
    scale = _largest_weight(table)
    strings: dict[tuple[str, str], _Part] = {}
    canonical: dict[tuple[str, str], _Part] = {}
    groups: dict[tuple[str, str], dict[str, str | None]] = {}
    whole = _Part()
    for row in table:
        key = _string(row)
        groups.setdefault(key, dict(row.get("groups") or {}))
        own = canonical.setdefault(key, _Part())
        for part in (whole, strings.setdefault(key, _Part()), *([own] if row["is_canonical"] else [])):
            part.add(row, scale)
    results = []
    for key, part in strings.items():
        share = _share(part, whole, draws)
        results.append(
            StringResult(
                text=key[0],
                prefix_text=key[1],
                groups=groups[key],
                encodings=len(part.encodings),
                canonical_share=_ratio(canonical[key], part),
                probability=part.probability,
                share=share.value,
                low=share.low,
                high=share.high,
                count=part.draws,
            )
        )
    return sorted(results, key=lambda result: -result.share)


def by_group(
    rows: Rows, names: Sequence[str], given: Sequence[str] = (), draws: int | None = None
) -> list[GroupResult]:
    """One result for each combination of values of the named groups `names`, those with the most weight first.

    given: some of `names`; a share is then among the matches that have the same values of these. draws: how many a
    sample has, None where the rows are exact. Raises `QueryError` where `given` has a name that `names` has not.
    """
    for name in given:
        if name not in names:
            raise QueryError(f"Shares given the group {name} need it among the groups that are compared.")
    table = _as_rows(rows)
    scale = _largest_weight(table)
    parts: dict[tuple[str | None, ...], _Part] = {}
    wholes: dict[tuple[str | None, ...], _Part] = {}
    for row in table:
        groups = row.get("groups") or {}
        parts.setdefault(tuple(groups.get(name) for name in names), _Part()).add(row, scale)
        wholes.setdefault(tuple(groups.get(name) for name in given), _Part()).add(row, scale)
    results = []
    for values, part in sorted(parts.items(), key=lambda item: -item[1].weight):
        value_of = dict(zip(names, values, strict=True))
        share = _share(part, wholes[tuple(value_of[name] for name in given)], draws)
        results.append(
            GroupResult(
                values=value_of,
                share=share.value,
                low=share.low,
                high=share.high,
                encodings=len(part.encodings),
                strings=len(part.strings),
                count=part.draws,
                effective_samples=share.effective_samples,
            )
        )
    return results


def noncanonical_share(rows: Rows, draws: int | None = None) -> Estimate:
    """The share of the weight that is in other token sequences than the tokenizer's own; 0 without rows."""
    table = _as_rows(rows)
    scale = _largest_weight(table)
    whole, part = _Part(), _Part()
    for row in table:
        whole.add(row, scale)
        if not row["is_canonical"]:
            part.add(row, scale)
    return _share(part, whole, draws)


def group_names(rows: Rows) -> tuple[str, ...]:
    """The named groups that occur in the rows, as they first come."""
    return tuple(dict.fromkeys(name for row in _as_rows(rows) for name in row.get("groups") or {}))


@dataclass
class _Part:
    """Some of the matches: their sums, and which strings and token sequences they are."""

    draws: int = 0
    weight: float = 0.0
    squares: float = 0.0
    probability: float = 0.0
    encodings: set[tuple[Any, ...]] = field(default_factory=set)
    strings: set[tuple[str, str]] = field(default_factory=set)

    def add(self, row: Mapping[str, Any], scale: float) -> None:
        """Take in a match, with its weight as a fraction of `scale`."""
        count, weight = int(row.get("count", 1)), float(row.get("weight", 1.0)) / scale
        self.draws += count
        self.weight += count * weight
        self.squares += count * weight**2
        self.strings.add(_string(row))
        # One sequence may come in several rows, and is one encoding all the same.
        encoding = (*_string(row), tuple(row["token_ids"]), row.get("ended", False))
        if encoding not in self.encodings:
            self.encodings.add(encoding)
            self.probability += math.exp(row["decoder_log_prob"])


def _share(part: _Part, whole: _Part, draws: int | None) -> Estimate:
    if draws is None:
        return Estimate.exact(min(1.0, part.weight / whole.weight) if whole.weight else 0.0)
    return share_of_sums(
        WeightSums(part.draws, part.weight, part.squares), WeightSums(whole.draws, whole.weight, whole.squares)
    )


def _ratio(part: _Part, whole: _Part) -> float:
    """The part's share in the weight, or else in the probability."""
    if whole.weight:
        return min(1.0, part.weight / whole.weight)
    return min(1.0, part.probability / whole.probability) if whole.probability else 0.0


def _string(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["text"], row["prefix_text"]


def _largest_weight(table: Sequence[Mapping[str, Any]]) -> float:
    """The unit of weights: shares have none, and the squares of tiny weights must not vanish."""
    return max((float(row.get("weight", 1.0)) for row in table), default=1.0) or 1.0


def _as_rows(rows: Rows) -> list[Mapping[str, Any]]:
    return [row.to_json() if isinstance(row, Match) else row for row in rows]
