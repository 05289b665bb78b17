r"""A byte automaton read a whole character at a time.

In the automaton of `[é€]` the character é is two arcs, by way of a state in the middle of a character:

    0 --C3--> 1 --A9--> 4        0 --E2--> 2 --82--> 3 --AC--> 4        "é" leads from 0 to 4, and so does "€"

Edits remove and write characters, never bytes. How many bytes a character has is known from its first, and an
automaton of UTF-8 text reads nothing but whole characters, so all the states that lie one character on are found by
following *sets* of states: all of Unicode in four steps.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from relens.language.automaton import ByteAutomaton

#: (first byte, last byte, bytes that follow) for the characters of one to four bytes.
_LEADS = ((0x00, 0x7F, 0), (0xC2, 0xDF, 1), (0xE0, 0xEF, 2), (0xF0, 0xF4, 3))
_FIRST_CONTINUATION, _LAST_CONTINUATION = 0x80, 0xBF


class CharacterSteps:
    """Steps of one character, from states at which a character may begin; what was looked up is kept."""

    def __init__(self, automaton: ByteAutomaton) -> None:
        self.automaton = automaton
        self.final: list[bool] = automaton.final.tolist()
        self._rows: dict[int, list[int]] = {}
        self._destinations: dict[int, frozenset[int]] = {}
        self._completions: dict[tuple[int, int], frozenset[int]] = {}

    def step(self, state: int, character: bytes) -> int:
        """The state after one character in UTF-8, or -1."""
        for byte in character:
            state = self._row(state)[byte]
            if state < 0:
                return -1
        return state

    def destinations(self, state: int) -> frozenset[int]:
        """The states that lie any one character on."""
        states = self._destinations.get(state)
        if states is None:
            row = self.automaton.transitions[state]
            states = frozenset(
                destination
                for first, last, following in _LEADS
                for middle in np.unique(row[first : last + 1]).tolist()
                if middle >= 0
                for destination in self._completed(middle, following)
            )
            self._destinations[state] = states
        return states

    def characters(self, state: int, targets: frozenset[int]) -> Iterator[bytes]:
        """The characters that lead from `state` to any of `targets`, in UTF-8 and in the order of their bytes."""
        row = self._row(state)
        for first, last, following in _LEADS:
            for lead in range(first, last + 1):
                if row[lead] >= 0:
                    for tail in self._tails(row[lead], following, targets):
                        yield bytes([lead]) + tail

    def _tails(self, middle: int, following: int, targets: frozenset[int]) -> Iterator[bytes]:
        # Whatever cannot lead to a target is left out at once, so nothing is searched in vain.
        if self._completed(middle, following).isdisjoint(targets):
            return
        if not following:
            yield b""
            return
        row = self._row(middle)
        for byte in range(_FIRST_CONTINUATION, _LAST_CONTINUATION + 1):
            if row[byte] >= 0:
                for tail in self._tails(row[byte], following - 1, targets):
                    yield bytes([byte]) + tail

    def _completed(self, middle: int, following: int) -> frozenset[int]:
        """The states after `following` more bytes of a character from the state `middle` inside it."""
        if not following:
            return frozenset((middle,))
        key = middle, following
        states = self._completions.get(key)
        if states is None:
            row = self.automaton.transitions[middle, _FIRST_CONTINUATION : _LAST_CONTINUATION + 1]
            states = frozenset(
                destination
                for further in np.unique(row).tolist()
                if further >= 0
                for destination in self._completed(further, following - 1)
            )
            self._completions[key] = states
        return states

    def _row(self, state: int) -> list[int]:
        """The row of a state as a list, which answers ten times faster than the array."""
        row = self._rows.get(state)
        if row is None:
            row = self._rows[state] = self.automaton.transitions[state].tolist()
        return row
