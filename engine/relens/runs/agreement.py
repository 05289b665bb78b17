"""The strings of several searches side by side, with their ranks and log-probabilities.

    first search      second search            string    ranks    log-probabilities
    " July"  -1.2     " May"   -1.0            " July"   1, 2     -1.2  -1.4
    " May"   -1.5     " July"  -1.4            " May"    2, 1     -1.5  -1.0
    " June"  -2.0                              " June"   1, -     -2.0     -

A string is its text with its prefix, its encodings added up. Ranks count from 1 in the order of the search; for a
sample or a distribution in order of share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from relens.runs.export import merge_encodings

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class ComparedString:
    """One string in several searches: for each its rank and its log-probabilities in nats, summed over encodings.

    decoder_log_probs: under each search's decoding rule; log_probs: by its model. None in a search without the string.
    """

    text: str
    prefix_text: str
    ranks: tuple[int | None, ...]
    decoder_log_probs: tuple[float | None, ...]
    log_probs: tuple[float | None, ...]


@dataclass(frozen=True)
class Overlap:
    """How many strings two searches share, and how many only one of them has."""

    shared: int
    first_only: int
    second_only: int


def comparable(searches: Sequence[Rows]) -> list[Rows]:
    """The rows, prepared so that strings of different searches can be equal.

    If each search has one prefix, only the text after it is compared: " July" after "Washington was born in" and after
    "Lincoln was born in". These rows lose their prefix. If a search has several, strings are compared as a whole.
    """
    if any(len({row["prefix_text"] for row in rows}) > 1 for rows in searches):
        return list(searches)
    return [[_without_prefix(row) for row in rows] for rows in searches]


def side_by_side(searches: Sequence[Rows], ranked_by_share: Sequence[bool]) -> list[ComparedString]:
    """Every string of these searches by its best rank; at equal rank in order of the searches.

    ranked_by_share: for each search, whether shares order it (a sample, a distribution) and not its rows.
    """
    ranked = [_by_rank(rows, by_share) for rows, by_share in zip(searches, ranked_by_share, strict=True)]
    strings: dict[tuple[str, str], None] = {}
    for depth in range(max(map(len, ranked), default=0)):
        for keys in map(list, ranked):
            if depth < len(keys):
                strings.setdefault(keys[depth])
    return [
        ComparedString(
            text=key[0],
            prefix_text=key[1],
            ranks=tuple(lines[key][0] if key in lines else None for lines in ranked),
            decoder_log_probs=tuple(lines[key][1]["decoder_log_prob"] if key in lines else None for lines in ranked),
            log_probs=tuple(lines[key][1]["log_prob"] if key in lines else None for lines in ranked),
        )
        for key in strings
    ]


def overlap(strings: Sequence[ComparedString], first: int, second: int) -> Overlap:
    """How the strings of two of the searches overlap."""
    has = [(one.ranks[first] is not None, one.ranks[second] is not None) for one in strings]
    return Overlap(has.count((True, True)), has.count((True, False)), has.count((False, True)))


def _without_prefix(row: Mapping[str, Any]) -> Mapping[str, Any]:
    text, prefix = str(row["text"]), str(row["prefix_text"])
    return {**row, "text": text[len(prefix) :] if text.startswith(prefix) else text, "prefix_text": ""}


def _by_rank(rows: Rows, by_share: bool) -> dict[tuple[str, str], tuple[int, dict[str, Any]]]:
    lines = merge_encodings(rows)
    if by_share:
        lines.sort(key=lambda line: -line["count"] * line["weight"])
    return {(line["text"], line["prefix_text"]): (rank, line) for rank, line in enumerate(lines, 1)}
