"""The given part of a query's prefix, known before the first forward.

`George Washington was born on` is one path of prefix arcs: it is given, and masses are conditional on it.
`The (cat|dog)` is two, and which of them comes is left open: masses include the probability of the prefix.
"""

from __future__ import annotations

from relens.errors import QueryError
from relens.tokens.automaton import TokenAutomaton


def prefix_is_literal(automaton: TokenAutomaton, longest: int, context_length: int) -> bool:
    """Whether there is exactly one path of prefix arcs (or none), so that masses are given the prefix.

    Raises `QueryError` when that path has more than `longest` tokens.
    """
    state, length = automaton.start, 0
    while True:
        arcs = automaton.arcs(state)
        if not arcs.in_prefix.any():
            return True
        if len(arcs.tokens) > 1 or automaton.is_final(state):
            return False
        if length == longest:
            raise QueryError(
                f"The prefix alone takes more than {longest} tokens, which is the longest match allowed here (the model"
                f" itself holds {context_length})."
            )
        state = automaton.step(state, int(arcs.tokens[0]))
        length += 1


def first_given_token(automaton: TokenAutomaton) -> int:
    """The first token of a search without begin-of-text, where it has no distribution: the only one, and in the prefix.

    Raises `QueryError` where there is no such token.
    """
    arcs = automaton.arcs(automaton.start)
    if not arcs.in_prefix.all() or automaton.is_final(automaton.start):
        raise QueryError(
            "Without a begin-of-text token the model has no probability for a first token:"
            " switch begin-of-text on, or write a prefix."
        )
    if len(arcs.tokens) > 1:
        raise QueryError(
            f"Without a begin-of-text token nothing ranks the {len(arcs.tokens)} tokens with which the prefix can"
            " begin: switch begin-of-text on, or begin the prefix with a literal word."
        )
    return int(arcs.tokens[0])
