"""A sample held against what it estimates.

Each match carries its own exact probability, so a sample knows more than its frequencies. Say 10,000 draws found

    " art"   drawn 3,912 times   weighted share 41 % (40 % to 42 %)   probability 0.0123
    " math"  drawn   208 times   weighted share  2 % ( 1 % to  3 %)   probability 0.0006

If the found matches make up nearly everything that matches, then " art" is exactly 0.0123 / (0.0123 + 0.0006 + ...) of
it, and the estimate can be checked. How much was never drawn is told by what was drawn once (Good and Turing): had the
sample been one draw smaller, each of these would have been missing, so their summed weight over the number of draws
estimates the probability of what is missing. If that is much, there is nothing to check against, and that is said.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from app.narrative import probability_text

#: What a line of a table stands for: a string with its prefix, or values of groups.
Key = tuple[Any, ...]

#: What was found has to make up this part of everything that matches.
ENOUGH = 0.98


@dataclass(frozen=True)
class Compared:
    """One string or group: how often it was drawn, its weighted share with the interval, its exact share if known."""

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
    """Each line of a table of shares with its exact share; and a sentence that says what these are shares of, or why
    there are none.

    rows: of a sample of `draws`, failed ones included, whose prefix strings were drawn by `prefix_by`
    (`engine.query.Sampling`). table: all or some lines of strings or groups, whose column "key" is what `key` makes of
    a row; shares are among those that agree in the first `given` parts of it. labels: a name for each line.
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
    """Each amount as a part of those whose keys agree in the first `given` parts."""
    wholes: dict[Key, float] = {}
    for key, amount in amounts.items():
        wholes[key[:given]] = wholes.get(key[:given], 0.0) + amount
    return {key: amount / wholes[key[:given]] for key, amount in amounts.items() if wholes[key[:given]] > 0.0}


def _exact_masses(
    rows: Sequence[Mapping[str, Any]], key: Callable[[Mapping[str, Any]], Key], draws: int, prefix_by: str
) -> tuple[dict[Key, float], str]:
    """The probability of each key, each prefix string counting the same; and what they are of; or none, and why."""
    prefixes: dict[str, set[tuple[int, ...]]] = {}
    for row in rows:
        prefixes.setdefault(row["prefix_text"], set()).add(tuple(row["token_ids"][: row["prefix_tokens"]]))
    if len(prefixes) > 1 and prefix_by != "strings":
        return {}, "The prefix strings were not drawn equally often, so these shares have no exact ones."
    if any(len(encodings) > 1 for encodings in prefixes.values()):
        return {}, "The prefix was drawn in several encodings, so these shares have no exact ones."
    masses: dict[Key, float] = {}
    for row in rows:
        masses[key(row)] = masses.get(key(row), 0.0) + math.exp(row["decoder_log_prob"]) / len(prefixes)
    found_mass = math.fsum(masses.values())
    missing_mass = math.fsum(row["weight"] for row in rows if row["count"] == 1) / max(draws, 1)
    if not found_mass > 0.0:
        return {}, "Nothing was drawn that could be compared."
    covered = probability_text(found_mass / (found_mass + missing_mass))
    if found_mass < ENOUGH * (found_mass + missing_mass):
        return {}, (
            f"The matches that were drawn make up about {covered} of everything that matches; too much was never drawn "
            "for exact shares. An exact distribution would tell."
        )
    return masses, f"Exact shares are among the matches that were drawn: about {covered} of everything that matches."
