"""A sample compared with the exact shares that it estimates.

Each match carries its own exact probability, so a sample has more than frequencies. Say 10,000 draws found

    " art"   drawn 3,912 times   weighted share 41 % (40 % to 42 %)   probability 0.0123
    " math"  drawn   208 times   weighted share  2 % ( 1 % to  3 %)   probability 0.0006

If the drawn matches have nearly all of the mass, the exact share of " art" is 0.0123 / (0.0123 + 0.0006 + ...), and the
estimate can be checked. The missing mass is estimated from the matches drawn once (Good and Turing): in a sample of one
draw less, each of these might be missing, so their summed weight over the number of draws estimates the mass of the
matches never drawn. With too much missing, there are no exact shares, and a sentence gives the reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from relens_dashboard.narrative import probability_text

#: The identity of a table's line: a string with its prefix, or values of groups.
Key = tuple[Any, ...]

#: The drawn matches need at least this part of the mass of all matches.
ENOUGH = 0.98


@dataclass(frozen=True)
class Compared:
    """One string or group: its part of the draws, its weighted share with the interval, its exact share if known."""

    label: str
    frequency: float
    share: float
    low: float
    high: float
    exact: float | None


def compare(
    rows: Sequence[Mapping[str, Any]],
    table: pd.DataFrame,
    labels: Sequence[str],
    key: Callable[[Mapping[str, Any]], Key],
    *,
    given: int = 0,
    draws: int,
    prefix_by: str,
) -> tuple[list[Compared], str]:
    """Each line of a table of shares with its exact share; and a sentence with the whole of these shares, or with the
    reason for their absence.

    rows: of a sample of `draws`, failed ones included, whose prefix strings were drawn by `prefix_by`
    (`relens.query.Sampling`). table: all or some lines of strings or groups, with `key` of their rows in the column
    "key"; shares are among the lines that agree in the first `given` parts of it. labels: a name for each line.
    """
    exact, reason = _exact_masses(rows, key, draws, prefix_by)
    drawn: dict[Key, float] = {}
    for row in rows:
        drawn[key(row)] = drawn.get(key(row), 0.0) + row["count"]
    frequencies = _parts(drawn, given)
    shares = _parts(exact, given)
    compared = [
        Compared(label, frequencies[line], share, low, high, shares.get(line))
        for label, line, share, low, high in zip(
            labels, table["key"], table["Share"], table["low"], table["high"], strict=True
        )
    ]
    return compared, reason


def _parts(amounts: Mapping[Key, float], given: int) -> dict[Key, float]:
    """Each amount as a part of the sum over the keys that agree in the first `given` parts."""
    wholes: dict[Key, float] = {}
    for key, amount in amounts.items():
        wholes[key[:given]] = wholes.get(key[:given], 0.0) + amount
    return {key: amount / wholes[key[:given]] for key, amount in amounts.items() if wholes[key[:given]] > 0.0}


def _exact_masses(
    rows: Sequence[Mapping[str, Any]], key: Callable[[Mapping[str, Any]], Key], draws: int, prefix_by: str
) -> tuple[dict[Key, float], str]:
    """The probability of each key, every prefix string counting the same, with the sentence of `compare`."""
    prefixes: dict[str, set[tuple[int, ...]]] = {}
    for row in rows:
        prefixes.setdefault(row["prefix_text"], set()).add(tuple(row["token_ids"][: row["prefix_tokens"]]))
    if len(prefixes) > 1 and prefix_by != "strings":
        return {}, "The prefix strings were not drawn equally often, so there are no exact shares to compare with."
    if any(len(encodings) > 1 for encodings in prefixes.values()):
        return {}, "The prefix was drawn in several encodings, so there are no exact shares to compare with."
    masses: dict[Key, float] = {}
    for row in rows:
        masses[key(row)] = masses.get(key(row), 0.0) + math.exp(row["decoder_log_prob"]) / len(prefixes)
    found_mass = math.fsum(masses.values())
    missing_mass = math.fsum(row["weight"] for row in rows if row["count"] == 1) / max(draws, 1)
    if not found_mass > 0.0:
        return {}, "No match was drawn that could be compared."
    covered = probability_text(found_mass / (found_mass + missing_mass))
    if found_mass < ENOUGH * (found_mass + missing_mass):
        return {}, (
            f"The drawn matches have about {covered} of the mass of all matches, which is not enough for exact shares. "
            "A distribution gives exact shares."
        )
    return masses, f"Exact shares are among the drawn matches, which have about {covered} of the mass of all matches."
