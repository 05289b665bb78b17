r"""Whether one string matches an expression, without an automaton and without ever taking long.

Of `(Jan|Feb) \d{1,2}` and "Feb 30" it is asked at which places of the string each part can end, given where it begins:

    (Jan|Feb)  from 0: 3        " "  from 3: 4        \d{1,2}  from 4: 5 or 6        6 is the end, so it matches

Each part is asked once for each place, however often an expression such as `(a*)*b` comes back to it. Where even that
is too much, the question is left open: this is for a form, which has to answer at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from engine.language.tree import Alternation, Characters, Concatenation, Group, Node, Repetition

#: Places of parts that are looked at: some tenths of a second.
MOST_STEPS = 100_000

Places = frozenset[int]


def quickly_matches(tree: Node, text: str, most_steps: int = MOST_STEPS) -> bool | None:
    """Whether the whole of `text` matches (`re.fullmatch`).

    None where that takes more than `most_steps`, or is nested too deep.
    """
    matcher = _Matcher(text, most_steps)
    try:
        return len(text) in matcher.ends(tree, 0)
    except (_TooManyStepsError, RecursionError):
        return None


class _TooManyStepsError(Exception):
    """The question is left open."""


class _Matcher:
    """The places of one text at which parts can end."""

    def __init__(self, text: str, most_steps: int) -> None:
        self._text = text
        self._steps_left = most_steps
        #: By the part, which lives as long as its tree, and the place where it begins.
        self._known: dict[tuple[int, int], Places] = {}

    def ends(self, node: Node, begin: int) -> Places:
        """Where `node` can end if it begins at `begin`."""
        key = id(node), begin
        if key not in self._known:
            self._known[key] = self._found(node, begin)
        self._count(1)
        return self._known[key]

    def _found(self, node: Node, begin: int) -> Places:
        if isinstance(node, Characters):
            return frozenset([begin + 1]) if self._has(node, begin) else frozenset()
        if isinstance(node, Group):
            return self.ends(node.item, begin)
        if isinstance(node, Repetition):
            return self._repeated(node, begin)
        places: Places = frozenset([begin])
        if isinstance(node, Alternation):
            return self._union(self.ends(branch, begin) for branch in node.branches)
        if isinstance(node, Concatenation):
            for item in node.items:
                places = self._after(item, places)
        return places

    def _repeated(self, node: Repetition, begin: int) -> Places:
        places: Places = frozenset([begin])
        for _ in range(node.minimum):
            further = self._after(node.item, places)
            if further == places:  # and so it stays
                break
            places = further
        reached = places
        times_left = math.inf if node.maximum is None else node.maximum - node.minimum
        while places and times_left:
            places = self._after(node.item, places) - reached  # what was reached in fewer times has more left
            reached |= places
            times_left -= 1
        return reached

    def _after(self, node: Node, places: Places) -> Places:
        return self._union(self.ends(node, place) for place in places)

    def _union(self, found: Iterable[Places]) -> Places:
        ended: set[int] = set()
        for places in found:
            self._count(len(places))
            ended |= places
        return frozenset(ended)

    def _has(self, node: Characters, place: int) -> bool:
        if place >= len(self._text):
            return False
        self._count(len(node.ranges))
        code = ord(self._text[place])
        return any(low <= code <= high for low, high in node.ranges)

    def _count(self, steps: int) -> None:
        self._steps_left -= steps
        if self._steps_left < 0:
            raise _TooManyStepsError
