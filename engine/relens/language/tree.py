"""The parts that a regular expression is made of.

`a(b|c)*` is a concatenation of the characters `a` and a repetition of a group with an alternation of `b` and `c`. Each
node knows its place in the source, for errors and explanations. There are few kinds, because most of the
syntax is spelling: `a+` is a repetition of once or more, `[a-c]`, `\\d` and `x` are all one character out of a set.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from relens.language.characters import Ranges


@dataclass(frozen=True)
class Node:
    """A part of an expression: `source[start:end]`."""

    start: int
    end: int


@dataclass(frozen=True)
class Characters(Node):
    """One character out of a set: a literal, an escape, `.` or a class. flags: the `re` flags in force there."""

    ranges: Ranges
    flags: int


@dataclass(frozen=True)
class Concatenation(Node):
    """One after the other; of no items, the empty string."""

    items: tuple[Node, ...]


@dataclass(frozen=True)
class Alternation(Node):
    """One of at least two branches."""

    branches: tuple[Node, ...]


@dataclass(frozen=True)
class Repetition(Node):
    """`item` again and again, `minimum` to `maximum` times (None: without bound). Laziness changes no language."""

    item: Node
    minimum: int
    maximum: int | None
    lazy: bool


@dataclass(frozen=True)
class Group(Node):
    """Parentheses; number is None where they do not capture, name where they have none."""

    item: Node
    number: int | None
    name: str | None


@dataclass(frozen=True)
class Marker(Node):
    """A part that spells nothing: an outer anchor, flags for the whole expression, or a comment."""

    kind: Literal["start", "end", "flags", "comment"]


def matches_empty(node: Node) -> bool:
    """Whether the empty string is one of those that the node stands for; takes time linear in the expression."""
    if isinstance(node, Characters):
        return False
    if isinstance(node, Concatenation):
        return all(map(matches_empty, node.items))
    if isinstance(node, Alternation):
        return any(map(matches_empty, node.branches))
    if isinstance(node, Repetition):
        return node.minimum == 0 or matches_empty(node.item)
    return matches_empty(node.item) if isinstance(node, Group) else True
