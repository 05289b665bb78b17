r"""The names of the groups of an expression, read off its text without a parser.

    The (?P<subject>man|woman) was [(?P<no>] \(?P<no> (?#(?P<no>) (?P<verb>\w+)      subject, verb

A page that shows how to repeat a query needs only this, and must not spend time on a hostile expression (`syntax.py` is
for other processes). Parts that cannot have a group in them are skipped: an escaped character, a class, a comment; and
where blanks do not count, a line from # on. Each is read once, so the time is linear in the text. For a well-formed
expression these are the names of `GroupReader`; for another one they are some names, and its error is reported
elsewhere.
"""

from __future__ import annotations

import re

#: The pieces of a text, the longest first; each ends where the text ends, if not before.
_PIECE = re.compile(
    r"""
      \\.?                                              # an escaped character
    | \[ \^?+ \]?+ (?: \\. | [^\]\\] )*+                # a class, up to its bracket
    | \( \?\# [^)]*+                                    # a comment, up to its bracket
    | \( \?P< (?P<name> \w++ ) >                        # a group with a name
    | \( \? (?P<on> [a-zA-Z]*+ ) (?: - (?P<off> [a-zA-Z]*+ ) )? (?P<end> [:)] )
    | \( | \) | \#
    """,
    re.VERBOSE | re.DOTALL,
)
_REST_OF_LINE = re.compile(r"[^\n]*+")


def group_names(*sources: str) -> tuple[str, ...]:
    """The names of the groups of these expressions, in the order in which they open."""
    return tuple(name for source in sources for name in _names(source))


def _names(source: str) -> list[str]:
    names: list[str] = []
    #: Whether blanks and comments are skipped, out here and within each group that is open.
    skips = [False]
    place = 0
    while match := _PIECE.search(source, place):
        place = match.end()
        piece = match.group()
        if piece == "#":
            if skips[-1]:
                place = _REST_OF_LINE.match(source, place).end()  # type: ignore[union-attr]
        elif piece == ")":
            if len(skips) > 1:
                skips.pop()
        elif match["end"]:
            inner = "x" in match["on"] or (skips[-1] and "x" not in (match["off"] or ""))
            if match["end"] == ":":
                skips.append(inner)
            else:  # flags of the whole expression, which stand at its beginning
                skips[-1] = inner
        elif match["name"] or piece == "(":
            names += [match["name"]] if match["name"] else []
            skips.append(skips[-1])
    return names
