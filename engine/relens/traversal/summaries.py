"""Shares among several matches: of strings, of the values of groups, and of encodings.

Four matches of `The (?P<who>man|woman) was (?P<what>art|math)`, two of which spell one string:

    The man was | art        weight 0.4        "The man was art"   0.5 of all (0.8 of it canonical)
    The man was | ar t       weight 0.1        given who=man:      what=art 0.5 / 0.6, what=math 0.1 / 0.6
    The man was | math       weight 0.1
    The woman was | art      weight 0.4        in other than canonical encodings: 0.1 of all

A match counts with its `weight` times its `count` of draws, whether it comes from a sample or from an exact search
(`Match`). So the share of some matches among others is always a ratio of two such sums. Given the draws of a sample it
is an estimate with an interval; else it is exact, and low, value and high are the same.

Rows are `Match` as JSON, with or without further fields such as a number, or `Match` itself. Named groups may also be
pairs of name and value, as in rows that are kept in memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from relens.errors import QueryError
from relens.record import Record
from relens.statistics import Estimate, WeightSums, share_of_sums
from relens.traversal.results import Match

Rows = Iterable[Mapping[str, Any] | Match]


@dataclass(frozen=True)
class StringResult(Record):
    """One string with all its encodings. Where one text has several prefixes, each makes a result of its own.

    groups: its named groups. encodings: the number of its token sequences; canonical_share: the part of its
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
    """The matches that have the same values of some named groups; None is an unknown value.

    share: of the weight of those that agree in the groups that were given, between low and high. encodings, strings:
    how many token sequences and strings these are. count: draws. effective_samples: the effective sample size behind
    the share, None where it is exact.
    """

    values: dict[str, str | None]
    share: float
    low: float
    high: float
    encodings: int
    strings: int
    count: int
    effective_samples: float | None


class Strings:
    """The strings of some rows, each with its matches; the results are made only of those that are looked at.

    draws: how many a sample has, None where the rows are exact. by_share: the largest share first; else in the order of
    the first match of each.
    """

    def __init__(self, rows: Rows, draws: int | None = None, *, by_share: bool = True) -> None:
        table = _as_rows(rows)
        self._draws = draws
        self._scale = _largest_weight(table)
        self._whole = _sums(table, self._scale)
        strings: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
        for row in table:
            strings.setdefault(_string(row), []).append(row)
        self._matches = list(map(tuple, strings.values()))
        if by_share:
            self._matches.sort(key=lambda matches: -sum(_counted_weight(row) for row in matches))

    def __len__(self) -> int:
        return len(self._matches)

    def matches(self, start: int = 0, stop: int | None = None) -> list[tuple[Mapping[str, Any], ...]]:
        """The matches of each of the strings from `start` to before `stop`."""
        return self._matches[start:stop]

    def results(self, start: int = 0, stop: int | None = None) -> list[StringResult]:
        """The results of the strings from `start` to before `stop`, with their shares among all strings."""
        return [self._result(matches) for matches in self._matches[start:stop]]

    def _result(self, matches: Sequence[Mapping[str, Any]]) -> StringResult:
        part, canonical = _Part(), _Part()
        for row in matches:
            part.add(row, self._scale)
            if row["is_canonical"]:
                canonical.add(row, self._scale)
        share = _share(part.sums, self._whole, self._draws)
        text, prefix_text = _string(matches[0])
        return StringResult(
            text=text,
            prefix_text=prefix_text,
            groups=groups_of(matches[0]),
            encodings=len(part.encodings),
            canonical_share=_ratio(canonical, part),
            probability=part.probability,
            share=share.value,
            low=share.low,
            high=share.high,
            count=part.draws,
        )


def by_string(rows: Rows, draws: int | None = None) -> list[StringResult]:
    """One result a string, the largest share first. draws: how many a sample has, None where the rows are exact."""
    return Strings(rows, draws).results()


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
    members: dict[tuple[str | None, ...], list[Mapping[str, Any]]] = {}
    for row in table:
        groups = groups_of(row)
        members.setdefault(tuple(groups.get(name) for name in names), []).append(row)
    places = [list(names).index(name) for name in given]
    sums = {values: _sums(own, scale) for values, own in members.items()}
    wholes: dict[tuple[str | None, ...], WeightSums] = {}
    for values, part in sums.items():
        key = tuple(values[place] for place in places)
        wholes[key] = _added(wholes.get(key, WeightSums()), part)
    results = []
    for values, own in sorted(members.items(), key=lambda item: -sums[item[0]].weight):
        share = _share(sums[values], wholes[tuple(values[place] for place in places)], draws)
        results.append(
            GroupResult(
                values=dict(zip(names, values, strict=True)),
                share=share.value,
                low=share.low,
                high=share.high,
                encodings=len({_encoding(row) for row in own}),
                strings=len({_string(row) for row in own}),
                count=int(sums[values].draws),
                effective_samples=share.effective_samples,
            )
        )
    return results


def noncanonical_share(rows: Rows, draws: int | None = None) -> Estimate:
    """The share of the weight that is in other token sequences than the tokenizer's own; 0 without rows."""
    table = _as_rows(rows)
    scale = _largest_weight(table)
    other = [row for row in table if not row["is_canonical"]]
    return _share(_sums(other, scale), _sums(table, scale), draws)


def group_names(rows: Rows) -> tuple[str, ...]:
    """The named groups that occur in the rows, as they first come."""
    return tuple(dict.fromkeys(name for row in _as_rows(rows) for name in groups_of(row)))


def groups_of(row: Mapping[str, Any]) -> dict[str, str | None]:
    """The named groups of a match, whose "groups" are an object, or the pairs of one."""
    return dict(row.get("groups") or ())


@dataclass
class _Part:
    """The matches of one string: their sums, and which token sequences they are."""

    draws: int = 0
    weight: float = 0.0
    squares: float = 0.0
    probability: float = 0.0
    encodings: set[tuple[Any, ...]] = field(default_factory=set)

    def add(self, row: Mapping[str, Any], scale: float) -> None:
        """Take in a match, with its weight as a fraction of `scale`."""
        count, weight = int(row.get("count", 1)), float(row.get("weight", 1.0)) / scale
        self.draws += count
        self.weight += count * weight
        self.squares += count * weight**2
        # One sequence may come in several rows, and is one encoding all the same.
        encoding = _encoding(row)
        if encoding not in self.encodings:
            self.encodings.add(encoding)
            self.probability += math.exp(row["decoder_log_prob"])

    @property
    def sums(self) -> WeightSums:
        return WeightSums(self.draws, self.weight, self.squares)


def _sums(rows: Iterable[Mapping[str, Any]], scale: float) -> WeightSums:
    """Over these matches, with weights as fractions of `scale`."""
    draws, total, squares = 0, 0.0, 0.0
    for row in rows:
        count, weight = int(row.get("count", 1)), float(row.get("weight", 1.0)) / scale
        draws += count
        total += count * weight
        squares += count * weight**2
    return WeightSums(draws, total, squares)


def _added(first: WeightSums, second: WeightSums) -> WeightSums:
    return WeightSums(first.draws + second.draws, first.weight + second.weight, first.squares + second.squares)


def _counted_weight(row: Mapping[str, Any]) -> float:
    return int(row.get("count", 1)) * float(row.get("weight", 1.0))


def _share(part: WeightSums, whole: WeightSums, draws: int | None) -> Estimate:
    if draws is None:
        return Estimate.exact(min(1.0, part.weight / whole.weight) if whole.weight else 0.0)
    return share_of_sums(part, whole)


def _ratio(part: _Part, whole: _Part) -> float:
    """The part's share in the weight, or else in the probability."""
    if whole.weight:
        return min(1.0, part.weight / whole.weight)
    return min(1.0, part.probability / whole.probability) if whole.probability else 0.0


def _string(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["text"], row["prefix_text"]


def _encoding(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return *_string(row), tuple(row["token_ids"]), row.get("ended", False)


def _largest_weight(table: Sequence[Mapping[str, Any]]) -> float:
    """The unit of weights: shares have none, and the squares of tiny weights must not vanish."""
    return max((float(row.get("weight", 1.0)) for row in table), default=1.0) or 1.0


def _as_rows(rows: Rows) -> list[Mapping[str, Any]]:
    return [row.to_json() if isinstance(row, Match) else row for row in rows]
