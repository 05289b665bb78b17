"""What was found as the table that is shown: one line a token sequence, a string, or a value of the named groups.

The rows come from the store as dictionaries (`Match` as JSON, with its number). The tables say in words what each
number is, leave the prefix out where it is always the same, and make blanks visible at the ends of a text, where nobody
would see them. Named groups have a column each. Columns that hold nothing are left out: edits without edits in the
query, draws where nothing was drawn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from app.edits_text import edits_text
from app.narrative import interval_text
from app.text import visible
from engine.runs.export import merge_encodings
from engine.traversal.summaries import by_group, by_string, group_names

#: What each column tells, for its tooltip.
COLUMN_HELP = {
    "#": "Place among the lines. Of a best-first search by rank: no match is shown before one that beats it. Else by "
    "share.",
    "Text": "What the model wrote after the prefix. A space is shown as ␣ where it begins or ends the text.",
    "Prefix": "The prefix that this text follows; it was given, not written by the model.",
    "Edits": "How the text comes from the nearest string of the unedited query: +n is put in, −n is left out, a→o is "
    "replaced; positions count the characters of the whole text from 0.",
    "Share": "How much of everything that was found this is, each prefix string counting the same. Of a sample it is "
    "estimated from the draws and their weights.",
    "95 %": "The true share lies within these bounds in 95 of 100 samples. Not shown where the share is exact.",
    "Draws": "How often the sample drew this.",
    "Weight": "What each of these draws counts for: the product of the legal mass at each step. A draw whose "
    "tokens had to be squeezed into the pattern counts for little.",
    "Probability": "How likely this decoder is to write this text after the prefix: under the decoding rule, "
    "renormalised over the tokens that it keeps.",
    "Model": "How likely the model is to write this text after the prefix, by its own distribution after temperature, "
    "whatever the decoding rule.",
    "log P decoder": "Natural logarithm of Probability, in nats.",
    "log P model": "Natural logarithm of Model, in nats.",
    "log P prefix": "Natural logarithm of the probability that the model gives the prefix itself, in nats.",
    "Strings": "How many different strings were found with this value.",
    "Encodings": "How many token sequences of this were found; their probabilities are added up.",
    "Canonical": "Whether the tokenizer itself would cut the text into these tokens.",
    "Own spelling": "The part of the probability that is spelled in the tokenizer's own tokens.",
    "Tokens": "How many tokens spell the text, prefix not counted.",
    "Worth": "How many independent draws these weighted draws are worth (effective sample size).",
}

#: Columns for the program, not to be shown.
HIDDEN = ("number", "low", "high", "key")


def matches_table(rows: Sequence[Mapping[str, Any]], *, sampled: bool = False) -> pd.DataFrame:
    """One line a token sequence, in the order of `rows`; of a sample the largest share first, with draws and weights.

    The column "number" holds the match that a line stands for; it is for the program.
    """
    if sampled:
        rows = sorted(rows, key=lambda row: -row["count"] * row["weight"])
    table = _texts(rows)
    if sampled:
        table["Draws"] = [row["count"] for row in rows]
        table["Weight"] = [row["weight"] for row in rows]
    table["Probability"] = [math.exp(row["decoder_log_prob"]) for row in rows]
    table |= _groups_and_edits(rows)
    table["Model"] = [math.exp(row["log_prob"]) for row in rows]
    table["Canonical"] = [row["is_canonical"] for row in rows]
    table["Tokens"] = [len(row["token_ids"]) - row["prefix_tokens"] for row in rows]
    table["log P decoder"] = [row["decoder_log_prob"] for row in rows]
    table["log P model"] = [row["log_prob"] for row in rows]
    table["log P prefix"] = [row["prefix_log_prob"] for row in rows]
    return pd.DataFrame(table)


def strings_table(rows: Sequence[Mapping[str, Any]], *, shares: bool = False, draws: int | None = None) -> pd.DataFrame:
    """One line a string, its encodings added up.

    In the order of its best encoding; with `shares` (of a sample or a distribution) the largest share first. `draws` is
    how many a sample has. "number" is the best encoding's; "low" and "high" bound the share; "key" is `string_key`.
    """
    results = {(result.text, result.prefix_text): result for result in by_string(rows, draws)}
    lines = {string_key(line): line for line in merge_encodings(rows)}
    keys = list(results if shares else lines)
    merged = [lines[key] for key in keys]
    found = [results[key] for key in keys]
    table = _texts(merged) | {"key": keys}
    if shares:
        table |= _share_columns(found, draws)
    if draws is not None:
        table["Draws"] = [result.count for result in found]
    table["Probability"] = [math.exp(line["decoder_log_prob"]) for line in merged]
    table |= _groups_and_edits(merged)
    table["Model"] = [math.exp(line["log_prob"]) for line in merged]
    table["Encodings"] = [result.encodings for result in found]
    table["Own spelling"] = [result.canonical_share for result in found]
    table["log P decoder"] = [line["decoder_log_prob"] for line in merged]
    table["log P model"] = [line["log_prob"] for line in merged]
    table["log P prefix"] = [line["prefix_log_prob"] for line in merged]
    return pd.DataFrame(table)


def groups_table(
    rows: Sequence[Mapping[str, Any]], names: Sequence[str], given: Sequence[str] = (), *, draws: int | None = None
) -> pd.DataFrame:
    """One line for each combination of values of the named groups `names`: by what is given, then by share.

    Shares are among the matches that agree in the groups `given`, whose columns come first. "key" is `group_key` of the
    groups in the order of the columns.
    """
    order = [*given, *(name for name in names if name not in given)]
    results = by_group(rows, order, given, draws)
    # What is given in an order that is the same for every run, so that two of them can be compared.
    results.sort(key=lambda result: ([str(result.values[name]) for name in given], -result.share))
    table: dict[str, list[Any]] = {"#": list(range(1, len(results) + 1))}
    for name in order:
        table[group_column(name)] = [shown_value(result.values[name]) for result in results]
    table["key"] = [tuple(result.values[name] for name in order) for result in results]
    table |= _share_columns(results, draws)
    if draws is not None:
        table["Draws"] = [result.count for result in results]
    table["Strings"] = [result.strings for result in results]
    table["Encodings"] = [result.encodings for result in results]
    if draws is not None:
        table["Worth"] = [result.effective_samples for result in results]
    return pd.DataFrame(table)


def string_key(row: Mapping[str, Any]) -> tuple[str, str]:
    """What makes two rows one string: its text and its prefix."""
    return row["text"], row["prefix_text"]


def group_key(row: Mapping[str, Any], names: Sequence[str]) -> tuple[str | None, ...]:
    """The values that a row has of these named groups."""
    return tuple(row["groups"].get(name) for name in names)


def told_apart(table: pd.DataFrame) -> list[str]:
    """A label for each line of a table of matches or strings: the text, after what sets its prefix apart from others.

    "The man was trained in" and "The woman was trained in" differ in "man" and "woman".
    """
    if "Prefix" not in table:
        return list(table["Text"])
    words = [prefix.split(" ") for prefix in table["Prefix"]]
    start = _alike(words)
    end = _alike([line[start:][::-1] for line in words])
    differing = [" ".join(line[start : len(line) - end]) for line in words]
    return [f"{prefix} · {text}" if prefix else text for prefix, text in zip(differing, table["Text"], strict=True)]


def _alike(lines: Sequence[Sequence[str]]) -> int:
    """How many words at the start all lines share."""
    shared = 0
    for column in zip(*lines, strict=False):
        if len(set(column)) > 1:
            break
        shared += 1
    return shared


def group_column(name: str) -> str:
    """The column of a named group; no other column has its name."""
    return f"{name} (group)" if name in COLUMN_HELP or name in HIDDEN else name


def shown_value(value: str | None) -> str:
    """The value of a named group: "(none)" where it took no part or is empty, "(unclear)" where it cannot be told."""
    if value is None:
        return "(unclear)"
    return shown_text(value) or "(none)"


def continuation(row: Mapping[str, Any]) -> str:
    """The text of a match without its prefix."""
    text, prefix = str(row["text"]), str(row["prefix_text"])
    return text[len(prefix) :] if text.startswith(prefix) else text


def shown_text(text: str) -> str:
    """`text` for a table's cell: line breaks and the like visible everywhere, spaces at its ends."""
    inner = text.strip(" ")
    if not inner:
        return "␣" * len(text)
    start = len(text) - len(text.lstrip(" "))
    end = len(text) - len(text.rstrip(" "))
    # The one space before a word is how every continuation begins; marking it would only be noise.
    leading = "" if start == 1 else "␣" * start
    return leading + visible(inner, spaces=False) + "␣" * end


def _texts(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The columns that say which match a line is."""
    table: dict[str, list[Any]] = {
        "number": [row["number"] for row in rows],
        "#": list(range(1, len(rows) + 1)),
        "Text": [shown_text(continuation(row)) for row in rows],
    }
    if len({row["prefix_text"] for row in rows}) > 1:
        table["Prefix"] = [shown_text(row["prefix_text"]) for row in rows]
    return table


def _groups_and_edits(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    table = {group_column(name): [shown_value(row["groups"].get(name)) for row in rows] for name in group_names(rows)}
    if any(row.get("unedited") is not None for row in rows):
        table["Edits"] = [edits_text(row["edits"]) for row in rows]
    return table


def _share_columns(results: Sequence[Any], draws: int | None) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {"Share": [result.share for result in results]}
    if draws is not None:
        columns["95 %"] = [interval_text(result.low, result.high) for result in results]
    return columns | {"low": [result.low for result in results], "high": [result.high for result in results]}
