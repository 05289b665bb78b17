"""Comparisons as tables: settings, strings with their ranks and probabilities, shares."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from relens.runs.agreement import ComparedString
from relens.runs.comparison import ABSENT, Setting
from relens.traversal.summaries import by_group, by_string
from relens_dashboard.compare.words import letter
from relens_dashboard.tables import continuation, group_column, shown_text, shown_value
from relens_dashboard.text import shortened, visible

#: Most characters of a setting in a table.
_LONGEST = 300

Rows = Sequence[Mapping[str, Any]]

COLUMN_HELP = {
    "Rank": "Place in the run: of a best-first search in its order, of a sample or a distribution by share.",
    "Probability": "Of this text after the prefix, under the decoding rule of the run; encodings are added up.",
    "Model": "Of this text after the prefix, by the model alone, without a decoding rule.",
    "Share": "Of the probability of all matches of the run; of a sample, estimated.",
}


def settings_table(settings: Sequence[Setting], runs: int) -> pd.DataFrame:
    """One line a setting, a column for its value in each run."""
    columns: dict[str, list[str]] = {"Setting": [setting_name(setting.path) for setting in settings]}
    for place in range(runs):
        columns[letter(place)] = [setting_value(setting.values[place]) for setting in settings]
    return pd.DataFrame(columns)


def setting_name(path: str) -> str:
    """The path of a setting in words: "query.decoding.top_k" is "Decoding, top k"."""
    parts = [part for part in path.split(".") if part not in ("query", "study", "traversal")] or ["kind"]
    if path in ("traversal.kind", "study.kind"):
        parts = [path.split(".")[0]]
    words = ", ".join(part.replace("_", " ") for part in parts)
    return words[:1].upper() + words[1:]


def setting_value(value: Any) -> str:
    """The value of a setting in one line: blanks at its ends visible, "–" where a run has no such setting."""
    if value is ABSENT:
        return "–"
    if value is None:
        return "off"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return shown_text(shortened(value, _LONGEST)) or "(empty)"
    if isinstance(value, (int, float)):
        return f"{value:,}"
    if isinstance(value, (list, tuple)) and value and all(isinstance(item, str) and "," not in item for item in value):
        # Each item takes a comma and a blank at least, so items beyond these are cut anyway.
        return shortened(", ".join(shown_text(shortened(item, _LONGEST)) for item in value[:_LONGEST]), _LONGEST)
    return visible(shortened(json.dumps(value, ensure_ascii=False), _LONGEST), spaces=False)


def strings_table(
    strings: Sequence[ComparedString], runs: int, start: int = 0, stop: int | None = None
) -> pd.DataFrame:
    """One line a string, with its rank and its probabilities in each run; missing where a run does not have it.

    start, stop: a range of the strings; the columns are those of the whole table.
    """
    several = len({one.prefix_text for one in strings}) > 1
    strings = strings[start:stop]
    table: dict[str, list[Any]] = {"Text": [_text(one) for one in strings]}
    if several:
        table["Prefix"] = [shown_text(one.prefix_text) for one in strings]
    for name, values in (
        ("Rank", [one.ranks for one in strings]),
        ("Probability", [_probabilities(one.decoder_log_probs) for one in strings]),
        ("Model", [_probabilities(one.log_probs) for one in strings]),
    ):
        for place in range(runs):
            table[f"{name} {letter(place)}"] = [value[place] for value in values]
    return pd.DataFrame(table)


def shares_table(runs: Sequence[Rows], draws: Sequence[int | None], names: Sequence[str]) -> pd.DataFrame:
    """One line an outcome and run: "Outcome", "Run", "Share", "low" and "high"; the largest outcomes first.

    names: the named groups whose values are the outcomes; none where these are strings. draws: of each run's sample,
    None where its shares are exact.
    """
    lines = []
    for place, (rows, drawn) in enumerate(zip(runs, draws, strict=True)):
        for outcome, share in _outcomes(rows, drawn, names):
            lines.append((outcome, letter(place), share.share, share.low, share.high))
    table = pd.DataFrame(lines, columns=["Outcome", "Run", "Share", "low", "high"])
    largest = table.groupby("Outcome", sort=False)["Share"].max().sort_values(ascending=False, kind="stable")
    order = {outcome: place for place, outcome in enumerate(largest.index)}
    places = table["Outcome"].map(order)
    return table.assign(_place=places).sort_values(["_place", "Run"], kind="stable").drop(columns="_place")


def wide_shares(table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The same with a column for each run; 0 for an outcome that it does not have."""
    wide = table.pivot_table(index="Outcome", columns="Run", values="Share", sort=False, aggfunc="sum").fillna(0.0)
    wide.columns = [f"Share {run}" for run in wide.columns]
    label = " · ".join(group_column(name) for name in names) if names else "Text"
    return wide.reset_index().rename(columns={"Outcome": label})


def _outcomes(rows: Rows, draws: int | None, names: Sequence[str]) -> list[tuple[str, Any]]:
    if names:
        return [
            (" · ".join(shown_value(result.values[name]) for name in names), result)
            for result in by_group(rows, names, draws=draws)
        ]
    results = by_string(rows, draws)
    several = len({result.prefix_text for result in results}) > 1
    return [
        (
            shown_text(
                result.text if several else continuation({"text": result.text, "prefix_text": result.prefix_text})
            ),
            result,
        )
        for result in results
    ]


def _text(one: ComparedString) -> str:
    return shown_text(continuation({"text": one.text, "prefix_text": one.prefix_text}))


def _probabilities(values: Sequence[float | None]) -> list[float | None]:
    return [None if value is None else math.exp(value) for value in values]
