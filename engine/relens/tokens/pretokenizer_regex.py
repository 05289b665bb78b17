r"""The regular expressions by which pre-tokenizers cut a text, as a priority automaton over character sets.

GPT-2 cuts with an ordered alternation, tried again at every place where the last match ended:

    's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+

A backtracking engine prefers earlier alternatives and longer repetitions. That preference is an order of the
automaton's threads: `after(position)` lists what may come next, the preferred first. For ` ?\p{L}+`, after one letter,

    [another letter, match ends]

Only what such expressions are made of is read here: characters, classes, groups, alternation, greedy `? * + {m,n}`,
and one kind of look-ahead, `(?!class)` at the end of an alternative. Anything else raises `UnknownRegexError`, and the
caller falls back on asking the tokenizer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from relens.tokens.character_sets import Edges, literal_set, regex_set

#: The expression built into the ByteLevel pre-tokenizer (GPT-2).
BYTE_LEVEL_REGEX = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

#: Successors that are no positions: the match ends here; the match ends here if the look-ahead allows it.
MATCH = -1
MATCH_IF_AHEAD = -2

_CLASS = re.compile(r"\\[pP]\{\^?\w+\}|\\[sSdDwW]")
_COUNT = re.compile(r"\{(\d+)(,?)(\d*)\}")
_CONTROL = {"r": "\r", "n": "\n", "t": "\t", "f": "\f", "v": "\v"}


class UnknownRegexError(ValueError):
    """An expression with parts that are not understood here."""


@dataclass
class PriorityRegex:
    """Positions numbered from 0, each of which reads one character of `sets[position]`.

    first: where a match may begin, preferred first. after[position]: what may follow it, preferred first; MATCH and
    MATCH_IF_AHEAD stand for the end. refused_ahead: the characters that must not follow a MATCH_IF_AHEAD.
    """

    sets: list[Edges] = field(default_factory=list)
    first: list[int] = field(default_factory=list)
    after: list[list[int]] = field(default_factory=list)
    refused_ahead: Edges | None = None


@dataclass(frozen=True)
class _Node:
    """A part of the expression: one character of a set, parts in a row, alternatives, a repetition, the look-ahead."""

    kind: str
    parts: tuple[_Node, ...] = ()
    position: int = -1
    least: int = 0
    most: int | None = None


def parse_regex(source: str) -> PriorityRegex:
    """The priority automaton of `source`. Raises `UnknownRegexError`."""
    parser = _Parser(source)
    tree = parser.alternatives(ignore_case=False)
    if parser.at < len(source):
        raise UnknownRegexError(source)
    regex = parser.regex
    regex.after = [[] for _ in regex.sets]
    regex.first = _link(tree, [MATCH], regex)
    if MATCH in regex.first or MATCH_IF_AHEAD in regex.first:
        raise UnknownRegexError(f"{source} matches the empty text")
    return regex


class _Parser:
    """Recursive descent over the source; positions are given out as characters are met."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0
        self.regex = PriorityRegex()

    def alternatives(self, ignore_case: bool) -> _Node:
        branches = [self.sequence(ignore_case)]
        while self.source.startswith("|", self.at):
            self.at += 1
            branches.append(self.sequence(ignore_case))
        return branches[0] if len(branches) == 1 else _Node("alternatives", tuple(branches))

    def sequence(self, ignore_case: bool) -> _Node:
        parts: list[_Node] = []
        while self.at < len(self.source) and self.source[self.at] not in "|)":
            parts.append(self.repetition(ignore_case))
        return _Node("sequence", tuple(parts))

    def repetition(self, ignore_case: bool) -> _Node:
        begin = self.at
        part = self.atom(ignore_case)
        least: int
        most: int | None
        mark = self.source[self.at : self.at + 1]
        count = _COUNT.match(self.source, self.at)
        if mark and mark in "?*+":
            least, most = {"?": (0, 1), "*": (0, None), "+": (1, None)}[mark]
            self.at += 1
        elif count:
            least = int(count[1])
            most = (int(count[3]) if count[3] else None) if count[2] else least
            self.at = count.end()
        else:
            return part
        if self.source[self.at : self.at + 1] in ("?", "+", "*", "{") or part.kind == "ahead":
            raise UnknownRegexError(f"{self.source}: lazy or possessive repetition")
        # Every copy is parsed anew, so that each has positions of its own.
        end, copies = self.at, [part]
        for _ in range((most if most is not None else max(least, 1)) - 1):
            self.at = begin
            copies.append(self.atom(ignore_case))
        self.at = end
        return _Node("repeat", tuple(copies), least=least, most=most)

    def atom(self, ignore_case: bool) -> _Node:
        source, at = self.source, self.at
        if source.startswith("(?!", at):
            self.at += 3
            refused = self.atom(ignore_case)
            if (
                refused.kind != "character"
                or not source.startswith(")", self.at)
                or self.regex.refused_ahead is not None
            ):
                raise UnknownRegexError(f"{source}: look-ahead")
            self.at += 1
            self.regex.refused_ahead = self.regex.sets.pop(refused.position)
            return _Node("ahead")
        for opening, folded in (("(?i:", True), ("(?:", ignore_case), ("(", ignore_case)):
            if source.startswith(opening, at):
                self.at += len(opening)
                if source.startswith("?", self.at):
                    break
                inner = self.alternatives(folded)
                if not source.startswith(")", self.at):
                    raise UnknownRegexError(f"{source}: unbalanced")
                self.at += 1
                return inner
        return self.character(ignore_case)

    def character(self, ignore_case: bool) -> _Node:
        source, at = self.source, self.at
        named = _CLASS.match(source, at)
        if named:
            self.at = named.end()
            return self.named_set(named[0])
        if source[at] == "[":
            self.at = _class_end(source, at)
            text = source[at : self.at]
            return self.named_set(f"(?i:{text})" if ignore_case else text)
        if source[at] == "\\":
            letter = source[at + 1 : at + 2]
            if letter not in _CONTROL and (not letter or letter.isalnum()):
                raise UnknownRegexError(f"{source}: escape")
            self.at += 2
            return self.position(literal_set(_CONTROL.get(letter, letter), ignore_case))
        if source[at] in "(.^$*+?{":
            raise UnknownRegexError(f"{source}: {source[at]}")
        self.at += 1
        return self.position(literal_set(source[at], ignore_case))

    def named_set(self, text: str) -> _Node:
        try:
            return self.position(regex_set(text))
        except Exception as error:  # the library raises bare Exception
            raise UnknownRegexError(f"{self.source}: {error}") from None

    def position(self, characters: Edges) -> _Node:
        self.regex.sets.append(characters)
        return _Node("character", position=len(self.regex.sets) - 1)


def _class_end(source: str, at: int) -> int:
    """Where the bracketed class that opens at `at` is over; classes may be nested."""
    depth, here = 0, at
    while here < len(source):
        if source[here] == "\\":
            here += 1
        elif source[here] == "[":
            depth += 1
        elif source[here] == "]":
            depth -= 1
            if depth == 0:
                return here + 1
        here += 1
    raise UnknownRegexError(f"{source}: unbalanced")


def _link(node: _Node, then: list[int], regex: PriorityRegex) -> list[int]:
    """Fill in `after` for the positions of `node`, given what comes `then`; what the node may begin with."""
    if node.kind == "character":
        regex.after[node.position] = _extend(regex.after[node.position], then)
        return [node.position]
    if node.kind == "sequence":
        for part in reversed(node.parts):
            then = _link(part, then, regex)
        return then
    if node.kind == "alternatives":
        return _extend([], [begin for part in node.parts for begin in _link(part, then, regex)])
    if node.kind == "ahead":
        if then != [MATCH]:
            raise UnknownRegexError("look-ahead that does not end an alternative")
        return [MATCH_IF_AHEAD]
    return _link_repeat(node, then, regex)


def _link_repeat(node: _Node, then: list[int], regex: PriorityRegex) -> list[int]:
    """Copies in a row; those beyond the least may be skipped, and the last one loops where there is no most."""
    copies = list(node.parts)
    if node.most == 0:
        return then
    begin = then
    for index in range(len(copies) - 1, -1, -1):
        is_loop = node.most is None and index == len(copies) - 1
        if is_loop:
            starts = _link(copies[index], [], regex)  # where the loop begins again is known only now
            begin = _link(copies[index], _extend(list(starts), begin), regex)
        else:
            begin = _link(copies[index], begin, regex)
        if index >= node.least:
            begin = _extend(list(begin), then)
    return begin


def _extend(order: list[int], more: list[int]) -> list[int]:
    """`order` with what is new of `more` behind it."""
    return [*order, *(item for item in dict.fromkeys(more) if item not in order)]
