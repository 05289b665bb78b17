r"""The text of a regular expression as a small tree whose every node knows its place in the source.

`(Jan|Feb) \d{1,2}` becomes

    Concatenation 0:17
      Group 0:9 ── Alternation 1:8 ── Concatenation 1:4 (J, a, n), Concatenation 5:8 (F, e, b)
      Characters 9:10  " "
      Repetition 10:17  1 to 2 times ── Characters 10:12  \d

Python's own parser (the private `re._parser`, one reason to keep this module thin) would give a tree too, but
one that has lost its places and that is already optimised. So the work is divided: Python's parser judges first
whether the expression is well formed, and in what words to complain; then a plain recursive descent, which may
now assume a valid expression, recovers the structure; and Python itself gives the meaning of a single character class
or escape (`characters.py`). A property test holds the result to `re.fullmatch`.

The meaning of an expression is the set of strings that `re.fullmatch` accepts. What would need more than an
automaton, or would depend on what stands around the match, is refused: look-around, back-references, conditionals,
atomic groups, possessive quantifiers, word boundaries. Anchors at the outer edges say what `fullmatch` says anyway and
mean nothing; anywhere else they are refused.
"""

from __future__ import annotations

import re
import warnings
from re import _parser  # type: ignore[attr-defined]
from typing import Literal, NoReturn

from relens.errors import LimitError, RegexError
from relens.language.characters import atom_ranges
from relens.language.tree import Alternation, Characters, Concatenation, Group, Marker, Node, Repetition
from relens.query import Limits

_NAMES_OF_PARTS = {"alphabet": "alphabet of the edits", "exclude": "expression to exclude"}

#: Groups inside groups, at most: deeper ones would outgrow Python's own stack.
DEEPEST_NESTING = 80

# Python warns whoever writes `[[` or `[a--b]` that a later version may read it in another way.
warnings.filterwarnings("ignore", message="Possible (nested set|set )", category=FutureWarning)


def parse_regex(source: str, limits: Limits | None = None, part: str = "pattern") -> Node:
    """The tree of `source`.

    part: "prefix", "pattern", "alphabet" or "exclude", for the message of an error. Raises `RegexError` for an
    expression that is malformed or not regular, with its position, and `LimitError` for one longer than
    `limits.regex_length`.
    """
    check_length(source, limits, part)
    flags = _judge(source, part)
    parser = _Parser(source, part)
    tree = parser.alternation(flags)
    if parser.has_anchors:
        _check_anchors(tree, source, part, _silent_nodes(tree), leading=True, trailing=True)
    return tree


def check_length(source: str, limits: Limits | None = None, part: str = "pattern") -> None:
    """Raise the `LimitError` of `parse_regex`, and look at nothing else."""
    longest = (limits or Limits()).regex_length
    if len(source) > longest:
        name = _NAMES_OF_PARTS.get(part, part)
        raise LimitError(
            f"The {name} has {len(source):,} characters, more than the limit of {longest:,}.", limit="regex_length"
        )


def _judge(source: str, part: str) -> int:
    """The flags of the whole expression, once Python has found it well formed."""
    depth = 0
    for bracket in _BRACKETS.finditer(source):
        depth += {"(": 1, ")": -1}.get(bracket.group(), 0)
        if depth > DEEPEST_NESTING:
            _refuse(f"Groups are nested more than {DEEPEST_NESTING} deep", source, bracket.start(), part)
    try:
        flags = int(_parser.parse(source).state.flags)
    except re.error as error:
        complaint = error.msg[:1].upper() + error.msg[1:]
        _refuse(complaint, source, error.pos, part)
    except RecursionError:
        _refuse("Groups are nested too deep", source, None, part)
    except (OverflowError, ValueError):  # a count beyond what `re`, or Python's own integers, take from a text
        _refuse("A number of repetitions is too large", source, _huge_count(source), part)
    if flags & _TEMPLATE:
        _refuse("The flag t is not supported", source, 0, part)
    return flags


def _huge_count(source: str) -> int | None:
    """Where the first quantifier stands that has a number of ten digits."""
    return next(
        (quantifier.start() for quantifier in _COUNTS.finditer(source) if max(map(len, quantifier.groups(""))) > 9),
        None,
    )


# Each of these takes time proportional to what it reads, whatever that is: where a repetition has to give back what it
# read, what follows it fails there at once; and no two tries begin within the same digits.

#: Escapes, classes and parentheses: all it takes to see how deep groups are nested.
_BRACKETS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*|[()]", re.DOTALL)
_COUNT = re.compile(r"\{(?:([0-9]+)|([0-9]*)(,)([0-9]*))\}")
_COUNTS = re.compile(r"\{([0-9]*+)(?:,([0-9]*+))?\}")
_CLASS = re.compile(r"\[\^?(?:\\.|[^\\])(?:\\.|[^\]\\])*\]", re.DOTALL)
_FLAGS = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])")
_ESCAPE = re.compile(
    r"\\(?:x..|u.{4}|U.{8}|N\{[^}]*\}|0[0-7]{0,2}|[1-3][0-7]{2}|(?P<reference>[1-9][0-9]?)|.)", re.DOTALL
)
_VERBOSE_GAP = re.compile(r"(?:[ \t\n\r\v\f]|#[^\n]*)+")
_SIMPLE_COUNTS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_TYPE_FLAGS = re.ASCII | re.UNICODE | re.LOCALE
_TEMPLATE = 1  # re.TEMPLATE, which Python 3.13 took away
_LETTERS = {"a": re.ASCII, "i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "u": re.UNICODE, "x": re.VERBOSE}

_LOOK_REASON = "looks at text outside its own place, which a language of whole strings has no meaning for"
_REFUSED_GROUPS = {
    "(?=": f"Look-ahead {_LOOK_REASON}",
    "(?!": f"Look-ahead {_LOOK_REASON}",
    "(?<=": f"Look-behind {_LOOK_REASON}",
    "(?<!": f"Look-behind {_LOOK_REASON}",
    "(?P=": "A back-reference needs a memory that an automaton has not",
    "(?(": "A condition on a group needs a memory that an automaton has not",
    "(?>": "An atomic group forbids going back, which an automaton never does, so it is not supported",
}


class _Parser:
    """Recursive descent over an expression that is known to be valid."""

    def __init__(self, source: str, part: str) -> None:
        self.source = source
        self.part = part
        self.position = 0
        self.captures = 0
        self.has_anchors = False

    def alternation(self, flags: int) -> Node:
        start = self.position
        branches = [self.concatenation(flags)]
        while self.source.startswith("|", self.position):
            self.position += 1
            branches.append(self.concatenation(flags))
        return branches[0] if len(branches) == 1 else Alternation(start, self.position, tuple(branches))

    def concatenation(self, flags: int) -> Node:
        start = self.position
        items: list[Node] = []
        while True:
            if flags & re.VERBOSE and (gap := _VERBOSE_GAP.match(self.source, self.position)):
                self.position = gap.end()
            character = self.source[self.position : self.position + 1]
            if character in ("", "|", ")"):
                break
            counts = self.counts()
            if counts is None:
                items.append(self.item(flags))
                continue
            while isinstance(items[-1], Marker):  # a comment between an item and its quantifier
                items.pop()
            items.append(self.repetition(items.pop(), *counts))
        if len(items) == 1:
            return items[0]
        return Concatenation(start, self.position, tuple(items))

    def counts(self) -> tuple[int, int | None] | None:
        """The quantifier at this place, read past, as its least and greatest count; None where there is none."""
        character = self.source[self.position]
        if character in _SIMPLE_COUNTS:
            self.position += 1
            return _SIMPLE_COUNTS[character]
        quantifier = _COUNT.match(self.source, self.position)
        if quantifier is None:
            return None
        self.position = quantifier.end()
        exactly, least, comma, most = quantifier.groups()
        if not comma:
            return int(exactly), int(exactly)
        return int(least or 0), int(most) if most else None

    def repetition(self, item: Node, minimum: int, maximum: int | None) -> Node:
        following = self.source[self.position : self.position + 1]
        if following == "+":
            reason = "A possessive quantifier forbids going back, which an automaton never does, so it is not supported"
            _refuse(reason, self.source, self.position, self.part)
        lazy = following == "?"
        self.position += lazy
        return Repetition(item.start, self.position, item, minimum, maximum, lazy)

    def item(self, flags: int) -> Node:
        start = self.position
        character = self.source[start]
        if character == "(":
            return self.group(flags)
        if character == "\\":
            return self.escape(flags)
        if character == "[":
            match = _CLASS.match(self.source, start)
            assert match is not None
            self.position = match.end()
        else:
            self.position += 1
            if character in "^$":
                return self.anchor(start, "start" if character == "^" else "end")
        return self.characters(start, flags)

    def anchor(self, start: int, kind: Literal["start", "end"]) -> Marker:
        self.has_anchors = True
        return Marker(start, self.position, kind)

    def characters(self, start: int, flags: int) -> Characters:
        return Characters(start, self.position, atom_ranges(self.source[start : self.position], flags), flags)

    def escape(self, flags: int) -> Node:
        start = self.position
        match = _ESCAPE.match(self.source, start)
        assert match is not None
        self.position = match.end()
        if match["reference"]:
            _refuse(_REFUSED_GROUPS["(?P="], self.source, start, self.part)
        letter = self.source[start + 1]
        if letter in "bB":
            _refuse(f"The word boundary \\{letter} {_LOOK_REASON}", self.source, start, self.part)
        if letter in "AZz":
            return self.anchor(start, "start" if letter == "A" else "end")
        return self.characters(start, flags)

    def group(self, flags: int) -> Node:
        start = self.position
        for opening, reason in _REFUSED_GROUPS.items():
            if self.source.startswith(opening, start):
                _refuse(reason, self.source, start, self.part)
        number, name = None, None
        if self.source.startswith("(?#", start):
            self.position = self.source.index(")", start) + 1
            return Marker(start, self.position, "comment")
        if self.source.startswith("(?P<", start):
            self.position = self.source.index(">", start) + 1
            name = self.source[start + 4 : self.position - 1]
        elif match := _FLAGS.match(self.source, start):
            self.position = match.end()
            if match[3] == ")":
                return Marker(start, self.position, "flags")  # already among the flags of the whole
            flags = _changed_flags(flags, match[1], match[2] or "")
        else:
            self.position += 1
        if name is not None or self.position == start + 1:
            self.captures += 1
            number = self.captures
        inner = self.alternation(flags)
        self.position += 1
        return Group(start, self.position, inner, number, name)


def _changed_flags(flags: int, added: str, removed: str) -> int:
    for letter in added:
        if _LETTERS[letter] & _TYPE_FLAGS:
            flags &= ~_TYPE_FLAGS
        flags |= _LETTERS[letter]
    for letter in removed:
        flags &= ~_LETTERS[letter]
    return flags


def _check_anchors(node: Node, source: str, part: str, silent: set[int], *, leading: bool, trailing: bool) -> None:
    """Refuse an anchor that is not at the edge it speaks of.

    silent: as of `_silent_nodes`. leading, trailing: whether nothing can come before, or after, this node in the whole
    string. In `(^a|b)c` the anchor leads; in `(^a)*` it may stand after another a, and in `x?^a` after an x.
    """
    match node:
        case Marker(kind=kind):
            if (kind == "start" and not leading) or (kind == "end" and not trailing):
                where = "before" if kind == "start" else "after"
                reason = f"An anchor is only supported at the very {kind}, and something can come {where} this one"
                _refuse(reason, source, node.start, part)
        case Concatenation(items=items):
            solid = [index for index, item in enumerate(items) if id(item) not in silent]
            first, last = (solid[0], solid[-1]) if solid else (len(items), -1)
            for index, item in enumerate(items):
                is_first, is_last = leading and index <= first, trailing and index >= last
                _check_anchors(item, source, part, silent, leading=is_first, trailing=is_last)
        case Alternation(branches=branches):
            for branch in branches:
                _check_anchors(branch, source, part, silent, leading=leading, trailing=trailing)
        case Repetition(item=item, maximum=maximum):
            once = maximum is not None and maximum <= 1
            _check_anchors(item, source, part, silent, leading=leading and once, trailing=trailing and once)
        case Group(item=item):
            _check_anchors(item, source, part, silent, leading=leading, trailing=trailing)


def _silent_nodes(tree: Node) -> set[int]:
    """The `id` of every node that spells nothing, as anchors, comments and groups of these do."""
    silent: set[int] = set()

    def is_silent(node: Node) -> bool:
        match node:
            case Marker():
                spells_nothing = True
            case Concatenation(items=parts) | Alternation(branches=parts):
                noted = [is_silent(part) for part in parts]  # of every part, before the first that is not ends it
                spells_nothing = all(noted)
            case Group(item=item) | Repetition(item=item):
                spells_nothing = is_silent(item)
            case _:
                spells_nothing = False
        if spells_nothing:
            silent.add(id(node))
        return spells_nothing

    is_silent(tree)
    return silent


def _refuse(reason: str, source: str, position: int | None, part: str) -> NoReturn:
    name = _NAMES_OF_PARTS.get(part, part)
    where = f"in the {name}" if position is None else f"at position {position} of the {name}"
    raise RegexError(f"{reason}, {where}.", source=source, position=position, part=part) from None
