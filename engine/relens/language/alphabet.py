"""What an edit may write: the characters of `Edits.alphabet`."""

from __future__ import annotations

from relens.errors import RegexError
from relens.language.characters import Ranges
from relens.language.syntax import parse_regex
from relens.language.tree import Characters, Group
from relens.language.utf8 import without_surrogates
from relens.query import Edits, Limits


def alphabet_ranges(edits: Edits, limits: Limits) -> Ranges:
    """The characters that an edit may write.

    Raises `RegexError` (part "alphabet") where the alphabet is not an expression for exactly one character.
    """
    source = edits.alphabet
    node = parse_regex(source, limits, "alphabet")
    while isinstance(node, Group):
        node = node.item
    if not isinstance(node, Characters):
        reason = "The alphabet of the edits must be one character out of a set, such as [ -~]"
    elif not (ranges := without_surrogates(node.ranges)):
        reason = "The alphabet of the edits has no character in it"
    else:
        return ranges
    raise RegexError(f"{reason}, at position {node.start}.", source=source, position=node.start, part="alphabet")
