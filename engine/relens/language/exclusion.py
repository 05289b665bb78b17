r"""Strings that are taken out of a language.

`(cat|dog|the)` without the stop words is `(cat|dog)`. The automaton of a difference is that of the language, run side
by side with one of the excluded strings:

    c a t    (3, dead)     final, because only the left one is
    t h e    (3, {7})      not final, because the right one, in 7, is

The right one is nondeterministic and is followed by sets of its states, made as they are reached (see
`relens.language.nondeterministic`), so that what the language never says is never built. Mostly that is little.
But `[ab]{60}` without `[ab]*a[ab]{30}` takes 2^31 states. Then nothing is taken out: the language stays as it is, and
each match is held against the excluded strings when it is found. Either way the answer is the same.
"""

from __future__ import annotations

import re

import numpy as np

from relens.errors import LimitError
from relens.language.automaton import ByteAutomaton
from relens.language.deterministic import (
    RangeArcs,
    arcs_of_tree,
    automaton_of_arcs,
    class_of_byte,
    first_bytes,
    labelled,
)
from relens.language.nondeterministic import NondeterministicAutomaton, States
from relens.language.openfst import without_silent_arcs
from relens.language.stop_words import STOP_WORDS
from relens.language.syntax import parse_regex
from relens.language.tree import Alternation, Node
from relens.query import Exclude, Limits

#: How many steps the two may take side by side, at most (about a microsecond each). 0 takes nothing out ahead.
MOST_WORK = 1_000_000
#: Arcs of the automaton of excluded strings, at most: each match may have to be held against all of them.
_MOST_ARCS = 250_000

_SUBJECT = "The expression to exclude"
_EDGE = r"[\s!-/:-@\[-`{-~]*"  # blanks and the punctuation of ASCII


def excluded_strings(exclude: Exclude, limits: Limits) -> NondeterministicAutomaton | None:
    """The automaton of all strings to exclude, None where there are none.

    Raises `RegexError` (part "exclude") and `LimitError`.
    """
    trees = []
    if exclude.regex:
        trees.append(parse_regex(exclude.regex, limits, "exclude"))
    if exclude.words or exclude.stop_words:
        trees.append(_words_alone(exclude, limits))
    if not trees:
        return None
    tree = trees[0] if len(trees) == 1 else Alternation(0, 0, tuple(trees))
    bounds, arcs = labelled(arcs_of_tree(tree, limits, _SUBJECT), _SUBJECT)
    arcs = without_silent_arcs(arcs)
    if not arcs.final.any():
        return None
    if len(arcs.labels) > _MOST_ARCS:
        raise LimitError(
            f"{_SUBJECT} takes {len(arcs.labels):,} automaton arcs, more than {_MOST_ARCS:,}.",
            limit="automaton_states",
        )
    return NondeterministicAutomaton(
        sources=arcs.sources,
        lows=bounds[arcs.labels - 1],
        highs=bounds[arcs.labels] - 1,
        destinations=arcs.destinations,
        final=arcs.final,
    )


def difference(automaton: ByteAutomaton, excluded: NondeterministicAutomaton, limits: Limits) -> ByteAutomaton | None:
    """The minimal automaton of the strings of `automaton` that are not in `excluded`, None where it gets too large."""
    sets = excluded.sets
    worked = sets.work
    columns = np.union1d(first_bytes(automaton.transitions), sets.first_bytes)
    table, bytes_read = automaton.transitions[:, columns], columns.tolist()
    pairs: list[tuple[int, States]] = [(0, sets.start)]
    numbers = {pairs[0]: 0}
    rows = []
    for state, strings in pairs:
        if len(pairs) * len(columns) + sets.work - worked > MOST_WORK:
            return None
        row = table[state].tolist()
        for column, destination in enumerate(row):
            if destination < 0:
                continue
            following = sets.step(strings, bytes_read[column])
            if not following:  # nothing can be excluded any more: on in the automaton itself, for now numbered from -2
                row[column] = -2 - destination
                continue
            pair = destination, following
            number = numbers.get(pair)
            if number is None:
                number = numbers[pair] = len(pairs)
                pairs.append(pair)
            row[column] = number
        rows.append(row)
    side_by_side = np.array(rows, np.int32)
    side_by_side = np.where(side_by_side <= -2, len(pairs) - 2 - side_by_side, side_by_side)[:, class_of_byte(columns)]
    alone = np.where(automaton.transitions < 0, -1, automaton.transitions + len(pairs))
    final = [bool(automaton.final[state]) and not sets.is_final(strings) for state, strings in pairs]
    arcs = RangeArcs.of_table(
        np.concatenate([side_by_side, alone]).astype(np.int32), np.concatenate([np.array(final), automaton.final])
    )
    try:
        return automaton_of_arcs(arcs, limits, "The difference", is_deterministic=True)
    except LimitError:
        return None


def _words_alone(exclude: Exclude, limits: Limits) -> Node:
    """The strings that are one of the words in any case, with nothing but blanks and punctuation around it."""
    length = sum(map(len, exclude.words))
    if length > limits.regex_length:
        raise LimitError(
            f"The words to exclude have {length:,} characters, more than the limit of {limits.regex_length:,}.",
            limit="regex_length",
        )
    words = [word.strip() for word in exclude.words] + list(STOP_WORDS if exclude.stop_words else ())
    source = f"{_EDGE}(?i:{'|'.join(map(re.escape, dict.fromkeys(words)))}){_EDGE}"
    return parse_regex(source, Limits(regex_length=len(source)), "exclude")
