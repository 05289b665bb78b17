r"""Ken Thompson's construction: every part of an expression becomes a small automaton with one way in and one way out.

    a        >0 --a--> 1>            one character: two states, one arc

    a|b      >0 --ε--> 1 --a--> 2 --ε--> 5>
              0 --ε--> 3 --b--> 4 --ε--> 5

    a*       >0 --ε--> 1 --a--> 2 --ε--> 3>      2 --ε--> 1 to go round again, 0 --ε--> 3 to pass by

    ab       the way out of a is the way in of b

`a+` is a* without the arc that passes by, `a?` without the one that goes round. Counts are written out: `a{2,4}` is
aaa?a?. Within a part no arc leads to its way in or leaves its way out, so any parts can be joined. (Thompson,
"Regular expression search algorithm", 1968; with concatenation as in Aho, Lam, Sethi and Ullman, section 3.7.) The
engine's construction leaves out needless silent arcs.
"""

from __future__ import annotations

from relens.errors import LimitError
from relens.language.characters import Ranges
from relens.language.tree import Alternation, Characters, Concatenation, Group, Node, Repetition
from relens.language.utf8 import without_surrogates
from relens.learn.automata import SILENT, Arc, CharacterAutomaton

#: The largest expression of a lesson, counts written out.
MOST_POSITIONS = 60


def positions(node: Node) -> int:
    """The characters, or empty places, of the expression with its counts written out; at least 1."""
    match node:
        case Concatenation(items=items):
            return max(1, sum(map(positions, items)))
        case Alternation(branches=branches):
            return sum(map(positions, branches))
        case Repetition(item=item, minimum=minimum, maximum=maximum):
            return positions(item) * max(1, minimum if maximum is None else maximum)
        case Group(item=item):
            return positions(item)
    return 1


def thompson(tree: Node) -> CharacterAutomaton:
    """The nondeterministic automaton of the expression; raises `LimitError` beyond `MOST_POSITIONS`."""
    size = positions(tree)
    if size > MOST_POSITIONS:
        written = f"{size:,}" if size < 10**12 else f"10^{len(str(size)) - 1}" if size < 10**4000 else "very many"
        raise LimitError(
            f"The pattern has {written} characters with its counts written out, and a lesson shows at most "
            f"{MOST_POSITIONS}.",
            limit="lesson_positions",
        )
    construction = _Construction()
    end = construction.add(tree, 0)
    return CharacterAutomaton(construction.states, frozenset([end]), tuple(construction.arcs))


class _Construction:
    """An automaton while it is built."""

    def __init__(self) -> None:
        self.states = 1
        self.arcs: list[Arc] = []

    def add(self, node: Node, entry: int) -> int:
        """Add the automaton of `node` with the way in `entry`; its way out."""
        match node:
            case Characters(ranges=ranges):
                return self._characters(without_surrogates(ranges), entry)
            case Concatenation(items=items):
                for item in items:
                    entry = self.add(item, entry)
                return entry
            case Alternation(branches=branches):
                ways_out = [self.add(branch, self._beyond(entry)) for branch in branches]
                return self._joined(ways_out)
            case Repetition():
                return self._repetition(node, entry)
            case Group(item=item):
                return self.add(item, entry)
        return entry

    def _characters(self, ranges: Ranges, entry: int) -> int:
        end = self._new_state()
        if ranges:  # of an empty set there is no arc, and so no way through
            self.arcs.append(Arc(entry, end, ranges))
        return end

    def _repetition(self, node: Repetition, entry: int) -> int:
        item, minimum, maximum = node.item, node.minimum, node.maximum
        if maximum is None:
            for _ in range(minimum - 1):
                entry = self.add(item, entry)
            begin = self._beyond(entry)
            end = self.add(item, begin)
            self._silent(end, begin)
            return self._joined([end] if minimum else [end, entry])
        for _ in range(minimum):
            entry = self.add(item, entry)
        for _ in range(maximum - minimum):
            end = self.add(item, self._beyond(entry))
            entry = self._joined([end, entry])
        return entry

    def _beyond(self, state: int) -> int:
        """A new state that a silent arc leads to from `state`."""
        self._silent(state, self._new_state())
        return self.states - 1

    def _joined(self, states: list[int]) -> int:
        """A new state that silent arcs lead to from all `states`."""
        end = self._new_state()
        for state in states:
            self._silent(state, end)
        return end

    def _new_state(self) -> int:
        self.states += 1
        return self.states - 1

    def _silent(self, source: int, target: int) -> None:
        self.arcs.append(Arc(source, target, SILENT))
