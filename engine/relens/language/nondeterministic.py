"""A nondeterministic automaton over bytes that is run as it is, for languages too large to determinize.

`[ab]*a[ab]{30}` takes 2^31 deterministic states and 32 nondeterministic ones. To check whether one string belongs to
it, it is enough to follow the set of states that the string can be in, byte after byte. Such a set is a state of the
deterministic automaton; only the sets that are reached are made, and they are remembered for the next string (Ken
Thompson, 1968; RE2 does the same).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
States = frozenset[int]

#: States of all remembered sets together, at most (some 60 bytes each).
_MOST_REMEMBERED = 500_000
_NOWHERE: States = frozenset()


@dataclass(frozen=True, eq=False)
class NondeterministicAutomaton:
    """Arc i goes from sources[i] to destinations[i] on the bytes lows[i] to highs[i]; there are no silent arcs.

    State 0 is the start; final: (states,) bool. All columns (arcs,) int64.
    """

    sources: Integers
    lows: Integers
    highs: Integers
    destinations: Integers
    final: npt.NDArray[np.bool_]

    def accepts(self, text: str | bytes) -> bool:
        """Whether the whole of `text` belongs to the language.

        O(length x arcs) at worst, and O(length) where the sets of states that it leads to were seen before. Text that
        is not valid Unicode never belongs.
        """
        try:
            data = text.encode() if isinstance(text, str) else text
        except UnicodeEncodeError:
            return False
        sets = self.sets
        states = sets.start
        for byte in data:
            states = sets.step(states, byte)
            if not states:
                return False
        return sets.is_final(states)

    @cached_property
    def sets(self) -> StateSets:
        """The sets of states, to be followed byte by byte."""
        return StateSets(self)


class StateSets:
    """The deterministic states of a nondeterministic automaton, made when they are reached.

    work: arcs looked at so far, which is what following costs.
    """

    start: States = frozenset([0])

    def __init__(self, automaton: NondeterministicAutomaton) -> None:
        self.work = 0
        order = np.argsort(automaton.sources, kind="stable")
        columns = (automaton.lows, automaton.highs, automaton.destinations)
        self._arcs = list(zip(*(column[order].tolist() for column in columns), strict=True))
        self._first = np.searchsorted(automaton.sources[order], np.arange(len(automaton.final) + 1)).tolist()
        self._final = frozenset(np.flatnonzero(automaton.final).tolist())
        #: The first byte of each class of bytes that the arcs do not tell apart.
        self.first_bytes: npt.NDArray[np.int64] = np.union1d(
            [0], np.setdiff1d(np.concatenate([automaton.lows, automaton.highs + 1]), [256])
        ).astype(np.int64)
        self._class_of_byte = np.searchsorted(self.first_bytes, np.arange(256), side="right").tolist()
        self._steps: dict[tuple[States, int], States] = {}
        self._remembered = 0

    def step(self, states: States, byte: int) -> States:
        """The states that `byte` leads to from any of `states`; none of them where it cannot be read."""
        key = states, self._class_of_byte[byte]
        known = self._steps.get(key)
        if known is not None:
            return known
        following: set[int] = set()
        for state in states:
            begin, end = self._first[state], self._first[state + 1]
            self.work += end - begin
            following.update(to for low, high, to in self._arcs[begin:end] if low <= byte <= high)
        reached = frozenset(following) if following else _NOWHERE
        if self._remembered > _MOST_REMEMBERED:
            self._steps, self._remembered = {}, 0
        self._steps[key] = reached
        self._remembered += len(reached) + 1
        return reached

    def is_final(self, states: States) -> bool:
        """Whether what was read is a string of the language."""
        return not states.isdisjoint(self._final)
