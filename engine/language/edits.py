r"""All strings within one or two edits of a language (Vladimir Levenshtein, 1965).

The automaton of `cat`, once for each number of edits made so far, with a step to the next floor for each edit:

    0 edits    c --c--> a --a--> t --t--> ()            an arc of the expression stays on its floor
                \  \     \  \
                 w  '-ε-. w  '-ε-.                      deletion: go on as if the character had been read
                 |       v|       v
    1 edit     c --c--> a --a--> t --t--> ()

    w: --any character of the alphabet--> then silently   to where the arc led    substitution
                                                     or   to where it started     insertion

The state behind w stands for "something was written". It serves insertion and all substitutions alike, so that each
state has one arc a character of the alphabet and not one for every character it might replace: the factoring
of Kyle Gorman's and Richard Sproat's edit transducers ("Finite-State Text Processing", 2021), with a state for their
marker. Silent steps are then removed and the automaton is made deterministic and minimal (ReLM section 3.4).

Edits are of characters, so all this happens before the split into bytes: one edit turns é into a, where two would
be needed of bytes. And it happens on *classes* of characters that neither the expression nor the alphabet tells apart.
`\w` with printable ASCII has four: printable and `\w` or not, and not printable and `\w` or not. Only at the end each
class becomes its paths of UTF-8.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from engine.errors import RegexError
from engine.language.automaton import ByteAutomaton
from engine.language.characters import Ranges, complement, normalise
from engine.language.construction import Construction
from engine.language.deterministic import RangeArcs, automaton_of_arcs, check_working_arcs, spread
from engine.language.openfst import Arcs, minimal
from engine.language.syntax import parse_regex
from engine.language.tree import Alternation, Characters, Concatenation, Group, Marker, Node
from engine.language.utf8 import ByteArcs, byte_states
from engine.query import Edits, Limits

Integers = npt.NDArray[np.int64]

_SURROGATES: Ranges = ((0xD800, 0xDFFF),)
_LAST_ASCII = 0x7F


def alphabet_ranges(edits: Edits, limits: Limits) -> Ranges:
    """The characters that an edit may write. Raises `RegexError` where `edits.alphabet` is not exactly one of a set."""
    tree = parse_regex(edits.alphabet, limits, "alphabet")
    ranges = _one_character(tree, edits.alphabet)
    if not ranges:
        raise RegexError("The alphabet of the edits has no character.", source=edits.alphabet, part="alphabet")
    return ranges


def _one_character(node: Node, source: str) -> Ranges:
    """The characters of a part that spells exactly one."""
    match node:
        case Characters(ranges=ranges):
            return _without_surrogates(ranges)
        case Group(item=item):
            return _one_character(item, source)
        case Alternation(branches=branches):
            return normalise(pair for branch in branches for pair in _one_character(branch, source))
        case Concatenation(items=items):
            solid = [item for item in items if not isinstance(item, Marker)]
            if len(solid) == 1:
                return _one_character(solid[0], source)
            node = solid[1] if solid else node
    raise RegexError(
        f"The alphabet of the edits must be exactly one character, such as [ -~] or [a-z], "
        f"at position {node.start} of the alphabet.",
        source=source,
        position=node.start,
        part="alphabet",
    )


class EditedLanguage:
    """The languages within 0, 1, 2, ... edits of an expression, made from one minimal automaton over characters."""

    def __init__(self, tree: Node, edits: Edits, alphabet: Ranges, limits: Limits, subject: str) -> None:
        """`tree` has to be one that compiles within `limits`. subject: what is compiled, for messages."""
        self._edits, self._limits, self._subject = edits, limits, subject
        sets = _CharacterSets()
        written = sets.number(alphabet)
        construction = Construction(sets.spelling)
        arcs = RangeArcs.of_construction(construction, construction.add(tree, entry=0))
        self._classes, members = _character_classes(list(sets.numbers), subject)
        self._written = members[written]
        widths = np.array([len(classes) for classes in members])
        starts = np.cumsum(widths) - widths
        widths, starts = widths[arcs.lows], starts[arcs.lows]
        check_working_arcs(int(widths.sum()), subject)
        labels = np.concatenate(members)[spread(starts, widths)] + 1
        self._unedited = minimal(
            Arcs(
                sources=np.concatenate([np.repeat(arcs.sources, widths), arcs.silent_sources]),
                labels=np.concatenate([labels, np.zeros(len(arcs.silent_sources), np.int64)]),
                destinations=np.concatenate([np.repeat(arcs.destinations, widths), arcs.silent_destinations]),
                final=arcs.final,
                start=0,
            ),
            limits.automaton_states,
            subject,
        )

    def within(self, distance: int) -> ByteAutomaton:
        """The minimal automaton of all strings that at most `distance` edits make. Raises `LimitError`."""
        subject = f"{self._subject} within {distance} {'edit' if distance == 1 else 'edits'}"
        floors = self._floors(distance, subject)
        edited = minimal(floors, self._limits.automaton_states, subject)
        return automaton_of_arcs(_spelled(edited, self._classes, subject), self._limits, subject)

    def _floors(self, distance: int, subject: str) -> Arcs:
        """The automaton drawn above. State q on floor f is f * states + q; behind them all, in the same order, those
        for "something was written"."""
        unedited, edits = self._unedited, self._edits
        states, alphabet = len(unedited.final), len(self._written)
        writes = edits.insertions or edits.substitutions
        check_working_arcs((distance + 1) * (len(unedited.labels) + writes * states * alphabet), subject)
        pairs = np.unique(unedited.sources * states + unedited.destinations)
        before, after = np.divmod(pairs, states)
        every = np.arange(states)
        columns: list[tuple[Integers, Integers, Integers]] = []

        def silent(sources: Integers, destinations: Integers) -> None:
            columns.append((sources, np.zeros(len(sources), np.int64), destinations))

        for floor in range(distance + 1):
            here, above = floor * states, (floor + 1) * states
            columns.append((unedited.sources + here, unedited.labels, unedited.destinations + here))
            if floor == distance:
                break
            written = (distance + 1) * states + here
            if edits.deletions:
                silent(before + here, after + above)
            if writes:
                columns.append(
                    (
                        np.repeat(every + here, alphabet),
                        np.tile(self._written + 1, states),
                        np.repeat(every + written, alphabet),
                    )
                )
            if edits.insertions:
                silent(every + written, every + above)
            if edits.substitutions:
                silent(before + written, after + above)
        sources, labels, destinations = map(np.concatenate, zip(*columns, strict=True))
        final = np.concatenate([np.tile(unedited.final, distance + 1), np.zeros(distance * states, np.bool_)])
        return Arcs(sources, labels, destinations, final, unedited.start)


class _CharacterSets:
    """The sets of characters that occur in an expression, numbered; an arc of the construction bears such a number."""

    def __init__(self) -> None:
        self.numbers: dict[Ranges, int] = {}

    def number(self, ranges: Ranges) -> int:
        return self.numbers.setdefault(ranges, len(self.numbers))

    def spelling(self, ranges: Ranges) -> tuple[ByteArcs, ...]:
        """One arc for the whole set, in the form of `byte_states`."""
        spellable = _without_surrogates(ranges)
        if not spellable:  # nothing to read, and so nothing to delete or replace either
            return (), ()
        number = self.number(spellable)
        return (), ((number, number, 0),)


def _character_classes(sets: Sequence[Ranges], subject: str) -> tuple[list[Ranges], list[Integers]]:
    """The characters of all sets in as few disjoint classes as tell the sets apart; and of each set, its classes."""
    lows, pasts = (np.array([pair[side] + side for ranges in sets for pair in ranges], np.int64) for side in (0, 1))
    owners = np.repeat(np.arange(len(sets)), [len(ranges) for ranges in sets])
    bounds = np.unique(np.concatenate([lows, pasts]))
    first, past = np.searchsorted(bounds, lows), np.searchsorted(bounds, pasts)
    check_working_arcs(int((past - first).sum()), subject)
    # One row for each interval between bounds and each set that it belongs to, by interval and then by set.
    intervals, owners = spread(first, past - first), np.repeat(owners, past - first)
    order = np.lexsort((owners, intervals))
    intervals, owners = intervals[order], owners[order]
    numbers: dict[bytes, int] = {}
    ranges_of_class: list[list[tuple[int, int]]] = []
    sets_of_class: list[Integers] = []
    cuts = np.flatnonzero(np.diff(intervals, prepend=-1, append=len(bounds)))
    for begin, end in pairwise(cuts.tolist()):
        owning = owners[begin:end]
        number = numbers.setdefault(owning.tobytes(), len(numbers))
        if number == len(ranges_of_class):
            ranges_of_class.append([])
            sets_of_class.append(owning)
        interval = int(intervals[begin])
        ranges_of_class[number].append((int(bounds[interval]), int(bounds[interval + 1]) - 1))
    classes_of_set: list[list[int]] = [[] for _ in sets]
    for number, owning in enumerate(sets_of_class):
        for owner in owning.tolist():
            classes_of_set[owner].append(number)
    return list(map(normalise, ranges_of_class)), [np.array(classes, np.int64) for classes in classes_of_set]


def _spelled(characters: Arcs, classes: Sequence[Ranges], subject: str) -> RangeArcs:
    """The arcs of a trim automaton over classes of characters (labels from 1), spelled in bytes."""
    plain = [tuple((low, min(high, _LAST_ASCII)) for low, high in ranges if low <= _LAST_ASCII) for ranges in classes]
    counts = np.array([len(ranges) for ranges in plain])
    lows, highs = (np.array([pair[side] for ranges in plain for pair in ranges], np.int64) for side in (0, 1))
    owners = characters.labels - 1
    widths = counts[owners]
    check_working_arcs(int(widths.sum()), subject)
    rows = spread((np.cumsum(counts) - counts)[owners], widths)
    wide = _WideArcs(characters, classes, subject)
    states = wide.states
    # State 0 must be the start: it changes places with whichever is.
    names = np.arange(states)
    names[[0, characters.start]] = names[[characters.start, 0]]
    none = np.zeros(0, np.int64)
    final = np.zeros(states, np.bool_)
    final[: len(characters.final)] = characters.final
    return RangeArcs(
        sources=names[np.concatenate([np.repeat(characters.sources, widths), wide.columns[0]])],
        lows=np.concatenate([lows[rows], wide.columns[1]]),
        highs=np.concatenate([highs[rows], wide.columns[2]]),
        destinations=names[np.concatenate([np.repeat(characters.destinations, widths), wide.columns[3]])],
        silent_sources=none,
        silent_destinations=none,
        final=final[names],
    )


class _WideArcs:
    """The arcs on characters of several bytes, and how many states there are with those inside of a character.

    The classes between two states are spelled together. What follows the first byte depends on them and on the
    destination alone, and is shared by all sources.
    """

    def __init__(self, characters: Arcs, classes: Sequence[Ranges], subject: str) -> None:
        self.states = len(characters.final)
        self._rows: list[tuple[int, int, int, int]] = []
        wide = [
            tuple((max(low, _LAST_ASCII + 1), high) for low, high in ranges if high > _LAST_ASCII) for ranges in classes
        ]
        of_interest = np.array([bool(ranges) for ranges in wide])[characters.labels - 1]
        sources, destinations = characters.sources[of_interest], characters.destinations[of_interest]
        labels = characters.labels[of_interest] - 1
        order = np.lexsort((labels, destinations, sources))
        sources, destinations, labels = sources[order], destinations[order], labels[order]
        changes = (np.diff(sources, append=-1) != 0) | (np.diff(destinations, append=-1) != 0)
        spellings: dict[bytes, tuple[ByteArcs, ...]] = {}
        insides: dict[tuple[bytes, int], list[int]] = {}
        begin = 0
        for end in (np.flatnonzero(changes) + 1).tolist():
            between = labels[begin:end]
            source, destination, key = int(sources[begin]), int(destinations[begin]), between.tobytes()
            begin = end
            if key not in spellings:
                spellings[key] = byte_states(normalise(pair for label in between.tolist() for pair in wide[label]))
            fragment = spellings[key]
            if (key, destination) not in insides:
                inside = [destination, *range(self.states, self.states + len(fragment) - 2)]
                self.states += len(fragment) - 2
                for state, arcs in zip(inside[1:], fragment[1:-1], strict=True):
                    self._add(state, arcs, inside)
                insides[key, destination] = inside
            self._add(source, fragment[-1], insides[key, destination])
            check_working_arcs(len(self._rows), subject)
        self.columns = np.array(self._rows, np.int64).reshape(-1, 4).T

    def _add(self, source: int, arcs: ByteArcs, numbers: Sequence[int]) -> None:
        self._rows.extend((source, low, high, numbers[destination]) for low, high, destination in arcs)


def _without_surrogates(ranges: Ranges) -> Ranges:
    """The characters that UTF-8 can spell."""
    if not any(low <= _SURROGATES[0][1] and high >= _SURROGATES[0][0] for low, high in ranges):
        return ranges
    return complement([*complement(ranges), *_SURROGATES])
