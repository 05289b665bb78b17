r"""From a regular expression to the minimal deterministic automaton over bytes.

    text --syntax--> tree --construction--> automaton over byte ranges --OpenFst--> minimal DFA --> ByteAutomaton

`[0-9]{4}` has 40 byte transitions but only one kind of byte that it tells apart. So bytes are first
sorted into classes, the intervals between all the bounds that occur in the expression, and OpenFst sees classes for
labels: `.{1,100}` has 13 of them instead of 242. The table of classes is widened to 256 bytes at the end.

`compile_language` adds what a search needs to know of the boundary between prefix and pattern. Whether the bytes so
far still begin some prefix string is known to the automaton of the prefix, so the two run side by side until the
prefix's dies:

    prefix a?, pattern ab:    0 --a--> 1 --a--> 2 --b--> 3        in_prefix: 0 and 1, for "" and "a" begin
                                       1 --b-----------> 3        a string of the prefix and "aa" does not

Both functions compile here and now. A hostile expression such as `[ab]*a[ab]{30}` needs 2^31 states, which no estimate
foresees: where strangers type, use `engine.language.isolation.isolated_compiler`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.errors import EmptyLanguageError, LimitError
from engine.language.automaton import ByteAutomaton
from engine.language.construction import Construction, states_built, states_needed
from engine.language.language import Language
from engine.language.openfst import Arcs, minimal
from engine.language.syntax import parse_regex
from engine.language.tree import Concatenation, Node
from engine.query import Limits, Query

__all__ = ["Language", "compile_job", "compile_language", "compile_regex", "warm_up"]

#: A construction may be this many times larger than the automaton it is allowed to end in.
_WORKING_STATES = 10
#: Arcs, one a byte class, that are handed to OpenFst at most (16 bytes each, some 100 in use while it works).
_WORKING_ARCS = 5_000_000


def compile_regex(pattern: str, limits: Limits | None = None, part: str = "pattern") -> ByteAutomaton:
    r"""The minimal automaton of the strings that `re.fullmatch(pattern, ...)` accepts, as UTF-8.

    Strings with lone surrogates, which `re` accepts and UTF-8 cannot spell, are not in the language. States are
    numbered breadth first in the order of bytes. part: "prefix" or "pattern", for messages.

    Raises `RegexError` for a malformed or unsupported expression and `LimitError` for one that is too long or too
    large. An empty language is no error here: its automaton `is_empty`.
    """
    limits = limits or Limits()
    return _compile_tree(parse_regex(pattern, limits, part), limits, f"The {part}")


def compile_language(query: Query, limits: Limits | None = None) -> Language:
    """The language of a query with its boundary marked (design: whether a string still begins a prefix).

    Raises what `compile_regex` raises, and `EmptyLanguageError` where no string can match.
    """
    limits = limits or Limits()
    trees = parse_regex(query.prefix, limits, "prefix"), parse_regex(query.pattern, limits, "pattern")
    alone = []
    for tree, part in zip(trees, ("prefix", "pattern"), strict=True):
        automaton = _compile_tree(tree, limits, f"The {part}")
        if automaton.is_empty:
            raise EmptyLanguageError(f"No string at all can match the {part}.")
        alone.append(automaton)
    joined = alone[1]
    if query.prefix:
        joined = _compile_tree(Concatenation(0, 0, trees), limits, "The prefix followed by the pattern")
    return Language(prefix=alone[0], pattern=alone[1], whole=_mark_prefix(joined, alone[0], limits))


def compile_job(payload: Mapping[str, Any]) -> dict[str, Any]:
    """`compile_language` for an isolated process: query and limits in, the arrays of a Language out."""
    query, limits = Query.from_json(payload["query"]), Limits.from_json(payload["limits"])
    return compile_language(query, limits).to_arrays()


def warm_up() -> None:
    """Fill the caches that the first expression with a class or a case flag would wait for (some 0.2 s)."""
    compile_regex(r"(?i:[a-z]\w)\W\d\D\s\S.")
    compile_regex(r"(?a)\w\W\d\D\s\S(?s:.)")


def _compile_tree(tree: Node, limits: Limits, subject: str) -> ByteAutomaton:
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
    end = construction.add(tree, entry=0)
    class_of_byte, arcs = _by_byte_class(construction, end, subject)
    smallest = minimal(arcs, most, subject)
    states = len(smallest.final)
    if states == 0:
        return _numbered(np.full((1, 256), -1, np.int32), np.zeros(1, np.bool_), np.zeros(1, np.bool_), start=0)
    # One more column than there are labels: the last stays -1, for bytes that occur nowhere.
    table = np.full((states, int(class_of_byte.max()) + 1), -1, np.int32)
    table[smallest.sources, smallest.labels - 1] = smallest.destinations
    return _numbered(
        table[:, class_of_byte], final=smallest.final, in_prefix=np.zeros(states, np.bool_), start=smallest.start
    )


def _by_byte_class(construction: Construction, end: int, subject: str) -> tuple[npt.NDArray[np.intp], Arcs]:
    """The class of each byte, and the arcs of `construction` with classes (from 1) for labels, 0 for silent."""
    lows = np.asarray(construction.lows, np.int64)
    pasts = np.asarray(construction.highs, np.int64) + 1
    bounds = np.unique(np.concatenate([lows, pasts, [0, 256]]))
    first, past = np.searchsorted(bounds, lows), np.searchsorted(bounds, pasts)
    widths = past - first
    if widths.sum() > _WORKING_ARCS:
        raise LimitError(
            f"{subject} takes {int(widths.sum()):,} automaton arcs to build, more than {_WORKING_ARCS:,}.",
            limit="automaton_states",
        )
    places = np.arange(widths.sum()) - np.repeat(np.cumsum(widths) - widths, widths)
    silent = len(construction.silent_sources)
    final = np.zeros(construction.states, np.bool_)
    final[end] = True
    arcs = Arcs(
        sources=np.concatenate(
            [np.repeat(np.asarray(construction.sources, np.int64), widths), construction.silent_sources]
        ).astype(np.int64),
        labels=np.concatenate([np.repeat(first, widths) + places + 1, np.zeros(silent)]).astype(np.int64),
        destinations=np.concatenate(
            [np.repeat(np.asarray(construction.destinations, np.int64), widths), construction.silent_destinations]
        ).astype(np.int64),
        final=final,
        start=0,
    )
    return np.searchsorted(bounds, np.arange(256), side="right") - 1, arcs


def _mark_prefix(joined: ByteAutomaton, prefix: ByteAutomaton, limits: Limits) -> ByteAutomaton:
    """The product of `joined` with `prefix`, as far as the latter lives; after that `joined` alone."""
    # States of the product: first the states of `joined` for when the prefix is dead, then the pairs.
    numbers = {(0, 0): joined.states}
    pairs = [(0, 0)]
    rows = []
    for joined_state, prefix_state in pairs:
        joined_row, prefix_row = joined.transitions[joined_state], prefix.transitions[prefix_state]
        row = joined_row.copy()
        # A byte that the prefix can read can always be read by the whole.
        for byte in np.flatnonzero(prefix_row >= 0).tolist():
            pair = int(joined_row[byte]), int(prefix_row[byte])
            if pair not in numbers:
                numbers[pair] = joined.states + len(pairs)
                pairs.append(pair)
            row[byte] = numbers[pair]
        rows.append(row)
        if len(pairs) > limits.automaton_states:
            raise LimitError(
                f"The prefix followed by the pattern needs more automaton states than the limit of "
                f"{limits.automaton_states:,}.",
                limit="automaton_states",
            )
    of_joined = np.array([pair[0] for pair in pairs])
    return _numbered(
        np.concatenate([joined.transitions, np.array(rows, np.int32)]),
        final=np.concatenate([joined.final, joined.final[of_joined]]),
        in_prefix=np.repeat([False, True], [joined.states, len(pairs)]),
        start=joined.states,
    )


def _numbered(
    transitions: npt.NDArray[np.int32], final: npt.NDArray[np.bool_], in_prefix: npt.NDArray[np.bool_], start: int
) -> ByteAutomaton:
    """The automaton with its reachable states numbered breadth first, the start 0 and bytes in ascending order."""
    number = np.full(len(final) + 1, -1, np.int32)  # the last entry keeps -1 for "no transition"
    number[start] = 0
    order = [start]
    # Bytes that no state tells from the byte before need not be looked at.
    tells_apart = np.flatnonzero((transitions[:, 1:] != transitions[:, :-1]).any(axis=0)) + 1
    rows = transitions[:, [0, *tells_apart]]
    for state in order:
        for destination in dict.fromkeys(rows[state].tolist()):
            if destination >= 0 and number[destination] < 0:
                number[destination] = len(order)
                order.append(destination)
    automaton = ByteAutomaton(number[transitions[order]], final[order], in_prefix[order])
    for array in (automaton.transitions, automaton.final, automaton.in_prefix):
        array.flags.writeable = False
    return automaton


def _rounded(number: int) -> str:
    """A number for people: exact below a trillion, by its magnitude above."""
    return f"{number:,}" if number < 10**12 else f"10^{int(number.bit_length() * 0.30103)}"
