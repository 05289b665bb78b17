"""All token arcs of a small automaton in a list, to count paths and to find one through an arc.

all encodings of `ab`:    0 --a--> 1 --b--> 2,  0 --ab--> 2        2 encodings; through 1 --b--> 2 goes "ab"
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from relens.learn.drawing import TokenArc
from relens.tokens.automaton import TokenAutomaton
from relens.tokens.tokenizer import Tokenizer

#: Most token arcs of a list.
MOST_TOKEN_ARCS = 60_000


@dataclass(frozen=True)
class ListedArcs:
    """All token arcs of an automaton breadth first, its final states, and its number of states."""

    arcs: tuple[TokenArc, ...]
    finals: frozenset[int]
    states: int
    start: int = 0

    @classmethod
    def of(cls, automaton: TokenAutomaton) -> ListedArcs | None:
        """The arcs of an automaton from its start; None where there are too many."""
        seen, waiting, arcs = {automaton.start}, [automaton.start], list[TokenArc]()
        for state in waiting:  # which grows meanwhile
            tokens = automaton.arcs(state).tokens.tolist()
            if len(arcs) + len(tokens) > MOST_TOKEN_ARCS:
                return None
            for token, target in zip(tokens, automaton.destinations(state).tolist(), strict=True):
                arcs.append((state, token, target))
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
        return cls(
            tuple(arcs), frozenset(state for state in seen if automaton.is_final(state)), len(seen), automaton.start
        )

    def encodings(self) -> int | None:
        """The number of paths to a final state; None for infinitely many."""
        leaving = self.by_source()
        counts: dict[int, int | None] = {}
        # Depth first. None while a state is being counted: an arc back to it closes a cycle.
        waiting = [self.start]
        while waiting:
            state = waiting[-1]
            if counts.get(state) is not None:
                waiting.pop()
                continue
            targets = [target for _, target in leaving.get(state, [])]
            unknown = [target for target in targets if counts.get(target) is None]
            if any(target in counts for target in unknown):
                return None
            counts[state] = None
            if unknown:
                waiting.append(unknown[0])
                continue
            counts[state] = (state in self.finals) + sum(counts[target] or 0 for target in targets)
            waiting.pop()
        return counts[self.start]

    @property
    def numbers(self) -> int:
        """One more than the greatest number of a state."""
        return 1 + max((max(source, target) for source, _, target in self.arcs), default=0)

    def renumbered(self) -> ListedArcs:
        """The same with states numbered as they are met, the start 0."""
        order = {self.start: 0}
        for source, _, target in self.arcs:  # which are breadth first
            order.setdefault(source, len(order))
            order.setdefault(target, len(order))
        arcs = tuple((order[source], token, order[target]) for source, token, target in self.arcs)
        return ListedArcs(arcs, frozenset(order[state] for state in self.finals), self.states)

    def by_source(self) -> dict[int, list[tuple[int, int]]]:
        """(token, target) of the arcs of each state."""
        leaving: dict[int, list[tuple[int, int]]] = {}
        for source, token, target in self.arcs:
            leaving.setdefault(source, []).append((token, target))
        return leaving


class Examples:
    """For each arc an encoding of fewest tokens through it, as its text."""

    def __init__(self, listed: ListedArcs, tokenizer: Tokenizer) -> None:
        self._spelled = [data or b"" for data in tokenizer.vocabulary.token_bytes]
        forward = _nearest([listed.start], listed.arcs)
        backward = _nearest(sorted(listed.finals), [(target, token, source) for source, token, target in listed.arcs])
        self._before, self._after = forward, backward

    def through(self, arc: TokenArc) -> tuple[str, int, int]:
        """The text, and the begin and end of the arc's token in its bytes."""
        source, token, target = arc
        before: list[bytes] = []
        while (step := self._before[source]) is not None:
            source, read = step
            before.append(self._spelled[read])
        after: list[bytes] = []
        while (step := self._after[target]) is not None:
            target, read = step
            after.append(self._spelled[read])
        head, middle = b"".join(reversed(before)), self._spelled[token]
        text = (head + middle + b"".join(after)).decode("utf-8", "replace")
        return text, len(head), len(head) + len(middle)


def _nearest(goals: Sequence[int], arcs: Sequence[TokenArc]) -> dict[int, tuple[int, int] | None]:
    """For each state, by breadth-first search from `goals`, the state one token nearer to them and that token."""
    leaving: dict[int, list[tuple[int, int]]] = {}
    for source, token, target in arcs:
        leaving.setdefault(source, []).append((token, target))
    steps: dict[int, tuple[int, int] | None] = dict.fromkeys(goals)
    waiting = list(goals)
    for state in waiting:  # which grows meanwhile
        for token, target in leaving.get(state, []):
            if target not in steps:
                steps[target] = state, token
                waiting.append(target)
    return steps
