"""The tables of a memorization study: the methods with their counts, and the strings that were found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from app.studies.view import Rows, Table
from app.tables import shown_text
from app.text import shortened
from engine.percent import percent
from engine.studies.find_words import MATCHING, FindWording, find_words
from engine.studies.memorization import MATCH, SEARCH
from engine.studies.memorization_findings import MethodFinding
from engine.studies.rows import ROW, UNIT, current_rows

#: The lines of a table that are shown, and the characters of a string.
MOST_LINES = 1_000
_EXCERPT = 300


def methods_table(found: Sequence[MethodFinding], words: FindWording) -> Table:
    """One line for each method."""
    columns: dict[str, list[Any]] = {
        "Method": [one.method for one in found],
        "Attempts": [one.tally.attempts for one in found],
        "Matches": [one.tally.matches for one in found],
        "Different": [one.tally.new for one in found],
        words.column: [one.tally.new_valid for one in found],
        f"{words.column} a second": [round(one.valid_a_second, 3) for one in found],
        "Against best n": [None if one.ratio is None else round(one.ratio, 2) for one in found],
        "Attempts that match": [_percent(one.completion_rate) for one in found],
        "Repeats": [_percent(one.duplicate_share) for one in found],
        "Tokens an attempt": [
            None if one.tokens_an_attempt is None else round(one.tokens_an_attempt, 1) for one in found
        ],
        "Model at work": [_percent(one.device_use) for one in found],
        "Seconds": [round(one.seconds, 1) for one in found],
        "Device": [one.device for one in found],
    }
    if any(one.known for one in found):
        columns["Found of known"] = [_percent(one.recall) for one in found]
    return Table(
        "Methods",
        pd.DataFrame(columns),
        {
            "Attempts": "How often it was tried; a search only tries what is a match.",
            words.column: "Different strings that count as a find.",
            "Different": "Matches without those that had been found before." + (words.caution and f" {words.caution}"),
            "Against best n": f"Different {words.many} a second, over those of the best sampled method.",
            "Repeats": "The share of the matches that had been found before.",
            "Model at work": "The share of the time in which the model computed; the rest is ours.",
        },
    )


def strings_table(rows: Rows) -> Table:
    """The strings in the order in which they were first found, and by whom; at most `MOST_LINES`."""
    told: dict[str, dict[str, Mapping[str, Any]]] = {}
    for row in current_rows(rows):
        if row.get(ROW) == MATCH:
            told.setdefault(str(row["text"]), {})[str(row[UNIT])] = row
    order = sorted(told, key=lambda text: min(float(row["seconds"]) for row in told[text].values()))
    shown = order[:MOST_LINES]
    sampled = [
        min((float(row["seconds"]) for unit, row in told[text].items() if unit != SEARCH), default=None)
        for text in shown
    ]
    words = find_words(rows)
    counts = [any(bool(row["valid"]) for row in told[text].values()) for text in shown]
    frame = pd.DataFrame(
        {
            "String": [shortened(shown_text(text), _EXCERPT) for text in shown],
            **({} if words is MATCHING else {words.column: counts}),
            "Search, s": [_seconds(told[text].get(SEARCH)) for text in shown],
            "Sampling, s": [None if seconds is None else round(seconds, 3) for seconds in sampled],
            "Sampled by": [", ".join(unit for unit in told[text] if unit != SEARCH) for text in shown],
        }
    )
    title = "Strings" if len(order) <= MOST_LINES else f"Strings, the first {MOST_LINES:,} of {len(order):,}"
    return Table(
        title,
        frame,
        {
            **({} if words is MATCHING else {words.column: "Whether it counts as a find."}),
            "Search, s": "When the search found it, in seconds; empty where it did not.",
            "Sampling, s": "When the quickest sampled method found it, in seconds; empty where none did.",
        },
    )


def _seconds(row: Mapping[str, Any] | None) -> float | None:
    return None if row is None else round(float(row["seconds"]), 3)


def _percent(share: float | None) -> str:
    return "–" if share is None else percent(share, 1)
