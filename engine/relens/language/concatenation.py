r"""The prefix followed by the pattern, and where the one ends and the other begins.

Where edits may fall on both sides of the boundary, prefix and pattern can share them in several ways. Within one edit
of `The cat` and ` sat`, either half may have it:

    (The cat)  (within one edit of  sat)         or         (within one edit of The cat)  ( sat)

The language is the union of such concatenations. It is made minimal as a whole, from the automata of the halves.

What a search needs besides is whether the bytes so far still begin some prefix string. That is known to the automaton
of the prefix, so the two run side by side until the prefix's dies:

    prefix a?, pattern ab:    0 --a--> 1 --a--> 2 --b--> 3        in_prefix: 0 and 1, for "" and "a" begin
                                       1 --b-----------> 3        a string of the prefix and "aa" does not
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from relens.errors import LimitError
from relens.language.automaton import ByteAutomaton
from relens.language.deterministic import RangeArcs, automaton_of_arcs, class_of_byte, first_bytes, numbered
from relens.query import Limits

_SUBJECT = "The prefix followed by the pattern"


def concatenate(ways: Sequence[tuple[ByteAutomaton, ByteAutomaton]], limits: Limits) -> ByteAutomaton:
    """The minimal automaton of the union of all prefix . pattern. Raises `LimitError`."""
    parts: list[RangeArcs] = []
    silent: list[tuple[int, int]] = []
    finals = [np.zeros(1, np.bool_)]
    states = 1
    entries: dict[int, int] = {}  # a pattern that several ways share is there once

    def place(automaton: ByteAutomaton, is_last: bool) -> int:
        nonlocal states
        arcs = RangeArcs.of_table(automaton.transitions, automaton.final)
        parts.append(arcs._replace(sources=arcs.sources + states, destinations=arcs.destinations + states))
        finals.append(automaton.final if is_last else np.zeros(automaton.states, np.bool_))
        states += automaton.states
        return states - automaton.states

    for prefix, pattern in ways:
        if id(pattern) not in entries:
            entries[id(pattern)] = place(pattern, is_last=True)
        entry = place(prefix, is_last=False)
        silent.append((0, entry))
        silent += [(entry + end, entries[id(pattern)]) for end in np.flatnonzero(prefix.final).tolist()]
    silent_sources, silent_destinations = np.array(silent, np.int64).T
    arcs = RangeArcs(
        sources=np.concatenate([part.sources for part in parts]),
        lows=np.concatenate([part.lows for part in parts]),
        highs=np.concatenate([part.highs for part in parts]),
        destinations=np.concatenate([part.destinations for part in parts]),
        silent_sources=silent_sources,
        silent_destinations=silent_destinations,
        final=np.concatenate(finals),
    )
    return automaton_of_arcs(arcs, limits, _SUBJECT)


def mark_prefix(joined: ByteAutomaton, prefix: ByteAutomaton, limits: Limits) -> ByteAutomaton:
    """The product of `joined` with `prefix`, as far as the latter lives; after that `joined` alone.

    Every string of the prefix has to begin one of `joined`. Raises `LimitError`.
    """
    columns = first_bytes(joined.transitions, prefix.transitions)
    of_joined, of_prefix = joined.transitions[:, columns], prefix.transitions[:, columns]
    # States of the product: first the states of `joined` for when the prefix is dead, then the pairs.
    numbers = {(0, 0): joined.states}
    pairs = [(0, 0)]
    rows = []
    for joined_state, prefix_state in pairs:
        row = of_joined[joined_state].tolist()
        prefix_row = of_prefix[prefix_state].tolist()
        for column, prefix_to in enumerate(prefix_row):
            if prefix_to >= 0:  # a byte that the prefix can read can always be read by the whole
                pair = row[column], prefix_to
                number = numbers.get(pair)
                if number is None:
                    number = numbers[pair] = joined.states + len(pairs)
                    pairs.append(pair)
                row[column] = number
        rows.append(row)
        if len(pairs) > limits.automaton_states:
            raise LimitError(
                f"{_SUBJECT} needs more automaton states than the limit of {limits.automaton_states:,}.",
                limit="automaton_states",
            )
    paired = np.array([joined_state for joined_state, _ in pairs])
    return numbered(
        np.concatenate([joined.transitions, np.array(rows, np.int32)[:, class_of_byte(columns)]]),
        final=np.concatenate([joined.final, joined.final[paired]]),
        in_prefix=np.repeat([False, True], [joined.states, len(pairs)]),
        start=joined.states,
    )
