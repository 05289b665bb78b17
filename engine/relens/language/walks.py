"""Counting the walks of an automaton, and drawing among them.

    a|b{1,3}:   0 --a--> 4        w = 4 at 0: a, b, bb, bbb        by strings: a is one of 4
                0 --b--> 1 --b--> 2 --b--> 3                       by edges: a is one of 2 ways on
                        w = 3     w = 2    w = 1    final: 1, 2, 3, 4

Who takes every way on with equal chance finds a half of the time, because the b that leads to three strings counts as
much as the a that leads to one. Weighing each arc by the accepting walks behind it makes every walk equally likely:
these weights are counted from the end, w(q) = [q is final] + sum of w over the arcs of q. A draw is then one random
number below w(0), and the walk of that number is found by dividing it up. Where a cycle makes the walks infinitely
many, they are counted up to a length, one row of the table for every number of arcs that may still follow.
Python's integers keep it exact, and parallel arcs are one with a multiplicity: 62,356 arcs of a URL become 35.

In a deterministic automaton over bytes a walk is a string; over tokens it is an encoding, and a string has many.
Source: Kuchnik, Smith, Amvrosiadis, "Validating Large Language Models with ReLM", section 3.3 and appendix C.
"""

from __future__ import annotations

import bisect
import random
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from relens.errors import LimitError, QueryError
from relens.language.automaton import ByteAutomaton
from relens.language.counting import is_finite, shortest_length

#: Entries of a table of counts, at most: each is an integer of up to some hundred bytes.
MOST_ENTRIES = 4_000_000
#: Walks by edges that are started for `count` strings before it is given up: this many, and so many for each string.
FREE_TRIES, TRIES_PER_STRING = 1_000, 20

Columns = npt.NDArray[np.integer[Any]]


class _Bundle(NamedTuple):
    """`arcs` parallel arcs to one destination; the label of the first is at `first`, the others follow."""

    destination: int
    first: int
    arcs: int


class _Ways(NamedTuple):
    """What may follow a state when so many arcs may still be taken: numbers below bounds[0] end the walk there, those
    below bounds[1] take the first bundle, and so on. sizes: the walks behind one arc of a bundle."""

    bounds: list[int]
    bundles: list[_Bundle]
    sizes: list[int]


class Walks:
    """The accepting walks of at most `longest` arcs, from the start of an automaton that is given as columns.

    sources, labels, destinations: (arcs,) integers; final: (states,) bool. longest None: all walks, of an automaton
    without cycles. Time and memory are (longest x arcs, parallel ones counted once), and less without cycles.
    Raises `LimitError` where the table would be too large, `ValueError` for endless walks.
    """

    def __init__(
        self,
        sources: Columns,
        labels: Columns,
        destinations: Columns,
        final: npt.NDArray[np.bool_],
        longest: int | None,
        start: int = 0,
    ) -> None:
        self._final = final.tolist()
        self._start = start
        order = np.lexsort((labels, destinations, sources))
        self._labels = labels[order]
        self._bundles = _bundled(sources[order], destinations[order], len(self._final))
        forward = _forward_order(self._bundles, start)
        # Where no walk is too long, one row serves for any number of arcs that may still follow.
        self._has_one_row = forward is not None and (
            longest is None or _longest_walk(self._bundles, forward) <= longest
        )
        self._longest = longest or 0
        if forward is not None and self._has_one_row:
            self._rows = [self._all_walks(forward)]
        elif longest is None:
            raise ValueError("An automaton with a cycle has endless walks.")
        else:
            self._rows = self._walks_up_to(longest)
        self._ways: dict[tuple[int, int], _Ways] = {}

    @property
    def count(self) -> int:
        """How many there are, exactly."""
        return self._rows[-1].get(self._start, 0)

    def draw(self, generator: random.Random) -> list[int]:
        """The labels of one of them, each equally likely. Raises `QueryError` where there are none."""
        if not self.count:
            raise QueryError("There is nothing to draw: no walk is accepted.")
        return self.walk(generator.randrange(self.count))

    def walk(self, number: int) -> list[int]:
        """The labels of the walk with this number, from 0 to count - 1; the numbers order the walks in some way."""
        if not 0 <= number < self.count:
            raise IndexError(f"There is no walk number {number}.")
        labels: list[int] = []
        state, left = self._start, 0 if self._has_one_row else self._longest
        while True:
            ways = self._ways.get((state, left)) or self._find_ways(state, left)
            place = bisect.bisect_right(ways.bounds, number)
            if not place:
                return labels
            number -= ways.bounds[place - 1]
            bundle = ways.bundles[place - 1]
            which, number = divmod(number, ways.sizes[place - 1])
            labels.append(int(self._labels[bundle.first + which]))
            state, left = bundle.destination, max(0, left - 1)

    def _find_ways(self, state: int, left: int) -> _Ways:
        behind: dict[int, int] = {}
        if self._has_one_row:
            behind = self._rows[0]
        elif left:
            behind = self._rows[left - 1]
        bundles = [bundle for bundle in self._bundles[state] if behind.get(bundle.destination)]
        sizes = [behind[bundle.destination] for bundle in bundles]
        totals = (bundle.arcs * size for bundle, size in zip(bundles, sizes, strict=True))
        ways = _Ways(list(accumulate(totals, initial=int(self._final[state]))), bundles, sizes)
        self._ways[state, left] = ways
        return ways

    def _all_walks(self, order: list[int]) -> dict[int, int]:
        counts: dict[int, int] = {}
        for state in reversed(order):
            behind = sum(bundle.arcs * counts[bundle.destination] for bundle in self._bundles[state])
            counts[state] = int(self._final[state]) + behind
        return counts

    def _walks_up_to(self, longest: int) -> list[dict[int, int]]:
        """For each number of arcs that may still follow, from 0, the walks of the states where so many may."""
        depths = _depths(self._bundles, self._start, longest)
        entries = sum(longest - depth + 1 for depth in depths.values())
        if entries > MOST_ENTRIES:
            raise LimitError(
                f"To count the ways through {len(depths):,} states up to length {longest} takes a table of {entries:,} "
                f"entries, more than {MOST_ENTRIES:,}.",
                limit="automaton_states",
            )
        # Nearest first, so that those still of use, with room for `left` more arcs, are the first so many.
        states = sorted(depths, key=lambda state: depths[state])
        rows: list[dict[int, int]] = [{state: int(self._final[state]) for state in states}]
        for left in range(1, longest + 1):
            before = rows[-1]
            row = {}
            for state in states:
                if depths[state] + left > longest:
                    break
                walks = int(self._final[state])
                for target, _, arcs in self._bundles[state]:
                    walks += arcs * before[target]
                row[state] = walks
            rows.append(row)
        return rows


def uniform_strings(automaton: ByteAutomaton, count: int, generator: random.Random, longest: int) -> list[str]:
    """`count` strings of the language, each of its strings equally likely at each draw.

    Of a finite language all strings, whatever their length; of an infinite one those of at most `longest` bytes, which
    unrolls its cycles. Raises `QueryError` where there are none, and `LimitError` as `Walks` does.
    """
    sources, labels = np.nonzero(automaton.transitions >= 0)
    destinations = automaton.transitions[sources, labels]
    walks = Walks(sources, labels, destinations, automaton.final, None if is_finite(automaton) else longest)
    if not walks.count:
        raise _nothing_to_draw(automaton, longest)
    return [bytes(walks.draw(generator)).decode() for _ in range(count)]


def edge_strings(automaton: ByteAutomaton, count: int, generator: random.Random, longest: int) -> list[str]:
    """`count` strings found by walking: at each state every byte, and to stop where it is final, are equally likely.

    In an infinite language, a walk that gets longer than `longest` bytes is drawn again. Raises `QueryError` where
    there is no string so short, or hardly any walk finds one.
    """
    most = None if is_finite(automaton) else longest
    shortest = shortest_length(automaton)
    if shortest is None or (most is not None and shortest > most):
        raise _nothing_to_draw(automaton, longest)
    rows = [np.flatnonzero(row >= 0).tolist() for row in automaton.transitions]
    arcs = [[(byte, int(row[byte])) for byte in legal] for row, legal in zip(automaton.transitions, rows, strict=True)]
    final = automaton.final.tolist()
    strings: list[str] = []
    tries = FREE_TRIES + TRIES_PER_STRING * count
    while len(strings) < count:
        if not tries:
            raise QueryError(
                f"Drawn edge by edge, hardly any string of the prefix ends within {longest} bytes; "
                "draw by strings instead."
            )
        tries -= 1
        walk = _walk_by_edges(arcs, final, generator, most)
        if walk is not None:
            strings.append(walk.decode())
    return strings


def _walk_by_edges(
    arcs: list[list[tuple[int, int]]], final: list[bool], generator: random.Random, most: int | None
) -> bytes | None:
    """One walk by edges; None where it gets longer than `most`."""
    walked = bytearray()
    state = 0
    while most is None or len(walked) <= most:
        legal = arcs[state]
        choice = generator.randrange(len(legal) + final[state])
        if choice == len(legal):
            return bytes(walked)
        byte, state = legal[choice]
        walked.append(byte)
    return None


def _nothing_to_draw(automaton: ByteAutomaton, longest: int) -> QueryError:
    if automaton.is_empty:
        return QueryError("The prefix has no strings to draw from.")
    return QueryError(f"No string of the prefix is at most {longest} bytes long, so there is none to draw.")


def _bundled(sources: Columns, destinations: Columns, states: int) -> list[list[_Bundle]]:
    """The bundles of each state, of arcs in order of source and then destination."""
    bundles: list[list[_Bundle]] = [[] for _ in range(states)]
    is_first = (np.diff(sources, prepend=-1) != 0) | (np.diff(destinations, prepend=-1) != 0)
    firsts = np.flatnonzero(is_first)
    arcs = np.diff(firsts, append=len(sources))
    columns = sources[firsts].tolist(), destinations[firsts].tolist(), firsts.tolist(), arcs.tolist()
    for source, destination, first, parallel in zip(*columns, strict=True):
        bundles[source].append(_Bundle(destination, first, parallel))
    return bundles


def _forward_order(bundles: list[list[_Bundle]], start: int) -> list[int] | None:
    """The states that can be reached, each before those its arcs lead to; None where a cycle forbids it."""
    arriving = {start: 0}
    waiting = [start]
    for state in waiting:
        for destination, _, _ in bundles[state]:
            if destination not in arriving:
                arriving[destination] = 0
                waiting.append(destination)
            arriving[destination] += 1
    order = [] if arriving[start] else [start]
    for state in order:
        for destination, _, _ in bundles[state]:
            arriving[destination] -= 1
            if not arriving[destination]:
                order.append(destination)
    return order if len(order) == len(waiting) else None


def _longest_walk(bundles: list[list[_Bundle]], order: list[int]) -> int:
    """Arcs of the longest walk through states in forward order."""
    depths = dict.fromkeys(order, 0)
    for state in order:
        for destination, _, _ in bundles[state]:
            depths[destination] = max(depths[destination], depths[state] + 1)
    return max(depths.values())


def _depths(bundles: list[list[_Bundle]], start: int, longest: int) -> dict[int, int]:
    """The states within `longest` arcs of the start, each with the fewest arcs that lead there."""
    depths = {start: 0}
    waiting = [start]
    for state in waiting:
        if depths[state] == longest:
            continue
        for destination, _, _ in bundles[state]:
            if destination not in depths:
                depths[destination] = depths[state] + 1
                waiting.append(destination)
    return depths
