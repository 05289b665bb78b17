"""Rows of a search as files for other programs.

A match goes into one line of a table, and each named group of the expressions gets a column of its own:

    number  text     prefix_text  group: animal  is_canonical  prob   ...  token_ids  edits
    1       The cat  The          cat            true          0.021  ...  504 2644
    2       The dig  The          dog            true          0.002  ...  504 3046   substitution at 5: 'o' -> 'i'

JSON keeps every field as it is stored and reads back equal. Parquet keeps the numbers exactly, the lists as lists, and
the same types for all rows. A group of unknown value is null there; in CSV it is an empty cell, like that of a group
that took no part.

CSV is for spreadsheets, which run a cell as a formula if it begins with one of `= + - @`, also in full width, a tab or
the end of a line. Texts of a model and names of columns must not run, so **such a text gets an apostrophe in front**,
the spreadsheets' own mark for text (OWASP, "CSV injection"). A leading apostrophe is doubled by the same rule: taking
one away from every text that begins with one restores it. Numbers are written as they are.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

from relens.errors import QueryError

if TYPE_CHECKING:
    from relens.traversal.summaries import GroupResult, StringResult

Format = Literal["csv", "json", "parquet"]

_FORMULA_BEGINNINGS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "'")
_LOG_PROBABILITIES = ("prefix_log_prob", "log_prob", "decoder_log_prob")


def export_rows(rows: Sequence[Mapping[str, Any]], format: Format) -> bytes:
    """The rows (as `Store.rows` gives them) as the bytes of a CSV, JSON or Parquet file.

    CSV is UTF-8 with a byte-order mark, without which Excel takes it for another encoding. JSON is a list of objects
    in UTF-8; a minus infinity is written `-Infinity`, as Python's `json` reads it. Raises `QueryError` for another
    format.
    """
    if format == "csv":
        return _csv(rows)
    if format == "json":
        return _json(rows)
    if format == "parquet":
        # Imported here: it is large, and nothing else in this module needs it.
        from relens.runs.parquet import MATCH_TYPES, write_parquet

        flat = [_with_group_columns(row) for row in rows]
        columns = _columns_in_order(name for row in flat for name in row)
        return write_parquet(flat, columns, MATCH_TYPES)
    raise QueryError(f"Rows are exported as one of {', '.join(map(repr, get_args(Format)))}, not {format!r}.")


def export_shares(results: Sequence[StringResult] | Sequence[GroupResult], format: Format) -> bytes:
    """The shares of strings or groups (`relens.traversal.summaries`) as a file, in this order; see `export_rows`."""
    return export_rows([result.to_json() for result in results], format)


def merge_encodings(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One row a string: matches that spell the same text, merged, in the order of the first of them.

    A merged row is its first match (of a best-first search: the best-ranked), with
    encodings: the number of its token sequences; canonical_number: the number of the match with the canonical sequence,
    None if it is not there; prob and decoder_prob: the sums of exp(log_prob) and exp(decoder_log_prob) over the
    sequences, and log_prob and decoder_log_prob their logarithms, in nats; is_canonical: whether the canonical sequence
    is among them; numbers: of the matches; count: the sum of theirs, and weight: the mean over these counts, so that
    count x weight stays the weight of the string.

    Shares, with their intervals, are in `relens.traversal.summaries`.

    Where one text has several prefixes (a free boundary), each prefix makes a row of its own, because a probability
    given one prefix and one given another do not add up.
    """
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["text"], row["prefix_text"]), []).append(row)
    return [_merged(group) for group in groups.values()]


def probability(log_prob: float | None) -> float | None:
    """exp of a log-probability in nats; None for None."""
    return None if log_prob is None else math.exp(log_prob)


def flat_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row as one line of a table: probabilities and logarithms, a column a group, lists and edits as text."""
    flat: dict[str, Any] = {}
    for name, value in _with_group_columns(row).items():
        if name in _LOG_PROBABILITIES:
            flat[name.replace("log_prob", "prob")] = probability(value)
        if name == "edits":
            value = "; ".join(edit_text(edit) for edit in value)
        flat[name] = " ".join(map(str, value)) if isinstance(value, (list, tuple)) else value
    return {name: flat[name] for name in _columns_in_order(flat)}


def edit_text(edit: Mapping[str, Any]) -> str:
    """An edit of a match (as JSON) in words: `substitution at 5: 'o' -> 'i'`.

    The position counts the characters before the edit, in the written text. Characters are quoted as in Python, so that
    a blank is visible.
    """
    changed = [repr(edit[name]) for name in ("removed", "written") if edit[name]]
    return f"{edit['operation']} at {edit['position']}: {' -> '.join(changed)}"


_GROUP = "group: "
#: What the dictionary of groups is called in a match and in a share.
_GROUP_FIELDS = ("groups", "values")

_FIRST_COLUMNS = (
    "number",
    "text",
    "prefix_text",
    _GROUP,
    "is_canonical",
    "share",
    "low",
    "high",
    "encodings",
    "count",
    "weight",
    "prob",
    "decoder_prob",
    "prefix_prob",
    "log_prob",
    "decoder_log_prob",
    "prefix_log_prob",
    "token_ids",
)


def _columns_in_order(names: Iterable[str]) -> list[str]:
    """The columns that people read first, then the others in the order they came."""
    names = list(dict.fromkeys(names))

    def place(name: str) -> int:
        known = _GROUP if name.startswith(_GROUP) else name
        return _FIRST_COLUMNS.index(known) if known in _FIRST_COLUMNS else len(_FIRST_COLUMNS)

    return sorted(names, key=place)


def _with_group_columns(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with a column for each named group in place of their dictionary."""
    columns = {name: value for name, value in row.items() if name not in _GROUP_FIELDS}
    groups: Mapping[str, str | None] = next((row[name] for name in _GROUP_FIELDS if row.get(name)), {})
    return columns | {f"{_GROUP}{name}": value for name, value in groups.items()}


def _json(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """A list of objects, one a line. Row by row: during a single long call the server could answer nobody else."""
    file = io.BytesIO()
    for place, row in enumerate(rows):
        file.write(b",\n" if place else b"[\n")
        file.write(json.dumps(dict(row), ensure_ascii=True).encode())
    file.write(b"\n]" if rows else b"[]")
    return file.getvalue()


def _csv(rows: Sequence[Mapping[str, Any]]) -> bytes:
    flat = [flat_row(row) for row in rows]
    columns = _columns_in_order(name for row in flat for name in row)
    sheet = io.StringIO(newline="")
    writer = csv.writer(sheet, lineterminator="\r\n")
    writer.writerow([_cell(name) for name in columns])
    for row in flat:
        writer.writerow([_cell(row.get(name)) for name in columns])
    # A lone surrogate cannot be written as UTF-8; a replacement character stands for it.
    return sheet.getvalue().encode("utf-8-sig", errors="replace")


def _cell(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(_FORMULA_BEGINNINGS):
        return f"'{value}"
    if isinstance(value, bool):
        return str(value).lower()
    return value


def _merged(group: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    counts = [row.get("count", 1) for row in group]
    canonical = next((row["number"] for row in group if row["is_canonical"]), None)
    merged = {
        **group[0],
        "is_canonical": canonical is not None,
        "encodings": len(group),
        "canonical_number": canonical,
        "numbers": [row["number"] for row in group],
        "count": sum(counts),
        "weight": math.fsum(count * row.get("weight", 1.0) for count, row in zip(counts, group, strict=True))
        / sum(counts),
    }
    for name in ("log_prob", "decoder_log_prob"):
        merged[name] = _log_of_sum([row[name] for row in group])
        merged[name.replace("log_prob", "prob")] = math.exp(merged[name])
    return merged


def _log_of_sum(log_probs: Sequence[float]) -> float:
    """log of the sum of exponentials, which themselves may be too small for a float."""
    best = max(log_probs)
    if best == -math.inf:
        return best
    return best + math.log(math.fsum(math.exp(log_prob - best) for log_prob in log_probs))
