r"""A syntax tree as a nondeterministic automaton over byte ranges (Ken Thompson, 1968).

`(a|bc)*` becomes, with ε for a step that reads nothing,

    0 --ε--> 1 --a--> 2 --ε--> 5 --ε--> 1            final: 1
             1 --b--> 3 --c--> 4 --ε--> 5

A fragment is built from a given entry state, adds no arc into that state, and returns its exit; so
literals are plain chains and the branches of an alternation may leave from one state. Counts are written out:
`x{2,4}` is xx(x(x)?)?. That is where a short text becomes a large automaton, so sizes are known before anything is
built: how many states it would take (`Construction` refuses more than it is given), and
how many any automaton for the language needs. A string without a repeated state is as long as the states allow: so the
shortest string bounds their number from below, and in a finite language the longest does.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from relens.language.characters import Ranges, normalise
from relens.language.tree import Alternation, Characters, Concatenation, Group, Node, Repetition
from relens.language.utf8 import ByteArcs, byte_states


class Lengths(NamedTuple):
    """Lengths in bytes of the shortest and the longest string of a language; longest is None where there is none."""

    shortest: int
    longest: int | None


def byte_lengths(node: Node, known: dict[int, Lengths | None] | None = None) -> Lengths | None:
    """The lengths of the strings of `node`, or None when there are no strings at all.

    known: the lengths of nodes by `id`, found before and added to here, so that to put the question of every node of a
    tree takes no longer than of its root.
    """
    known = {} if known is None else known
    if id(node) not in known:
        known[id(node)] = _byte_lengths(node, known)
    return known[id(node)]


def _byte_lengths(node: Node, known: dict[int, Lengths | None]) -> Lengths | None:
    match node:
        case Characters(ranges=ranges):
            widths = [bound - 1 for bound in _path_lengths(ranges)]
            return Lengths(min(widths), max(widths)) if widths else None
        case Concatenation(items=items):
            parts = [byte_lengths(item, known) for item in items]
            possible = [part for part in parts if part is not None]
            if len(possible) < len(parts):
                return None
            return Lengths(sum(part.shortest for part in possible), _total(part.longest for part in possible))
        case Alternation(branches=branches):
            possible = [part for branch in branches if (part := byte_lengths(branch, known)) is not None]
            if not possible:
                return None
            bounds = [part.longest for part in possible]
            longest = None if None in bounds else max(bound for bound in bounds if bound is not None)
            return Lengths(min(part.shortest for part in possible), longest)
        case Repetition(item=item, minimum=minimum, maximum=maximum):
            part = byte_lengths(item, known)
            if part is None or part.longest == 0 or maximum == 0:
                return Lengths(0, 0) if part is not None or minimum == 0 else None
            unbounded = maximum is None or part.longest is None
            return Lengths(part.shortest * minimum, None if unbounded else (part.longest or 0) * (maximum or 0))
        case Group(item=item):
            return byte_lengths(item, known)
    return Lengths(0, 0)


def states_needed(node: Node) -> int:
    """A number of states that no deterministic automaton for the language of `node` can do without."""
    lengths = byte_lengths(node)
    if lengths is None:
        return 1
    return 1 + (lengths.shortest if lengths.longest is None else lengths.longest)


def states_built(node: Node) -> int:
    """How many states `Construction.add` makes for `node`."""
    match node:
        case Characters(ranges=ranges):
            return len(byte_states(ranges)) - 1
        case Concatenation(items=items):
            return sum(map(states_built, items))
        case Alternation(branches=branches):
            return sum(map(states_built, _merged(branches))) + 1
        case Repetition():
            item, minimum, maximum = _flattened(node)
            copies = max(minimum, 1) if maximum is None else maximum
            return states_built(item) * copies + 1
        case Group(item=item):
            return states_built(item)
    return 0


class Construction:
    """A nondeterministic automaton while it is built, as parallel columns.

    Arc i goes from sources[i] to destinations[i] on the bytes lows[i] to highs[i]; silent arc i from
    silent_sources[i] to silent_destinations[i]. State 0 is the start.

    spelling: how one character out of a set is spelled, as a fragment in the form of `byte_states`; another one makes
    an automaton over something else than bytes.
    """

    def __init__(self, spelling: Callable[[Ranges], Sequence[ByteArcs]] = byte_states) -> None:
        self._spelling = spelling
        self.states = 1
        self.sources, self.destinations = array("i"), array("i")
        self.lows, self.highs = array("i"), array("i")
        self.silent_sources, self.silent_destinations = array("i"), array("i")

    def add(self, node: Node, entry: int) -> int:
        """Add arcs and states such that the paths from `entry` to the returned state spell the strings of `node`."""
        match node:
            case Characters(ranges=ranges):
                return self._characters(ranges, entry)
            case Concatenation(items=items):
                for item in items:
                    entry = self.add(item, entry)
                return entry
            case Alternation(branches=branches):
                exits = [self.add(branch, entry) for branch in _merged(branches)]
                end = self._new_state()
                for branch_end in exits:
                    self._silent(branch_end, end)
                return end
            case Repetition():
                return self._repetition(*_flattened(node), entry)
            case Group(item=item):
                return self.add(item, entry)
        return entry

    def _repetition(self, item: Node, minimum: int, maximum: int | None, entry: int) -> int:
        if maximum is None:
            for _ in range(minimum - 1):
                entry = self.add(item, entry)
            loop = self._new_state()
            self._silent(entry, loop)
            end = self.add(item, loop)
            self._silent(end, loop)
            return end if minimum else loop
        for _ in range(minimum):
            entry = self.add(item, entry)
        if maximum == minimum:
            return entry
        end = self._new_state()
        for _ in range(maximum - minimum):
            self._silent(entry, end)
            entry = self.add(item, entry)
        self._silent(entry, end)
        return end

    def _characters(self, ranges: Ranges, entry: int) -> int:
        fragment = self._spelling(ranges)
        numbers = [self._new_state() for _ in fragment[:-1]] + [entry]
        for number, arcs in zip(numbers, fragment, strict=True):
            for low, high, destination in arcs:
                self.sources.append(number)
                self.lows.append(low)
                self.highs.append(high)
                self.destinations.append(numbers[destination])
        return numbers[0]

    def _new_state(self) -> int:
        self.states += 1
        return self.states - 1

    def _silent(self, source: int, destination: int) -> None:
        self.silent_sources.append(source)
        self.silent_destinations.append(destination)


def _path_lengths(ranges: Ranges) -> list[int]:
    """One more than the byte lengths of the first and the last character of a set that UTF-8 can spell."""
    states = byte_states(ranges)
    if not states[-1]:
        return []
    lengths = []
    for arc in (0, -1):
        length, state = 1, len(states) - 1
        while states[state]:
            length, state = length + 1, states[state][arc][2]
        lengths.append(length)
    return lengths


def _total(lengths: Iterable[int | None]) -> int | None:
    total = 0
    for length in lengths:
        if length is None:
            return None
        total += length
    return total


def _merged(branches: tuple[Node, ...]) -> list[Node]:
    """The branches, with those that are single characters made one set: `[a-z]|_|-` is `[a-z_-]`."""
    single = [branch for branch in map(_without_group, branches) if isinstance(branch, Characters)]
    if len(single) < 2:
        return list(branches)
    ranges = normalise(pair for branch in single for pair in branch.ranges)
    others = [branch for branch in branches if not isinstance(_without_group(branch), Characters)]
    return [Characters(single[0].start, single[-1].end, ranges, 0), *others]


def _without_group(node: Node) -> Node:
    while isinstance(node, Group):
        node = node.item
    return node


def _flattened(node: Repetition) -> tuple[Node, int, int | None]:
    """The item and counts of a repetition, with `(x{0,a}){b,c}` read as the equal `x{0,a*c}`.

    Written out as it stands, `(x?){1000}` would have a silent path between any two of its thousand copies.
    """
    minimum, maximum = node.minimum, node.maximum
    item = _without_group(node.item)
    while isinstance(item, Repetition) and item.minimum == 0:
        minimum = 0
        if maximum == 0 or item.maximum == 0:
            maximum = 0
        else:
            maximum = None if maximum is None or item.maximum is None else maximum * item.maximum
        item = _without_group(item.item)
    return item, minimum, maximum
