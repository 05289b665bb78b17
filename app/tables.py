"""Matches as the table that is shown: one line an encoding, or one line a string.

The rows come from the store as dictionaries (`Match` as JSON, with its number). The table says in words what each
number is, leaves the prefix out where it is always the same, and makes blanks visible at the ends of a text, where
nobody would see them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from app.text import visible
from engine.runs.export import merge_encodings

#: What each column tells, for its tooltip.
COLUMN_HELP = {
    "#": "Place in the order of rank: no match is shown before one that beats it.",
    "Text": "What the model wrote after the prefix. A space is shown as ␣ where it begins or ends the text.",
    "Prefix": "The prefix that this text follows; it was given, not written by the model.",
    "Probability": "How likely this decoder is to write this text after the prefix: under the decoding rule, "
    "renormalised over the tokens that it keeps.",
    "Model": "How likely the model is to write this text after the prefix, by its own distribution after temperature, "
    "whatever the decoding rule.",
    "log P decoder": "Natural logarithm of Probability, in nats.",
    "log P model": "Natural logarithm of Model, in nats.",
    "log P prefix": "Natural logarithm of the probability that the model gives the prefix itself, in nats.",
    "Encodings": "How many token sequences that spell this text were found; their probabilities are added up.",
    "Canonical": "Whether the tokenizer itself would cut the text into these tokens "
    "(merged: whether that sequence was found).",
    "Tokens": "How many tokens spell the text, prefix not counted.",
}


def matches_table(rows: Sequence[Mapping[str, Any]], *, merged: bool) -> pd.DataFrame:
    """The table of `rows`; `merged` groups the encodings of one string into one line, in the order of its best.

    The column "number" holds the match that a line stands for (of several, the best); it is for the program.
    """
    lines = merge_encodings(rows) if merged else list(rows)
    several_prefixes = len({line["prefix_text"] for line in lines}) > 1
    table: dict[str, list[Any]] = {
        "number": [line["number"] for line in lines],
        "#": list(range(1, len(lines) + 1)),
        "Text": [shown_text(continuation(line)) for line in lines],
    }
    if several_prefixes:
        table["Prefix"] = [shown_text(line["prefix_text"]) for line in lines]
    table["Probability"] = [math.exp(line["decoder_log_prob"]) for line in lines]
    table["Model"] = [math.exp(line["log_prob"]) for line in lines]
    if merged:
        table["Encodings"] = [line["encodings"] for line in lines]
    table["Canonical"] = [line["is_canonical"] for line in lines]
    if not merged:
        table["Tokens"] = [len(line["token_ids"]) - line["prefix_tokens"] for line in lines]
    table["log P decoder"] = [line["decoder_log_prob"] for line in lines]
    table["log P model"] = [line["log_prob"] for line in lines]
    table["log P prefix"] = [line["prefix_log_prob"] for line in lines]
    return pd.DataFrame(table)


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
