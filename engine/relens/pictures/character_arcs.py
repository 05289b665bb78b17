"""An automaton over bytes, shown as one over characters, as people read regular expressions.

The automaton of `[é-ë]x` has the states

    0 --C3--> 1 --A9..AB--> 2 --x--> 3

and state 1 should not be shown: it is inside a character. The first byte of a UTF-8 sequence says how many bytes
follow, and those are all from 80 to BF; no character begins with such a byte. So the states between characters are
exactly those without an arc from 80 to BF, and the arcs between them are

    0 --[é-ë]--> 2 --x--> 3

The characters behind an inner state are computed once, as ranges of the values of the remaining bytes, six bits each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

import numpy as np
import numpy.typing as npt

from relens.language.automaton import ByteAutomaton
from relens.language.characters import Ranges, normalise

#: Bytes that begin a character of 2, 3 or 4 bytes: first, last, how many follow, and the bits that they carry.
_LEADS = ((0xC2, 0xDF, 0x1F), (0xE0, 0xEF, 0x0F), (0xF0, 0xF4, 0x07))

#: low, high, target
Run = tuple[int, int, int]


class CharacterArcs:
    """The arcs between characters of an automaton over the UTF-8 of some language."""

    def __init__(self, automaton: ByteAutomaton) -> None:
        self._transitions = automaton.transitions
        self._is_inner: npt.NDArray[np.bool_] = np.any(automaton.transitions[:, 0x80:0xC0] >= 0, axis=1)
        self._behind: dict[int, tuple[int, list[Run]]] = {}

    @property
    def states(self) -> int:
        """The number of states between characters."""
        return int(np.count_nonzero(~self._is_inner))

    def leaving(self, state: int) -> dict[int, Ranges]:
        """Target state -> the characters that lead there from `state`, in the order of the first of them."""
        targets: dict[int, list[tuple[int, int]]] = {}
        for low, high, target in self._runs(state):
            targets.setdefault(target, []).append((low, high))
        return {target: normalise(ranges) for target, ranges in targets.items()}

    def _runs(self, state: int) -> Iterator[Run]:
        row = self._transitions[state]
        yield from _equal_runs(row[:0x80].tolist())
        for first, last, mask in _LEADS:
            for byte, target in enumerate(row[first : last + 1].tolist(), first):
                if target < 0:
                    continue
                places, runs = self._spelled_behind(target)
                base = (byte & mask) * places
                for low, high, end in runs:
                    yield base + low, base + high, end

    def _spelled_behind(self, state: int) -> tuple[int, list[Run]]:
        """The number of values of the bytes behind an inner state, and runs of these values with their ends."""
        known = self._behind.get(state)
        if known is not None:
            return known
        row = self._transitions[state, 0x80:0xC0].tolist()
        places = 1
        runs: list[Run] = []
        for low, high, target in _equal_runs(row):
            if not self._is_inner[target]:
                runs.append((low, high, target))
                continue
            places, behind = self._spelled_behind(target)
            runs += [
                (value * places + first, value * places + last, end)
                for value in range(low, high + 1)
                for first, last, end in behind
            ]
        answer = self._behind[state] = (64 * places, _joined(runs))
        return answer


def _equal_runs(targets: list[int]) -> Iterator[Run]:
    """The runs of equal targets, those of -1 left out."""
    place = 0
    for target, group in groupby(targets):
        length = sum(1 for _ in group)
        if target >= 0:
            yield place, place + length - 1, target
        place += length


def _joined(runs: Iterable[Run]) -> list[Run]:
    """Neighbouring runs with the same end as one."""
    joined: list[Run] = []
    for low, high, end in runs:
        if joined and joined[-1][2] == end and joined[-1][1] + 1 == low:
            joined[-1] = (joined[-1][0], high, end)
        else:
            joined.append((low, high, end))
    return joined
