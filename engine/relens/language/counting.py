"""How many strings a language has, exactly, and what some of them look like.

In a deterministic automaton every string is one path, so strings are counted by counting paths. For `[ab]{2}c?`

    0 ==a,b==> 1 ==a,b==> 2 --c--> 3        final: 2, 3
    8          4          2         1         <- strings from each state on: itself if final, plus those of its arcs

the count of a state is known once those behind it are. Parallel arcs are one arc taken many times: the 49,800
of `.{1,100}` become 1,500. A trim automaton with a cycle has infinitely many strings; they are then
counted up to a length, by the same sum once for every byte. Python's integers keep all this exact, with thousands
of digits where it takes them.
"""

from __future__ import annotations

import heapq
import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from relens.language.automaton import ByteAutomaton

#: Bytes from the one that reads best to the one that reads worst: a letter says more than a tab.
_READABILITY = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 "
#: The price of a byte in examples is _BYTE_PRICE and something for unreadable ones: shortest first, then readable.
_BYTE_PRICE = 1000
_MOST_PUSHES = 200_000


class _Edges(NamedTuple):
    """Arcs of an automaton with parallel ones counted: shape (edges,) each, sorted by source."""

    sources: list[int]
    destinations: list[int]
    multiplicities: list[int]


def is_finite(automaton: ByteAutomaton) -> bool:
    """Whether the language has finitely many strings."""
    return _backwards(automaton) is not None


def count_strings(automaton: ByteAutomaton) -> int | None:
    """The exact number of strings, or None where there is no end of them."""
    order = _backwards(automaton)
    if order is None:
        return None
    successors = _successors(automaton)
    waiting = np.bincount(_edges(automaton).destinations, minlength=automaton.states).tolist()
    counts: dict[int, int] = {}
    for state in order:
        counts[state] = int(automaton.final[state]) + sum(
            multiplicity * counts[destination] for destination, multiplicity in successors[state]
        )
        # Counts can have many thousand digits: those that nobody asks for again are dropped.
        for destination, _ in successors[state]:
            waiting[destination] -= 1
            if not waiting[destination]:
                del counts[destination]
    return counts[0]


def count_strings_up_to(automaton: ByteAutomaton, length_in_bytes: int) -> int:
    """The exact number of strings of at most so many bytes, in time (edges x length) for a cyclic automaton."""
    sources, destinations, multiplicities = _edges(automaton)
    base = [int(final) for final in automaton.final]
    counts = base
    for _ in range(length_in_bytes):
        longer = base[:]
        for source, destination, multiplicity in zip(sources, destinations, multiplicities, strict=True):
            longer[source] += multiplicity * counts[destination]
        if longer == counts:  # no string is longer than that
            break
        counts = longer
    return counts[0]


def longest_length(automaton: ByteAutomaton) -> int | None:
    """Bytes of the longest string, or None where there is no longest. 0 for an empty language."""
    order = _backwards(automaton)
    if order is None:
        return None
    successors = _successors(automaton)
    longest = [0] * automaton.states
    for state in order:
        longest[state] = max((1 + longest[destination] for destination, _ in successors[state]), default=0)
    return longest[0]


def shortest_length(automaton: ByteAutomaton) -> int | None:
    """Bytes of the shortest string, or None for an empty language."""
    if automaton.is_empty:
        return None
    seen = {0}
    level = [0]
    successors = _successors(automaton)
    length = 0
    while not any(automaton.final[state] for state in level):
        following = {destination for state in level for destination, _ in successors[state]} - seen
        seen |= following
        level = sorted(following)
        length += 1
    return length


def example_strings(automaton: ByteAutomaton, count: int) -> tuple[str, ...]:
    """Up to `count` strings of the language, the shortest first and of these the more readable.

    A best-first search that knows exactly how much is still to pay from each state, so it goes astray nowhere.
    """
    if automaton.is_empty:
        return ()
    prices = _byte_prices()
    to_pay = _cheapest_ends(automaton, prices)
    preferred = np.array(sorted(range(256), key=_preference))
    examples: list[str] = []
    # Entries: price of the whole string so far and to come, then deepest first, then in order of preference.
    frontier: list[tuple[int, int, int, int, bytes, bool]] = [(to_pay[0], 0, 0, 0, b"", False)]
    made = 0
    while frontier and len(examples) < count and made < _MOST_PUSHES:
        price, _, _, state, path, complete = heapq.heappop(frontier)
        if complete:
            examples.append(path.decode())
            continue
        paid = price - to_pay[state]
        if automaton.final[state]:
            heapq.heappush(frontier, (paid, -len(path), -1, state, path, True))
        row = automaton.transitions[state]
        for byte in preferred[row[preferred] >= 0].tolist():
            destination = int(row[byte])
            made += 1
            whole = paid + int(prices[byte]) + to_pay[destination]
            heapq.heappush(frontier, (whole, -len(path) - 1, made, destination, path + bytes([byte]), False))
    return tuple(examples)


def describe_count(count: int | None) -> str:
    """A number of strings for people: "13,200,000", "about 10^245", "infinitely many"."""
    if count is None:
        return "infinitely many"
    if count < 10**15:
        return f"{count:,}"
    # `math.log10` takes integers of any size, where `str` refuses those of more than 4,300 digits.
    return f"about 10^{round(math.log10(count)):,}"


def _edges(automaton: ByteAutomaton) -> _Edges:
    sources, bytes_read = np.nonzero(automaton.transitions >= 0)
    pairs = sources * automaton.states + automaton.transitions[sources, bytes_read]
    unique, multiplicities = np.unique(pairs, return_counts=True)
    return _Edges((unique // automaton.states).tolist(), (unique % automaton.states).tolist(), multiplicities.tolist())


def _successors(automaton: ByteAutomaton) -> list[list[tuple[int, int]]]:
    """For each state its (destination, number of arcs there)."""
    successors: list[list[tuple[int, int]]] = [[] for _ in range(automaton.states)]
    for source, destination, multiplicity in zip(*_edges(automaton), strict=True):
        successors[source].append((destination, multiplicity))
    return successors


def _backwards(automaton: ByteAutomaton) -> list[int] | None:
    """The states, each after all that its arcs lead to; None where a cycle forbids it (Kahn's algorithm)."""
    edges = _edges(automaton)
    predecessors: list[list[int]] = [[] for _ in range(automaton.states)]
    open_arcs = [0] * automaton.states
    for source, destination in zip(edges.sources, edges.destinations, strict=True):
        predecessors[destination].append(source)
        open_arcs[source] += 1
    order = [state for state in range(automaton.states) if not open_arcs[state]]
    for state in order:
        for source in predecessors[state]:
            open_arcs[source] -= 1
            if not open_arcs[source]:
                order.append(source)
    return order if len(order) == automaton.states else None


def _preference(byte: int) -> int:
    """The rank of a byte among those that cost the same."""
    place = _READABILITY.find(chr(byte))
    return byte + len(_READABILITY) if place < 0 else place


def _byte_prices() -> npt.NDArray[np.int64]:
    prices = np.full(256, _BYTE_PRICE + 300, np.int64)  # control characters
    prices[0x21:0x7F] = _BYTE_PRICE + 100  # punctuation
    prices[0x80:] = _BYTE_PRICE + 200  # any script but ASCII's
    for rank, character in enumerate(_READABILITY):
        prices[ord(character)] = _BYTE_PRICE + (rank > 51)
    return prices


def _cheapest_ends(automaton: ByteAutomaton, prices: npt.NDArray[np.int64]) -> list[int]:
    """For each state the price of the cheapest way to a final state (Dijkstra, backwards)."""
    predecessors: list[dict[int, int]] = [{} for _ in range(automaton.states)]
    sources, bytes_read = np.nonzero(automaton.transitions >= 0)
    destinations = automaton.transitions[sources, bytes_read]
    for source, price, destination in zip(
        sources.tolist(), prices[bytes_read].tolist(), destinations.tolist(), strict=True
    ):
        known = predecessors[destination].get(source)
        if known is None or price < known:
            predecessors[destination][source] = price
    to_pay: dict[int, int] = {}
    frontier = [(0, state) for state in np.flatnonzero(automaton.final).tolist()]
    while frontier:
        price, state = heapq.heappop(frontier)
        if state not in to_pay:
            to_pay[state] = price
            for source, step in predecessors[state].items():
                heapq.heappush(frontier, (price + step, source))
    return [to_pay[state] for state in range(automaton.states)]
