r"""Automata over characters, where there are 1,114,112 of them.

No expression tells that many apart. `[a-z]at|[^b]` knows four kinds: a and t; b; the other small letters; and all
the rest. So the sets that occur are numbered first, an arc bears the number of its set, and then the characters are
sorted into classes, as few as tell the sets apart. A class need not be one interval: all characters of `\w` are one
class, of 770 intervals, where nothing else is asked of them.

What comes out is an automaton over classes, and each of its arcs at last becomes the class's paths of UTF-8.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from relens.language.characters import Ranges, normalise
from relens.language.construction import Construction
from relens.language.deterministic import RangeArcs, check_working_arcs, spread
from relens.language.openfst import Arcs
from relens.language.tree import Node
from relens.language.utf8 import LAST_ASCII, ByteArcs, byte_states, without_surrogates

Integers = npt.NDArray[np.int64]


class CharacterArcs:
    """The nondeterministic automaton of an expression over classes of characters.

    arcs: labels are classes, counted from 1, and 0 for silent; classes: the characters of each; extra: the classes of
    a further set of characters that the classes have to tell apart, ascending.
    """

    def __init__(self, tree: Node, extra: Ranges, subject: str) -> None:
        """Raises `LimitError`, which speaks of `subject`, for what is too large to build."""
        sets: dict[Ranges, int] = {extra: 0}

        def spelling(ranges: Ranges) -> tuple[ByteArcs, ...]:
            """One arc for the whole set, in the form of `byte_states`."""
            spellable = without_surrogates(ranges)
            if not spellable:  # nothing to read, and so nothing to delete or replace either
                return (), ()
            number = sets.setdefault(spellable, len(sets))
            return (), ((number, number, 0),)

        construction = Construction(spelling)
        by_set = RangeArcs.of_construction(construction, construction.add(tree, entry=0))
        self.classes, members = _classes_of_sets(list(sets), subject)
        self.extra = members[0]
        sizes = np.array([len(classes) for classes in members])
        widths = sizes[by_set.lows]
        check_working_arcs(int(widths.sum()), subject)
        labels = np.concatenate(members)[spread((np.cumsum(sizes) - sizes)[by_set.lows], widths)] + 1
        self.arcs = Arcs(
            sources=np.concatenate([np.repeat(by_set.sources, widths), by_set.silent_sources]),
            labels=np.concatenate([labels, np.zeros(len(by_set.silent_sources), np.int64)]),
            destinations=np.concatenate([np.repeat(by_set.destinations, widths), by_set.silent_destinations]),
            final=by_set.final,
            start=0,
        )


def spelled(characters: Arcs, classes: Sequence[Ranges], subject: str) -> RangeArcs:
    """An automaton over classes of characters, without silent arcs, spelled in bytes.

    It is as deterministic as `characters` where only ASCII occurs; longer spellings may begin alike. Raises
    `LimitError`, which speaks of `subject`.
    """
    short = [tuple((low, min(high, LAST_ASCII)) for low, high in ranges if low <= LAST_ASCII) for ranges in classes]
    counts = np.array([len(ranges) for ranges in short])
    lows, highs = (np.array([pair[side] for ranges in short for pair in ranges], np.int64) for side in (0, 1))
    widths = counts[characters.labels - 1]
    check_working_arcs(int(widths.sum()), subject)
    rows = spread((np.cumsum(counts) - counts)[characters.labels - 1], widths)
    long = _LongSpellings(characters, classes, subject)
    sources, lows_of_long, highs_of_long, destinations = np.array(long.rows, np.int64).reshape(-1, 4).T
    final = np.zeros(long.states, np.bool_)
    final[: len(characters.final)] = characters.final
    # State 0 must be the start: it changes places with whichever is.
    names = np.arange(long.states)
    names[[0, characters.start]] = names[[characters.start, 0]]
    none = np.zeros(0, np.int64)
    return RangeArcs(
        sources=names[np.concatenate([np.repeat(characters.sources, widths), sources])],
        lows=np.concatenate([lows[rows], lows_of_long]),
        highs=np.concatenate([highs[rows], highs_of_long]),
        destinations=names[np.concatenate([np.repeat(characters.destinations, widths), destinations])],
        silent_sources=none,
        silent_destinations=none,
        final=final[names],
    )


class _LongSpellings:
    """The arcs on characters of several bytes.

    The classes between two states are spelled together. What follows the first byte depends on them and on the
    destination alone, and is shared by all sources.

    rows: (source, low, high, destination) of bytes; states: how many there are with those inside of characters.
    """

    def __init__(self, characters: Arcs, classes: Sequence[Ranges], subject: str) -> None:
        self.states = len(characters.final)
        self.rows: list[tuple[int, int, int, int]] = []
        long = [
            tuple((max(low, LAST_ASCII + 1), high) for low, high in ranges if high > LAST_ASCII) for ranges in classes
        ]
        is_long = np.array([bool(ranges) for ranges in long])[characters.labels - 1]
        columns = characters.labels[is_long] - 1, characters.destinations[is_long], characters.sources[is_long]
        order = np.lexsort(columns)
        labels, destinations, sources = (column[order] for column in columns)
        begins = (np.diff(sources, prepend=-1) != 0) | (np.diff(destinations, prepend=-1) != 0)
        fragments: dict[bytes, tuple[ByteArcs, ...]] = {}
        numbers: dict[tuple[bytes, int], list[int]] = {}
        for begin, end in pairwise([*np.flatnonzero(begins).tolist(), len(labels)]):
            between = labels[begin:end]
            key, destination = between.tobytes(), int(destinations[begin])
            if key not in fragments:
                fragments[key] = byte_states(normalise(pair for label in between.tolist() for pair in long[label]))
            fragment = fragments[key]
            if (key, destination) not in numbers:
                inside = range(self.states, self.states + len(fragment) - 2)
                numbers[key, destination] = [destination, *inside]
                self.states += len(inside)
                for state, arcs in zip(inside, fragment[1:-1], strict=True):
                    self._add(state, arcs, numbers[key, destination])
            self._add(int(sources[begin]), fragment[-1], numbers[key, destination])
            check_working_arcs(len(self.rows), subject)

    def _add(self, source: int, arcs: ByteArcs, numbers: Sequence[int]) -> None:
        self.rows.extend((source, low, high, numbers[destination]) for low, high, destination in arcs)


def _classes_of_sets(sets: Sequence[Ranges], subject: str) -> tuple[list[Ranges], list[Integers]]:
    """The characters of all sets in as few disjoint classes as tell the sets apart; and of each set, its classes."""
    lows = np.array([low for ranges in sets for low, _ in ranges], np.int64)
    pasts = np.array([high + 1 for ranges in sets for _, high in ranges], np.int64)
    owners = np.repeat(np.arange(len(sets)), [len(ranges) for ranges in sets])
    bounds = np.unique(np.concatenate([lows, pasts]))
    first = np.searchsorted(bounds, lows)
    widths = np.searchsorted(bounds, pasts) - first
    check_working_arcs(int(widths.sum()), subject)
    # One row for each interval between bounds and each set that it belongs to, by interval and then by set.
    intervals, owners = spread(first, widths), np.repeat(owners, widths)
    order = np.lexsort((owners, intervals))
    intervals, owners = intervals[order], owners[order]
    ranges_of_class: dict[bytes, list[tuple[int, int]]] = {}
    classes_of_set: list[list[int]] = [[] for _ in sets]
    begins = np.flatnonzero(np.diff(intervals, prepend=-1)).tolist()
    for begin, end in pairwise([*begins, len(intervals)]):
        owning = owners[begin:end]
        key = owning.tobytes()
        if key not in ranges_of_class:
            for owner in owning.tolist():
                classes_of_set[owner].append(len(ranges_of_class))
            ranges_of_class[key] = []
        interval = int(intervals[begin])
        ranges_of_class[key].append((int(bounds[interval]), int(bounds[interval + 1]) - 1))
    return list(map(normalise, ranges_of_class.values())), [np.array(classes, np.int64) for classes in classes_of_set]
