r"""What each part of a regular expression means, in words that a student reads.

`(?P<day>\d{1,2})|never` is explained as

    0:22  depth 0   one of 2 alternatives: (?P<day>\d{1,2}), never
    0:16  depth 1   group "day": one digit, 0 to 9 in any script, 1 to 2 times

Parts are given outermost first and in reading order, so that an indented list of them mirrors the nesting, and each
carries its place, so that a page can mark it in the source. A part whose own words say everything has no parts below.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from re import _constants  # type: ignore[attr-defined]
from typing import Any

from relens.language.characters import atom_items
from relens.language.syntax import parse_regex
from relens.language.tree import Alternation, Characters, Concatenation, Group, Marker, Node, Repetition
from relens.query import Limits
from relens.record import Record

_MOST_LISTED = 8
_NAMES = {" ": "a space", "\t": "a tab", "\n": "a line break", "\r": "a carriage return", "\xa0": "a no-break space"}
_CATEGORIES = {
    _constants.CATEGORY_DIGIT: "digit",
    _constants.CATEGORY_NOT_DIGIT: "no digit",
    _constants.CATEGORY_SPACE: "blank (space, tab, line break)",
    _constants.CATEGORY_NOT_SPACE: "no blank",
    _constants.CATEGORY_WORD: "letter, digit or underscore",
    _constants.CATEGORY_NOT_WORD: "no letter, digit or underscore",
}
_ESCAPES = {
    r"\d": "one digit, 0 to 9",
    r"\D": "one character that is not a digit",
    r"\s": "one blank: a space, a tab, a line break",
    r"\S": "one character that is not blank",
    r"\w": "one letter, digit or underscore",
    r"\W": "one character that is no letter, digit or underscore",
}
_CLASSES = {
    ((48, 57),): "one digit, 0 to 9",
    ((97, 122),): "one small letter, a to z",
    ((65, 90),): "one capital letter, A to Z",
    ((65, 90), (97, 122)): "one letter, a to z or A to Z",
}
_FLAGS = {
    "a": "classes such as \\w stay within ASCII",
    "i": "upper and lower case are the same",
    "m": "anchors may match at line breaks, which changes nothing here",
    "s": "the dot also matches line breaks",
    "u": "classes such as \\w cover every script",
    "x": "blanks and comments in the expression are skipped",
}


@dataclass(frozen=True)
class ExplainedPart(Record):
    """One part of an expression: `text` is `pattern[start:end]`, `depth` how deep it is nested, from 0."""

    start: int
    end: int
    depth: int
    text: str
    meaning: str


@dataclass(frozen=True)
class _Literal(Node):
    """Several characters in a row that each stand for themselves.

    ignore_case: whether that flag is in force; cased: whether it makes a difference to any of them.
    """

    text: str
    ignore_case: bool
    cased: bool


def explain(pattern: str, limits: Limits | None = None, part: str = "pattern") -> tuple[ExplainedPart, ...]:
    """The parts of `pattern`, outer before inner, in reading order. Raises what `parse_regex` raises."""
    root = parse_regex(pattern, limits, part)
    outline = _Outline(pattern)
    writer = _Writer(pattern, outline)
    return tuple(
        ExplainedPart(node.start, node.end, depth, pattern[node.start : node.end], writer.meaning(node))
        for top in outline.parts(root)
        for depth, node in outline.walk(top, 0)
    )


class _Outline:
    """Which nodes of a tree are parts that are explained.

    What is known of a node is kept, by its `id`: in `((((ab|cd)*)*)*)*` every level asks the same of all below it.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self._parts: dict[int, list[Node]] = {}
        self._below: dict[int, list[Node]] = {}

    def walk(self, node: Node, depth: int) -> Iterator[tuple[int, Node]]:
        yield depth, node
        for below in self.below(node):
            yield from self.walk(below, depth + 1)

    def below(self, node: Node) -> list[Node]:
        """The parts that need words of their own beside those of `node`."""
        if id(node) not in self._below:
            self._below[id(node)] = self._parts_below(node)
        return self._below[id(node)]

    def parts(self, node: Node) -> list[Node]:
        """The items of a concatenation, literals in a row taken together."""
        if id(node) not in self._parts:
            self._parts[id(node)] = self._joined(node)
        return self._parts[id(node)]

    def single(self, node: Node) -> Node:
        """`node`, or the literal that all of it is."""
        parts = self.parts(node)
        return parts[0] if len(parts) == 1 else node

    def bare(self, node: Node) -> Node:
        """`node` without parentheses that only hold it together, as a literal where it is one."""
        node = self.single(node)
        while isinstance(node, Group) and node.name is None and _is_plain(inner := self.single(node.item)):
            node = inner
        return node

    def _parts_below(self, node: Node) -> list[Node]:
        match node:
            case Group(item=item) | Repetition(item=item):
                return self.below(item)
            case Alternation(branches=branches):
                return [branch for branch in branches if not _is_plain(self.bare(branch))]
            case Concatenation():
                parts = self.parts(node)
                return parts if len(parts) > 1 else []
        return []

    def _joined(self, node: Node) -> list[Node]:
        items = node.items if isinstance(node, Concatenation) and node.items else (node,)
        literals = ((item, self._literal(item)) for item in items)
        parts: list[Node] = []
        for ignore_case, run in groupby(literals, lambda pair: None if pair[1] is None else pair[1].ignore_case):
            if ignore_case is None:
                parts += [item for item, _ in run]
            else:
                parts.append(_one_literal([literal for _, literal in run if literal is not None]))
        return parts

    def _literal(self, node: Node) -> _Literal | None:
        """A character that stands for itself, escaped or in brackets as it may be."""
        if not isinstance(node, Characters):
            return None
        ((operator, argument),) = atom_items(self.source[node.start : node.end])
        if operator is not _constants.LITERAL:
            return None
        ignore_case = bool(node.flags & re.IGNORECASE)
        cased = ignore_case and len(node.ranges) > 1
        return _Literal(node.start, node.end, chr(argument), ignore_case, cased)


def _one_literal(literals: Sequence[_Literal]) -> _Literal:
    first, last = literals[0], literals[-1]
    text = "".join(literal.text for literal in literals)
    return _Literal(first.start, last.end, text, first.ignore_case, any(literal.cased for literal in literals))


def _is_plain(node: Node) -> bool:
    """Whether the text of `node` is its own best explanation."""
    if isinstance(node, Concatenation):
        return not node.items
    return isinstance(node, _Literal) and not node.cased


class _Writer:
    """Finds the words."""

    def __init__(self, source: str, outline: _Outline) -> None:
        self.source = source
        self.outline = outline

    def meaning(self, node: Node) -> str:
        node = self.outline.single(node)
        match node:
            case _Literal(text=text, cased=cased):
                return _quoted(text) + (", in upper or lower case" if cased else "")
            case Characters():
                return self.characters(node)
            case Marker():
                return self.marker(node)
            case Repetition(item=item, lazy=lazy):
                times = _times(node) + (" (the ? behind it changes nothing here)" if lazy else "")
                if self.outline.below(item) or isinstance(item, Group):
                    return f"{times}: {self.meaning(item)}"
                return f"{self.meaning(item)}, {times}"
            case Group(item=item, number=number, name=name):
                return self.group_name(node, number, name) + self.meaning(item)
            case Alternation(branches=branches):
                listed = [self.branch(self.outline.bare(branch)) for branch in branches[:_MOST_LISTED]]
                if len(branches) > _MOST_LISTED:
                    listed.append(f"and {len(branches) - _MOST_LISTED:,} more")
                return f"one of {len(branches):,} alternatives: {', '.join(listed)}"
        parts = self.outline.parts(node)
        if isinstance(node, Concatenation) and node.items:
            return f"{len(parts)} parts, one after the other"
        return "nothing, the empty text"

    def group_name(self, node: Group, number: int | None, name: str | None) -> str:
        if name is not None:
            return f'group "{name}": '
        if number is not None:
            return f"group {number}: "
        opening = self.source[node.start + 2 : self.source.index(":", node.start)]
        added, _, removed = opening.partition("-")
        words = [_FLAGS[letter] for letter in added] + [f"not: {_FLAGS[letter]}" for letter in removed]
        return f"here {' and '.join(words)}: " if words else ""

    def branch(self, branch: Node) -> str:
        if isinstance(branch, _Literal):
            return branch.text if branch.text.isprintable() and branch.text.strip() else _quoted(branch.text)
        return self.source[branch.start : branch.end] or "nothing"

    def marker(self, node: Marker) -> str:
        if node.kind in ("start", "end"):
            return f"the {node.kind} of the text; a match is always the whole text, so this changes nothing"
        if node.kind == "comment":
            return "a comment, without effect"
        words = [_FLAGS[letter] for letter in self.source[node.start + 2 : node.end - 1]]
        return f"everywhere, {' and '.join(words)}"

    def characters(self, node: Characters) -> str:
        text = self.source[node.start : node.end]
        everywhere = "" if node.flags & re.ASCII else " in any script"
        case = ", in upper or lower case" if node.flags & re.IGNORECASE else ""
        if text == ".":
            return "any character" + ("" if node.flags & re.DOTALL else " but a line break")
        if text in _ESCAPES:
            return _ESCAPES[text] + (everywhere if text[1] in "dw" else "")
        items = _class_items(text)
        negated = items[0][0] is _constants.NEGATE or items[0][0] is _constants.NOT_LITERAL
        if not negated and node.ranges in _CLASSES:
            return _CLASSES[node.ranges]
        words = [self.class_item(kind, value, everywhere) for kind, value in items if kind is not _constants.NEGATE]
        if len(words) > _MOST_LISTED * 2:
            words = [*words[: _MOST_LISTED * 2], f"and {len(words) - _MOST_LISTED * 2:,} more"]
        return f"{'any character except' if negated else 'one of'} {', '.join(words)}{case}"

    def class_item(self, kind: Any, value: Any, everywhere: str) -> str:
        if kind is _constants.RANGE:
            return f"{_shown(chr(value[0]))} to {_shown(chr(value[1]))}"
        if kind is _constants.CATEGORY:
            return _CATEGORIES[value] + (everywhere if "blank" not in _CATEGORIES[value] else "")
        return _shown(chr(value))


def _class_items(text: str) -> list[tuple[Any, Any]]:
    """The items of a class, the sign of negation among them."""
    ((operator, argument),) = atom_items(text)
    return list(argument) if operator is _constants.IN else [(operator, argument)]


def _times(node: Repetition) -> str:
    least, most = node.minimum, node.maximum
    if most is None:
        return {0: "any number of times, or not at all", 1: "once or more"}.get(least, f"{least:,} times or more")
    if least == most:
        return {0: "never", 1: "once"}.get(least, f"{least:,} times")
    if least == 0:
        return "once or not at all" if most == 1 else f"up to {most:,} times, or not at all"
    return f"{least:,} to {most:,} times"


def _quoted(text: str) -> str:
    if len(text) == 1:
        return _NAMES.get(text) or (f'the character "{text}"' if text.isprintable() else _shown(text))
    return f'the text "{text}"' if text.isprintable() else f"the text {text!r}"


def _shown(character: str) -> str:
    if character in _NAMES:
        return _NAMES[character]
    return character if character.isprintable() else f"U+{ord(character):04X}"
