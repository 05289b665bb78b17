r"""What the named groups of a regular expression hold in a given text.

`The (?P<subject>man|woman) was (?P<verb>\w+)` tells of every string of its language who did what. An automaton cannot
say so, because it forgets the way on which it came to a state. So the expression is read once more, as a program:

    split 1 2     try 1 first, and 2 should that fail          literal "man"     read exactly this
    save 0        group 0 begins (or ends) here                set a-z           read one character of a set

which is run on the text, depth first, in the order of `re`: the branches of an alternation from left to right, one more
repetition before none (lazy: none before one more). The first way to the end of both is the answer. To go back
to an instruction at a position where it failed before is to fail again, so it is done only once, and what takes `re`
exponential time, as `(a*)*b` can, takes (size of the program x length of the text) here: Russ Cox's bit-state search,
"Regular Expression Matching: the Virtual Machine Approach", as in RE2. As in `construction.py`, counts are written out.

Whether a text matches at all is the same search without groups. A form, which has to answer at once, asks for that with
fewer steps (`fully_matches`), and where these do not do the question is left open.

One thing more has to be known to mean the same as `re`: whether a repetition that just ended read anything. One that
read nothing ends its loop, so that `(?P<x>a|)*` on "a" holds "" in the end. Loops may be nested, and whoever has read
something since the inner one began has done so since the outer one began; so it is enough to know for how many of the
loops around it, counted from the outermost, that is so. This `level` is part of where a search is.
"""

from __future__ import annotations

import bisect
from typing import Literal, NamedTuple

from relens.errors import LimitError
from relens.language.construction import Lengths, byte_lengths
from relens.language.syntax import parse_regex
from relens.language.tree import Alternation, Characters, Concatenation, Group, Node, Repetition
from relens.query import Limits

#: A program may have so many times more instructions than an automaton may have states, as any construction may.
WORKING_INSTRUCTIONS = 10
#: Steps that are taken for one text, at most (a second or two); hundreds are usual.
MOST_STEPS = 2_000_000
#: Where the answer is for a form, some tenths of a second.
QUICK_INSTRUCTIONS, QUICK_STEPS = 20_000, 100_000


class GroupReader:
    """The named groups of the expression `prefix` followed by `pattern`.

    names: of the groups in the order in which they open. Without any, no program is made. Raises `RegexError` for an
    expression that `parse_regex` refuses, and `LimitError` where the program would be too large; expressions whose
    automaton is within the limits practically never are (nested counts around a named group may be).
    """

    def __init__(self, prefix: str, pattern: str, limits: Limits | None = None) -> None:
        limits = limits or Limits()
        trees = parse_regex(prefix, limits, "prefix"), parse_regex(pattern, limits, "pattern")
        self.tree = Concatenation(0, 0, trees)
        named, holders = _named_groups(self.tree)
        self.names = tuple(named)
        self._program: _Program | None = None
        if self.names:
            self._program = _Program(self.tree, self.names, holders, limits.automaton_states * WORKING_INSTRUCTIONS)

    def read(self, text: str) -> dict[str, str | None] | None:
        """What each group holds when `re.fullmatch` reads `text`: the last thing it matched, "" where it took no part.

        None where the text does not match. Every value is None where it takes more than `MOST_STEPS` steps to tell.
        Without named groups, {} for any text.
        """
        if self._program is None:
            return {}
        try:
            slots = self._program.run(text, MOST_STEPS)
        except _TooManyStepsError:
            return dict.fromkeys(self.names)
        return None if slots is None else _contents(text, self.names, slots)


def fully_matches(tree: Node, text: str, most_steps: int = QUICK_STEPS) -> bool | None:
    """Whether the whole of `text` matches (`re.fullmatch`).

    None where that takes more than `most_steps`, or a program of more than `QUICK_INSTRUCTIONS`.
    """
    try:
        return _Program(tree, (), set(), QUICK_INSTRUCTIONS).run(text, most_steps) is not None
    except (LimitError, _TooManyStepsError):
        return None


class _TooManyStepsError(Exception):
    """A search that was given up: neither a match nor its absence is known."""


class _Instruction(NamedTuple):
    """One instruction; depth is the number of loops around it that might read nothing.

    literal: go on to `following` if the text goes on with `literal`. set: or if the next character is within `bounds`.
    save: note the position in `slot`. split: try each of `targets`. loop: a repetition begins, of the loop at this
    depth. again: it has ended; go on to targets[0] if it has read something, else to targets[1].
    """

    kind: Literal["match", "literal", "set", "save", "split", "loop", "again"]
    depth: int
    following: int = 0
    literal: str = ""
    bounds: tuple[int, ...] = ()
    slot: int = 0
    targets: tuple[int, ...] = ()


class _Program:
    """The instructions of an expression, each made after those that follow it.

    holders: the `id` of every node with a named group in it.
    """

    def __init__(self, tree: Node, names: tuple[str, ...], holders: set[int], most: int) -> None:
        self._holders = holders
        self._known_lengths: dict[int, Lengths | None] = {}
        self._instructions = [_Instruction("match", 0)]
        self._slots = {name: 2 * place for place, name in enumerate(names)}
        self._most = most
        self._depths = 1
        self._start = self._add(tree, 0, 0)

    def _emit(self, instruction: _Instruction) -> int:
        if len(self._instructions) >= self._most:
            raise LimitError(
                f"To read the named groups takes more than {self._most:,} instructions; "
                f"make the counts around them smaller, or name fewer groups.",
                limit="automaton_states",
            )
        self._instructions.append(instruction)
        self._depths = max(self._depths, instruction.depth + 1)
        return len(self._instructions) - 1

    def _add(self, node: Node, following: int, depth: int) -> int:
        """Instructions for `node` and then `following`; where they begin."""
        match node:
            case Characters(ranges=ranges):
                bounds = tuple(bound for low, high in ranges for bound in (low, high + 1))
                return self._emit(_Instruction("set", depth, following, bounds=bounds))
            case Concatenation(items=items):
                return self._concatenation(items, following, depth)
            case Alternation(branches=branches):
                end = self._emit(_Instruction("split", depth, targets=(following,)))
                begin, *earlier = [self._add(branch, end, depth) for branch in reversed(branches)]
                for branch in earlier:  # two at a time, so that what waits to be tried grows with the steps alone
                    begin = self._emit(_Instruction("split", depth, targets=(branch, begin)))
                return begin
            case Repetition():
                return self._repetition(self._flattened(node), following, depth)
            case Group(item=item, name=name):
                if name not in self._slots:
                    return self._add(item, following, depth)
                end = self._emit(_Instruction("save", depth, following, slot=self._slots[name] + 1))
                begin = self._add(item, end, depth)
                return self._emit(_Instruction("save", depth, begin, slot=self._slots[name]))
        return following

    def _concatenation(self, items: tuple[Node, ...], following: int, depth: int) -> int:
        literal: list[str] = []
        for item in (*reversed(items), None):
            if isinstance(item, Characters) and len(item.ranges) == 1 and item.ranges[0][0] == item.ranges[0][1]:
                literal.append(chr(item.ranges[0][0]))
                continue
            if literal:
                text = "".join(reversed(literal))
                following = self._emit(_Instruction("literal", depth, following, literal=text))
                literal = []
            if item is not None:
                following = self._add(item, following, depth)
        return following

    def _repetition(self, node: Repetition, following: int, depth: int) -> int:
        lengths = byte_lengths(node.item, self._known_lengths)
        minimum, maximum = node.minimum, node.maximum
        if lengths is not None and lengths.longest == 0:  # to read nothing twice is to read it once
            minimum, maximum = min(minimum, 1), 1 if maximum is None else min(maximum, 1)
        if maximum == 0:
            return following
        # Only a repetition that might read nothing needs to know whether it did.
        may_be_empty = lengths is not None and lengths.shortest == 0
        begin = following
        if maximum is None:
            begin = self._emit(_Instruction("split", depth))
            self._instructions[begin] = self._optional(node, begin, following, depth, may_be_empty)
        else:
            for _ in range(maximum - minimum):
                begin = self._emit(self._optional(node, begin, following, depth, may_be_empty))
        for _ in range(minimum):
            begin = self._add(node.item, begin, depth)
        return begin

    def _optional(self, node: Repetition, again: int, following: int, depth: int, may_be_empty: bool) -> _Instruction:
        """The choice between one more repetition, and then `again`, and `following`."""
        if may_be_empty:
            end = self._emit(_Instruction("again", depth + 1, targets=(again, following)))
            once = self._emit(_Instruction("loop", depth + 1, self._add(node.item, end, depth + 1)))
        else:
            once = self._add(node.item, again, depth)
        return _Instruction("split", depth, targets=(following, once) if node.lazy else (once, following))

    def _flattened(self, node: Repetition) -> Repetition:
        """The repetition with `(x{0,1000})*` read as the equal `x*`, which spares a thousand copies.

        Only where what is tried, and what groups hold, stays the same: both are greedy or both are lazy, one has no
        upper bound, and no named group tells them apart.
        """
        item = _without_unnamed_group(node.item)
        while (
            isinstance(item, Repetition)
            and item.minimum == 0
            and item.lazy == node.lazy
            and item.maximum != 0
            and node.maximum != 0
            and None in (item.maximum, node.maximum)
            and (id(item) not in self._holders or self._reads_something(item.item))
        ):
            node = Repetition(node.start, node.end, item.item, 0, None, node.lazy)
            item = _without_unnamed_group(node.item)
        return node

    def _reads_something(self, node: Node) -> bool:
        lengths = byte_lengths(node, self._known_lengths)
        return lengths is None or lengths.shortest > 0

    def run(self, text: str, most_steps: int) -> list[int] | None:
        """The first way through the program that reads the whole of `text`: where each slot was last saved, or -1.

        None where there is no such way. Raises `_TooManyStepsError`.
        """
        instructions, end, depths = self._instructions, len(text), self._depths
        slots = [-1] * (2 * len(self._slots))
        visited: set[int] = set()
        # Entries are places to try, (instruction, position, level), or ~slot and what to restore it to.
        waiting = [(self._start, 0, 0)]
        steps = 0
        while waiting:
            place, position, level = waiting.pop()
            if place < 0:
                slots[~place] = position
                continue
            while steps < most_steps:
                steps += 1
                at = place
                kind, depth, following, literal, bounds, slot, targets = instructions[at]
                place = following
                if kind == "literal":
                    if not text.startswith(literal, position):
                        break
                    position, level = position + len(literal), depth
                elif kind == "set":
                    if position == end or bisect.bisect_right(bounds, ord(text[position])) % 2 == 0:
                        break
                    position, level = position + 1, depth
                elif kind == "save":
                    waiting.append((~slot, slots[slot], 0))
                    slots[slot] = position
                elif kind == "loop":
                    level = min(level, depth - 1)
                elif kind == "match":
                    if position == end:
                        return slots
                    break
                else:
                    level = min(level, depth)
                    key = (at * (end + 1) + position) * depths + level
                    if key in visited:
                        break
                    visited.add(key)
                    if kind == "again":
                        place = targets[0] if level == depth else targets[1]
                    else:
                        place = targets[0]
                        waiting += [(target, position, level) for target in targets[:0:-1]]
            else:
                raise _TooManyStepsError
        return None


def _contents(text: str, names: tuple[str, ...], slots: list[int]) -> dict[str, str | None]:
    return {
        name: text[slots[2 * place] : slots[2 * place + 1]] if slots[2 * place + 1] >= 0 else ""
        for place, name in enumerate(names)
    }


def _without_unnamed_group(node: Node) -> Node:
    while isinstance(node, Group) and node.name is None:
        node = node.item
    return node


def _named_groups(tree: Node) -> tuple[list[str], set[int]]:
    """The names of the groups as they open, and the `id` of every node that has one of them in it."""
    names: list[str] = []
    holders: set[int] = set()

    def look(node: Node) -> None:
        before = len(names)
        match node:
            case Concatenation(items=parts) | Alternation(branches=parts):
                for part in parts:
                    look(part)
            case Repetition(item=item) | Group(item=item):
                if isinstance(node, Group) and node.name is not None:
                    names.append(node.name)
                look(item)
        if len(names) > before:
            holders.add(id(node))

    look(tree)
    return names, holders
