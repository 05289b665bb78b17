r"""The named groups of a match, and its edits.

The prefix is `The (?P<who>cat|dog)`, one edit is allowed, and a match reads "The dig". The expression does not match
that, so its groups are read off the nearest string that it does match, "The dog": who is dog. Often there are
several. "The og" is as near to "The dog" as any, but "The at" of `The (?P<who>[a-z])at` might have had any of 26
letters: such a group is None, not any one of them.

Nearest strings can be thousands, where a class such as `\w` lost its character. But characters that no class of the
expression tells apart are read alike. So two of each kind stand for all: if those two agree about a group,
the character lies outside of it, and all others agree too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from relens.language.characters import Ranges
from relens.language.group_names import group_names
from relens.language.groups import GroupReader
from relens.language.language import Language
from relens.language.nearest import Edit, NearestStrings
from relens.language.tree import Alternation, Characters, Concatenation, Group, Node, Repetition
from relens.language.utf8 import without_surrogates
from relens.query import Limits, Query

#: Readings that are kept, and nearest strings that are compared, at most.
_MOST_KEPT, _MOST_STRINGS = 4096, 256


@dataclass(frozen=True)
class Reading:
    """What was read off a text: the fields of the same names of `relens.traversal.results.Match`."""

    groups: dict[str, str | None] = field(default_factory=dict)
    edits: tuple[Edit, ...] = ()
    unedited: str | None = None


_NOTHING = Reading()


class Reader:
    """Reads the texts of a query's matches.

    Raises `LimitError` where reading the named groups would take too large a program. Only where there are any is the
    expression parsed here: the language may come from another process. Without named groups and without edits there is
    nothing to read, and it costs nothing.
    """

    def __init__(self, query: Query, language: Language, limits: Limits | None = None) -> None:
        self._groups: GroupReader | None = None
        if group_names(query.prefix, query.pattern):
            self._groups = GroupReader(query.prefix, query.pattern, limits)
        self._nearest: NearestStrings | None = None
        if query.edits and language.unedited is not None:
            self._nearest = NearestStrings(*language.unedited, query.edits)
        self._representatives = _representatives(self._groups.tree) if self._nearest and self._groups else []
        self._read = lru_cache(maxsize=_MOST_KEPT)(self._read_anew)

    @property
    def names(self) -> tuple[str, ...]:
        """The named groups, in the order in which they open."""
        return self._groups.names if self._groups else ()

    def read(self, text: str) -> Reading:
        """The reading of a text of the query's language; of another, every group is None."""
        if self._nearest is None and not self.names:
            return _NOTHING
        return self._read(text)

    def _read_anew(self, text: str) -> Reading:
        if self._nearest is None:
            return Reading(self._groups_of(text))
        nearest = self._nearest.find(text)
        if nearest is None:
            return Reading(dict.fromkeys(self.names))
        if not nearest.edits or not self.names:
            return Reading(self._groups_of(nearest.string), nearest.edits, nearest.string)
        strings = self._nearest.all(text, _MOST_STRINGS, self._representatives)
        readings = [self._groups_of(string) for string in strings or ()]
        groups = {name: _agreed({reading[name] for reading in readings}) for name in self.names}
        return Reading(groups, nearest.edits, nearest.string)

    def _groups_of(self, text: str) -> dict[str, str | None]:
        groups = self._groups.read(text) if self._groups else None
        return dict.fromkeys(self.names) if groups is None else groups


def _agreed(values: set[str | None]) -> str | None:
    """The one value; None where there are several, or none."""
    return next(iter(values)) if len(values) == 1 else None


def _representatives(tree: Node) -> list[str]:
    """Of the characters that every set in `tree` has, or has not, together, the first two; all in order."""
    members: dict[int, set[Ranges]] = {}  # where a set begins or ends
    for ranges in {without_surrogates(ranges) for ranges in _sets(tree)}:
        for low, high in ranges:
            members.setdefault(low, set()).add(ranges)
            members.setdefault(high + 1, set()).add(ranges)
    bounds = sorted(members)
    inside: set[Ranges] = set()
    by_membership: dict[frozenset[Ranges], list[str]] = {}
    for low, past in pairwise(bounds):
        inside ^= members[low]
        if inside:
            chosen = by_membership.setdefault(frozenset(inside), [])
            chosen += map(chr, range(low, min(past, low + 2 - len(chosen))))
    return sorted(character for chosen in by_membership.values() for character in chosen)


def _sets(node: Node) -> Iterator[Ranges]:
    """The sets of characters in `node`."""
    match node:
        case Characters(ranges=ranges):
            yield ranges
        case Concatenation(items=parts) | Alternation(branches=parts):
            for part in parts:
                yield from _sets(part)
        case Repetition(item=item) | Group(item=item):
            yield from _sets(item)
