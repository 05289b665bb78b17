"""The tables of a memorization study: the methods with their counts, and the different strings."""

from __future__ import annotations

from typing import Any

import pandas as pd

from relens.percent import percent
from relens.studies.find_words import MATCHING
from relens.studies.memorization import SEARCH
from relens.studies.memorization_findings import MemorizationFindings
from relens.studies.memorization_rows import NewMatch
from relens_dashboard.studies.view import Table
from relens_dashboard.tables import shown_text
from relens_dashboard.text import shortened

#: Limits of a table: lines, and characters of a string.
MOST_LINES = 1_000
_EXCERPT = 300


def methods_table(findings: MemorizationFindings) -> Table:
    """One line for each method."""
    methods, wording = findings.methods, findings.wording
    tallies = [method.tally for method in methods]
    columns: dict[str, list[Any]] = {
        "Method": [method.label for method in methods],
        "Attempts": [tally.attempts for tally in tallies],
        "Matches": [tally.matches for tally in tallies],
        "Different": [tally.new for tally in tallies],
        wording.column: [tally.new_valid for tally in tallies],
        f"{wording.column} a second": [_rounded(method.valid_a_second, 3) for method in methods],
        "Against best n": [_rounded(findings.ratio(method), 2) for method in methods],
        "Attempts that match": [_percent(tally.completion_rate) for tally in tallies],
        "Repeats": [_percent(tally.duplicate_share) for tally in tallies],
        "Tokens an attempt": [_rounded(tally.tokens_an_attempt, 1) for tally in tallies],
        "Model at work": [_percent(method.device_use) for method in methods],
        "Seconds": [_rounded(method.seconds, 1) for method in methods],
        "Device": [method.setup.device for method in methods],
    }
    if any(method.setup.known for method in methods):
        columns["Found of known"] = [_percent(method.recall) for method in methods]
    return Table(
        "Methods",
        pd.DataFrame(columns),
        {
            "Attempts": "The number of attempts; those of a search are its matches.",
            wording.column: "The number of different strings that count.",
            "Different": "Matches without duplicates." + (wording.caution and f" {wording.caution}"),
            "Against best n": f"Different {wording.many} a second, over those of the best sampled method.",
            "Repeats": "The share of duplicates among the matches.",
            "Model at work": "The share of the time within the network; the rest is ours.",
        },
    )


def strings_table(findings: MemorizationFindings) -> Table:
    """At most `MOST_LINES` different strings, the first match first, with the methods that matched them."""
    by_text: dict[str, dict[str, NewMatch]] = {}
    for method in findings.methods:
        for match in method.matches:
            by_text.setdefault(match.text, {})[method.unit] = match
    strings = sorted(by_text.items(), key=lambda item: min(match.seconds for match in item[1].values()))
    shown = strings[:MOST_LINES]
    searched = [matches.get(SEARCH) for _, matches in shown]
    sampled = [{unit: match for unit, match in matches.items() if unit != SEARCH} for _, matches in shown]
    column = "" if findings.wording is MATCHING else findings.wording.column
    valid = [any(match.valid for match in matches.values()) for _, matches in shown]
    frame = pd.DataFrame(
        {
            "String": [shortened(shown_text(text), _EXCERPT) for text, _ in shown],
            **({column: valid} if column else {}),
            "Search, s": [_rounded(match and match.seconds, 3) for match in searched],
            "Sampling, s": [
                _rounded(min((match.seconds for match in own.values()), default=None), 3) for own in sampled
            ],
            "Sampled by": [", ".join(own) for own in sampled],
        }
    )
    return Table(
        "Strings" if len(strings) <= MOST_LINES else f"Strings, the first {MOST_LINES:,} of {len(strings):,}",
        frame,
        {
            **({column: "Whether the string counts."} if column else {}),
            "Search, s": "Seconds until the first match of the search; empty for none.",
            "Sampling, s": "Seconds until the first match of the quickest sampled method; empty for none.",
        },
    )


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)


def _percent(share: float | None) -> str:
    return "–" if share is None else percent(share, 1)
