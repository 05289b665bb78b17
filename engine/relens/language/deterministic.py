r"""From arcs over ranges of bytes to the minimal deterministic automaton.

    tree --construction--> arcs over byte ranges --classes--> labelled arcs --OpenFst--> minimal --> ByteAutomaton

`[0-9]{4}` has 40 byte transitions but only one kind of byte that it tells apart. So bytes are first
sorted into classes, the intervals between all the bounds that occur in the arcs, and OpenFst sees classes for
labels: `.{1,100}` has 13 of them instead of 242. The table of classes is widened to 256 bytes at the end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from relens.errors import LimitError
from relens.language.automaton import ByteAutomaton
from relens.language.construction import Construction, states_built, states_needed
from relens.language.openfst import Arcs, minimal
from relens.language.tree import Node
from relens.query import Limits

Integers = npt.NDArray[np.int64]

#: A construction may be this many times larger than the automaton it is allowed to end in.
_WORKING_STATES = 10
#: Arcs, one a class of bytes or characters, that are handed to OpenFst at most (16 bytes each, some 100 in use while it
#: works).
MOST_WORKING_ARCS = 5_000_000


class RangeArcs(NamedTuple):
    """A nondeterministic automaton over bytes, as columns. State 0 is the start.

    Arc i goes from sources[i] to destinations[i] on the bytes lows[i] to highs[i]; silent arc i from
    silent_sources[i] to silent_destinations[i]; final: (states,) bool.
    """

    sources: Integers
    lows: Integers
    highs: Integers
    destinations: Integers
    silent_sources: Integers
    silent_destinations: Integers
    final: npt.NDArray[np.bool_]

    @classmethod
    def of_construction(cls, construction: Construction, end: int) -> RangeArcs:
        """The columns of a construction whose strings end in state `end`."""
        final = np.zeros(construction.states, np.bool_)
        final[end] = True
        return cls(
            sources=np.asarray(construction.sources, np.int64),
            lows=np.asarray(construction.lows, np.int64),
            highs=np.asarray(construction.highs, np.int64),
            destinations=np.asarray(construction.destinations, np.int64),
            silent_sources=np.asarray(construction.silent_sources, np.int64),
            silent_destinations=np.asarray(construction.silent_destinations, np.int64),
            final=final,
        )

    @classmethod
    def of_table(cls, transitions: npt.NDArray[np.int32], final: npt.NDArray[np.bool_]) -> RangeArcs:
        """The arcs of a table (states, 256) with -1 for none, neighbouring bytes to one destination as one arc."""
        begins = np.ones(transitions.shape, np.bool_)
        begins[:, 1:] = transitions[:, 1:] != transitions[:, :-1]
        sources, lows = np.nonzero(begins)
        pasts = np.append(lows[1:], 256)
        pasts[pasts == 0] = 256  # the next run is the first one of another state
        destinations = transitions[sources, lows].astype(np.int64)
        live = destinations >= 0
        none = np.zeros(0, np.int64)
        return cls(sources[live], lows[live], pasts[live] - 1, destinations[live], none, none, final)


def arcs_of_tree(tree: Node, limits: Limits, subject: str) -> RangeArcs:
    """The arcs that spell the strings of `tree`. Raises `LimitError` before it builds what is too large.

    subject: what is being compiled, for the message.
    """
    needed, working = states_needed(tree), states_built(tree)
    most = limits.automaton_states
    if needed > most:
        raise LimitError(
            f"{subject} needs at least {_rounded(needed)} automaton states, more than the limit of {most:,}.",
            limit="automaton_states",
        )
    if working > most * _WORKING_STATES:
        raise LimitError(
            f"{subject} takes about {_rounded(working)} automaton states to build, "
            f"more than {_WORKING_STATES} times the limit of {most:,}.",
            limit="automaton_states",
        )
    construction = Construction()
    return RangeArcs.of_construction(construction, construction.add(tree, entry=0))


def automaton_of_tree(tree: Node, limits: Limits, subject: str) -> ByteAutomaton:
    """The minimal automaton of the strings of `tree`."""
    return automaton_of_arcs(arcs_of_tree(tree, limits, subject), limits, subject)


def automaton_of_arcs(
    arcs: RangeArcs, limits: Limits, subject: str, *, is_deterministic: bool = False
) -> ByteAutomaton:
    """The minimal automaton with the language of `arcs`, its states numbered breadth first in the order of bytes.

    is_deterministic: whether no state has two arcs on one byte, nor a silent arc. Raises `LimitError`.
    """
    bounds, labelled_arcs = labelled(arcs, subject)
    smallest = minimal(labelled_arcs, limits.automaton_states, subject, is_deterministic=is_deterministic)
    states = len(smallest.final)
    if states == 0:
        return numbered(np.full((1, 256), -1, np.int32), np.zeros(1, np.bool_), np.zeros(1, np.bool_), start=0)
    table = np.full((states, len(bounds) - 1), -1, np.int32)
    table[smallest.sources, smallest.labels - 1] = smallest.destinations
    return numbered(
        table[:, class_of_byte(bounds)],
        final=smallest.final,
        in_prefix=np.zeros(states, np.bool_),
        start=smallest.start,
    )


def labelled(arcs: RangeArcs, subject: str) -> tuple[Integers, Arcs]:
    """The first byte of each class, and 256; and the arcs with classes for labels, from 1, and 0 for silent."""
    pasts = arcs.highs + 1
    bounds = np.unique(np.concatenate([arcs.lows, pasts, [0, 256]]))
    first, past = np.searchsorted(bounds, arcs.lows), np.searchsorted(bounds, pasts)
    widths = past - first
    check_working_arcs(int(widths.sum()), subject)
    silent = np.zeros(len(arcs.silent_sources), np.int64)
    return bounds, Arcs(
        sources=np.concatenate([np.repeat(arcs.sources, widths), arcs.silent_sources]),
        labels=np.concatenate([spread(first, widths) + 1, silent]),
        destinations=np.concatenate([np.repeat(arcs.destinations, widths), arcs.silent_destinations]),
        final=arcs.final,
        start=0,
    )


def numbered(
    transitions: npt.NDArray[np.int32], final: npt.NDArray[np.bool_], in_prefix: npt.NDArray[np.bool_], start: int
) -> ByteAutomaton:
    """The automaton with its reachable states numbered breadth first, the start 0 and bytes in ascending order."""
    number = np.full(len(final) + 1, -1, np.int32)  # the last entry keeps -1 for "no transition"
    number[start] = 0
    order = [start]
    rows = transitions[:, first_bytes(transitions)]
    for state in order:
        for destination in dict.fromkeys(rows[state].tolist()):
            if destination >= 0 and number[destination] < 0:
                number[destination] = len(order)
                order.append(destination)
    automaton = ByteAutomaton(number[transitions[order]], final[order], in_prefix[order])
    for array in (automaton.transitions, automaton.final, automaton.in_prefix):
        array.flags.writeable = False
    return automaton


def first_bytes(*tables: npt.NDArray[np.int32]) -> npt.NDArray[np.intp]:
    """The bytes that some state of some table tells from the byte before, and 0: whatever holds for them holds on."""
    changes = np.ones(256, np.bool_)
    changes[1:] = np.logical_or.reduce([(table[:, 1:] != table[:, :-1]).any(axis=0) for table in tables])
    return np.flatnonzero(changes)


def class_of_byte(first: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """For each byte the number of its class, of classes that begin with the bytes `first` (from 0 on): (256,)."""
    return np.searchsorted(first, np.arange(256), side="right") - 1


def spread(first: Integers, widths: Integers) -> Integers:
    """first[0], first[0] + 1, ... for widths[0] numbers, then from first[1] on, and so forth."""
    before = np.cumsum(widths) - widths
    numbers: Integers = np.arange(int(widths.sum())) + np.repeat(first - before, widths)
    return numbers


def check_working_arcs(count: int, subject: str) -> None:
    """Refuse more arcs than OpenFst is given to work on."""
    if count > MOST_WORKING_ARCS:
        raise LimitError(
            f"{subject} takes {_rounded(count)} automaton arcs to build, more than {MOST_WORKING_ARCS:,}.",
            limit="automaton_states",
        )


def _rounded(number: int) -> str:
    """A number for people: exact below a trillion, by its magnitude above."""
    return f"{number:,}" if number < 10**12 else f"10^{int(number.bit_length() * 0.30103)}"
