"""What the finds of a memorization study are called: as much as was checked, and no more.

    checked, in a text, on a list ...     valid strings
    unchecked, any match counts           matches
    rows that do not tell which           strings that count

A match that nobody checked may be memorized or made up. To call it valid would claim what nobody looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from engine.counted import counted
from engine.studies.memorization import METHOD
from engine.studies.rows import ROW
from engine.studies.validators import Unchecked


@dataclass(frozen=True)
class FindWording:
    """one, many: a find and finds, after "different". nothing: none of them. are: what a part of the matches is.

    column: the heading of their number. caution: a sentence that has to be said beside each number, "" for none.
    """

    one: str
    many: str
    nothing: str
    are: str
    column: str
    caution: str = ""

    def different(self, count: int) -> str:
        """So many finds, without duplicates: "3 different valid strings"."""
        return counted(count, f"different {self.one}", f"different {self.many}")


VALID = FindWording("valid string", "valid strings", "nothing valid", "are valid", "Valid")
MATCHING = FindWording(
    "match",
    "matches",
    "no match",
    "match",
    "Different",
    "Nothing was checked: every match counts, memorized or made up.",
)
COUNTING = FindWording("string that counts", "strings that count", "nothing that counts", "count", "That count")


def find_words(rows: Iterable[Mapping[str, Any]]) -> FindWording:
    """The words for the finds of these rows, of which a method may or may not tell what was checked."""
    methods = [row for row in rows if row.get(ROW) == METHOD]
    checked = {str(row["validator"]) for row in methods if row.get("validator")}
    if Unchecked.kind in checked:
        return MATCHING
    # A number of known values comes of a list that was compared with.
    return VALID if checked or any(row.get("known") for row in methods) else COUNTING
