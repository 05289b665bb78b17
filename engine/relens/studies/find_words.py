"""The word for what a memorization study counts: as much as was validated, and no more.

    validated: in a text, on a list ...     valid strings
    not validated, any match counts         matches
    old rows without the validator          strings that count

A match without validation may be memorized or made up, so it is not called valid.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from relens.counted import counted
from relens.studies.memorization_rows import MethodSetup
from relens.studies.validators import Unchecked


@dataclass(frozen=True)
class FindWording:
    """one, many: nouns after "different". nothing: none of them. are: the verb for a part of the strings.

    column: the heading of their number. caution: a sentence that goes with each number, "" for none.
    """

    one: str
    many: str
    nothing: str
    are: str
    column: str
    caution: str = ""

    def different(self, count: int) -> str:
        """The number without duplicates: "3 different valid strings"."""
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


def find_words(setups: Iterable[MethodSetup]) -> FindWording:
    """The words for the strings of these methods."""
    setups = list(setups)
    validators = {setup.validator for setup in setups if setup.validator}
    if Unchecked.kind in validators:
        return MATCHING
    # A number of known values comes from a list, which is a validator.
    return VALID if validators or any(setup.known for setup in setups) else COUNTING
