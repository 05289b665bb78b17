"""The strings of a language that lie nearest to an edited text, and the edits between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engine.query import Record


@dataclass(frozen=True)
class Edit(Record):
    """One edit that leads from the nearest unedited string to the text of a match.

    position: in characters of the match's text, where the edit shows; of a deletion, where the character is missing.
    removed: the character of the unedited string, "" for an insertion. written: that of the text, "" for a deletion.
    part: which part of the query the edit falls into.
    """

    operation: Literal["insertion", "deletion", "substitution"]
    position: int
    removed: str
    written: str
    part: Literal["prefix", "pattern"]
