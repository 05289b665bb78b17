"""The paths of a token automaton as columns of arcs, to be counted and drawn from.

    all encodings of `ab`:    0 --a--> 1 --b--> 2      sources 0, 1, 0    tokens a, b, ab    destinations 1, 2, 2
                              0 --ab-> 2               final   2

Two paths, two encodings, one string: a string that can be spelled in many ways is as likely to be drawn as it has
encodings. That is what counting walks over tokens does, and what drawing prefixes "by token path" shows.
"""

from __future__ import annotations

import random
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from relens.errors import LimitError, QueryError
from relens.language.walks import Walks
from relens.tokens.automaton import TokenAutomaton

#: More arcs than that are not looked at one state after the other: some seconds.
MOST_ARCS = 2_000_000
#: How often a path that does not belong (see `needs_confirmation`) is drawn again, for each path drawn.
MOST_TRIES = 1_000


class TokenWalks(NamedTuple):
    """Arcs in columns, (arcs,) int64 each; final: (states,) bool. State 0 is the start."""

    sources: npt.NDArray[np.int64]
    tokens: npt.NDArray[np.int64]
    destinations: npt.NDArray[np.int64]
    final: npt.NDArray[np.bool_]


def token_walks(automaton: TokenAutomaton, longest: int, most_arcs: int = MOST_ARCS) -> TokenWalks:
    """The arcs of all paths of at most `longest` tokens, found breadth first.

    Raises `LimitError` over `most_arcs`: canonical encodings of `[a-z]+` have two hundred million.
    """
    numbers = {automaton.start: 0}
    level = [automaton.start]
    columns: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]] = []
    count = 0
    for _ in range(longest):
        following: list[int] = []
        for state in level:
            tokens = automaton.arcs(state).tokens
            count += len(tokens)
            if count > most_arcs:
                raise LimitError(
                    f"The encodings have more than {most_arcs:,} arcs, too many to count their paths.",
                    limit="token_arcs",
                )
            reached, which = np.unique(automaton.destinations(state), return_inverse=True)
            for target in reached.tolist():
                if target not in numbers:
                    numbers[target] = len(numbers)
                    following.append(target)
            renumbered = np.array([numbers[target] for target in reached.tolist()], np.int64)
            columns.append((np.full(len(tokens), numbers[state]), tokens.astype(np.int64), renumbered[which]))
        level = following
    none = np.zeros(0, np.int64)
    sources, tokens_read, destinations = zip((none, none, none), *columns, strict=True)
    return TokenWalks(
        np.concatenate(sources),
        np.concatenate(tokens_read),
        np.concatenate(destinations),
        np.array([automaton.is_final(state) for state in numbers], np.bool_),
    )


def uniform_token_paths(
    automaton: TokenAutomaton, count: int, generator: random.Random, longest: int, most_arcs: int = MOST_ARCS
) -> list[list[int]]:
    """`count` token sequences of at most `longest` tokens, each accepted one equally likely.

    Raises `LimitError` as `token_walks` does, and `QueryError` where the automaton accepts no sequence so short.
    """
    arcs = token_walks(automaton, longest, most_arcs)
    walks = Walks(arcs.sources, arcs.tokens, arcs.destinations, arcs.final, longest)
    if not walks.count:
        raise QueryError(f"The prefix has no encoding of at most {longest} tokens.")
    drawn: list[list[int]] = []
    tries = count * MOST_TRIES
    while len(drawn) < count:
        if not tries:
            raise QueryError("Hardly any path of these tokens is an encoding, so none can be drawn by token path.")
        tries -= 1
        path = walks.draw(generator)
        if not automaton.needs_confirmation or automaton.confirm(path):
            drawn.append(path)
    return drawn
