"""Tables of matches: one line a token sequence, a string, or a value of the named groups.

The rows come from the store as dictionaries (`Match` as JSON, with its number). The tables leave the prefix out where
it is always the same, and make blanks visible at the ends of a text. Named groups have a column each. Empty columns are
left out: edits without edits in the query, draws without a sample.

A run may have 100,000 rows, of which a page shows 500. So the order and the sums of all rows are computed once
(`Lines`), and cells only for the lines shown.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pandas as pd

from relens.runs.export import merge_encodings
from relens.traversal.summaries import Strings, by_group, group_names, groups_of
from relens_dashboard.edits_text import edits_text
from relens_dashboard.narrative import interval_text
from relens_dashboard.text import visible

#: The tooltip of each column.
COLUMN_HELP = {
    "#": "Number of the line. Best first: in order of rank, the likeliest first. Otherwise: the largest share first.",
    "Text": "What the model wrote after the prefix. A space is shown as ␣ where it begins or ends the text.",
    "Prefix": "The prefix before this text; it was given, not written by the model.",
    "Edits": "How the text differs from the nearest string of the query without edits: +n is inserted, −n is deleted, "
    "a→o is replaced. Positions count the characters of the whole text from 0.",
    "Share": "This line's part of all matches; every prefix string counts the same. In a sample it is estimated from "
    "the draws and their weights.",
    "95 %": "The true share lies within these bounds in 95 of 100 samples. Not shown where the share is exact.",
    "Draws": "How often the sample drew this.",
    "Weight": "How much each of these draws counts: at every step, the probability that the pattern's tokens have "
    "together, multiplied over all steps. A draw that the pattern forced into unlikely tokens counts little.",
    "Probability": "How likely this decoder is to write this text after the prefix: under the decoding rule, "
    "renormalised over the tokens that it keeps.",
    "Model": "How likely the model is to write this text after the prefix, by its own distribution after temperature, "
    "whatever the decoding rule.",
    "log P decoder": "Natural logarithm of Probability, in nats.",
    "log P model": "Natural logarithm of Model, in nats.",
    "log P prefix": "Natural logarithm of the probability that the model gives the prefix itself, in nats.",
    "Strings": "How many different strings have this value.",
    "Encodings": "How many token sequences were found for this line; their probabilities are added up.",
    "Canonical": "Whether these are the tokens into which the tokenizer itself cuts the text.",
    "Canonical share": "The part of the probability that is in the tokenizer's own tokens.",
    "Tokens": "How many tokens spell the text, prefix not counted.",
    "Effective sample size": "How many independent draws would be as precise as these weighted ones.",
}

#: Columns for the program; no table shows them.
HIDDEN = ("number", "low", "high", "key")


class Lines(Protocol):
    """A table that makes only the lines shown."""

    def __len__(self) -> int:
        """How many lines there are."""
        ...

    def frame(self, start: int = 0, stop: int | None = None) -> pd.DataFrame:
        """The lines from `start` to before `stop`, with the columns of the whole table."""
        ...


class MatchLines:
    """One line a token sequence, in the order of `rows`; of a sample the largest share first, with draws and weights.

    by_share: False keeps the order of the rows for a sample too. The column "number" holds the line's match; it is for
    the program.
    """

    def __init__(self, rows: Sequence[Mapping[str, Any]], *, sampled: bool = False, by_share: bool = True) -> None:
        self._sampled = sampled
        self._rows = sorted(rows, key=lambda row: -row["count"] * row["weight"]) if sampled and by_share else rows
        self._columns = _Columns.of(rows)

    def __len__(self) -> int:
        return len(self._rows)

    def frame(self, start: int = 0, stop: int | None = None) -> pd.DataFrame:
        """The lines from `start` to before `stop`."""
        rows = self._rows[start:stop]
        table = self._columns.texts(rows, start)
        if self._sampled:
            table["Draws"] = [row["count"] for row in rows]
            table["Weight"] = [row["weight"] for row in rows]
        table["Probability"] = [math.exp(row["decoder_log_prob"]) for row in rows]
        table |= self._columns.groups_and_edits(rows)
        table["Model"] = [math.exp(row["log_prob"]) for row in rows]
        table["Canonical"] = [row["is_canonical"] for row in rows]
        table["Tokens"] = [len(row["token_ids"]) - row["prefix_tokens"] for row in rows]
        table["log P decoder"] = [row["decoder_log_prob"] for row in rows]
        table["log P model"] = [row["log_prob"] for row in rows]
        table["log P prefix"] = [row["prefix_log_prob"] for row in rows]
        return pd.DataFrame(table)


class StringLines:
    """One line a string, its encodings added up.

    In the order of the best encodings; with `shares` (of a sample or a distribution) the largest share first. draws: of
    a sample. "number" is the best encoding's; "low" and "high" bound the share; "key" is `string_key`.
    """

    def __init__(self, rows: Sequence[Mapping[str, Any]], *, shares: bool = False, draws: int | None = None) -> None:
        self._shares, self._draws = shares, draws
        self._strings = Strings(rows, draws, by_share=shares)
        self._columns = _Columns.of(rows)
        #: Whether any string was found in more than one encoding.
        self.has_several_encodings = len(self._strings) < len(rows)

    def __len__(self) -> int:
        return len(self._strings)

    def frame(self, start: int = 0, stop: int | None = None) -> pd.DataFrame:
        """The lines from `start` to before `stop`."""
        results = self._strings.results(start, stop)
        merged = merge_encodings([row for matches in self._strings.matches(start, stop) for row in matches])
        table = self._columns.texts(merged, start) | {"key": [string_key(line) for line in merged]}
        if self._shares:
            table |= _share_columns(results, self._draws)
        if self._draws is not None:
            table["Draws"] = [result.count for result in results]
        table["Probability"] = [math.exp(line["decoder_log_prob"]) for line in merged]
        table |= self._columns.groups_and_edits(merged)
        table["Model"] = [math.exp(line["log_prob"]) for line in merged]
        table["Encodings"] = [result.encodings for result in results]
        table["Canonical share"] = [result.canonical_share for result in results]
        table["log P decoder"] = [line["decoder_log_prob"] for line in merged]
        table["log P model"] = [line["log_prob"] for line in merged]
        table["log P prefix"] = [line["prefix_log_prob"] for line in merged]
        return pd.DataFrame(table)


class GroupLines:
    """One line for each combination of values of the groups `names`: in order of the `given` values, then of share.

    Shares are among the matches that agree in the groups `given`, whose columns come first. "key" is `group_key` of the
    groups in the order of the columns.
    """

    def __init__(
        self,
        rows: Sequence[Mapping[str, Any]],
        names: Sequence[str],
        given: Sequence[str] = (),
        *,
        draws: int | None = None,
    ) -> None:
        self._order = [*given, *(name for name in names if name not in given)]
        self._draws = draws
        self._results = by_group(rows, self._order, given, draws)
        # The order of the given values is the same for every run, so that two runs can be compared.
        self._results.sort(key=lambda result: ([str(result.values[name]) for name in given], -result.share))

    def __len__(self) -> int:
        return len(self._results)

    def frame(self, start: int = 0, stop: int | None = None) -> pd.DataFrame:
        """The lines from `start` to before `stop`."""
        results = self._results[start:stop]
        table: dict[str, list[Any]] = {"#": list(range(start + 1, start + 1 + len(results)))}
        for name in self._order:
            table[group_column(name)] = [shown_value(result.values[name]) for result in results]
        table["key"] = [tuple(result.values[name] for name in self._order) for result in results]
        table |= _share_columns(results, self._draws)
        if self._draws is not None:
            table["Draws"] = [result.count for result in results]
        table["Strings"] = [result.strings for result in results]
        table["Encodings"] = [result.encodings for result in results]
        if self._draws is not None:
            table["Effective sample size"] = [result.effective_samples for result in results]
        return pd.DataFrame(table)


def matches_table(rows: Sequence[Mapping[str, Any]], *, sampled: bool = False) -> pd.DataFrame:
    """All of `MatchLines`."""
    return MatchLines(rows, sampled=sampled).frame()


def strings_table(rows: Sequence[Mapping[str, Any]], *, shares: bool = False, draws: int | None = None) -> pd.DataFrame:
    """All of `StringLines`."""
    return StringLines(rows, shares=shares, draws=draws).frame()


def groups_table(
    rows: Sequence[Mapping[str, Any]], names: Sequence[str], given: Sequence[str] = (), *, draws: int | None = None
) -> pd.DataFrame:
    """All of `GroupLines`."""
    return GroupLines(rows, names, given, draws=draws).frame()


def string_key(row: Mapping[str, Any]) -> tuple[str, str]:
    """The identity of a row's string: its text and its prefix."""
    return row["text"], row["prefix_text"]


def group_key(row: Mapping[str, Any], names: Sequence[str]) -> tuple[str | None, ...]:
    """A row's values of these named groups."""
    groups = groups_of(row)
    return tuple(groups.get(name) for name in names)


def distinct_labels(table: pd.DataFrame) -> list[str]:
    """A label for each line of a table of matches or strings: the text, after the part of its prefix that differs.

    "The man was trained in" and "The woman was trained in" differ in "man" and "woman".
    """
    if "Prefix" not in table:
        return list(table["Text"])
    words = [prefix.split(" ") for prefix in table["Prefix"]]
    start = _common_start(words)
    end = _common_start([line[start:][::-1] for line in words])
    differing = [" ".join(line[start : len(line) - end]) for line in words]
    return [f"{prefix} · {text}" if prefix else text for prefix, text in zip(differing, table["Text"], strict=True)]


def _common_start(lines: Sequence[Sequence[str]]) -> int:
    """How many words all lines share at their start."""
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
    """The value of a named group: "(none)" where it took no part or is empty, "(unclear)" where it is ambiguous."""
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
    # Nearly every continuation begins with one space; marking it would be noise.
    leading = "" if start == 1 else "␣" * start
    return leading + visible(inner, spaces=False) + "␣" * end


@dataclass(frozen=True)
class _Columns:
    """The columns that a table leaves out where they are empty."""

    prefixes: bool
    groups: tuple[str, ...]
    edits: bool

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Any]]) -> _Columns:
        return cls(
            prefixes=len({row["prefix_text"] for row in rows}) > 1,
            groups=group_names(rows),
            edits=any(row.get("unedited") is not None for row in rows),
        )

    def texts(self, rows: Sequence[Mapping[str, Any]], start: int) -> dict[str, list[Any]]:
        """The columns with number and texts; `start` lines come before the first of these."""
        table: dict[str, list[Any]] = {
            "number": [row["number"] for row in rows],
            "#": list(range(start + 1, start + 1 + len(rows))),
            "Text": [shown_text(continuation(row)) for row in rows],
        }
        if self.prefixes:
            table["Prefix"] = [shown_text(row["prefix_text"]) for row in rows]
        return table

    def groups_and_edits(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
        """The columns of the named groups, and of the edits."""
        table = {group_column(name): [shown_value(groups_of(row).get(name)) for row in rows] for name in self.groups}
        if self.edits:
            table["Edits"] = [edits_text(row["edits"]) for row in rows]
        return table


def _share_columns(results: Sequence[Any], draws: int | None) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {"Share": [result.share for result in results]}
    if draws is not None:
        columns["95 %"] = [interval_text(result.low, result.high) for result in results]
    return columns | {"low": [result.low for result in results], "high": [result.high for result in results]}
