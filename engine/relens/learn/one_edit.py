"""All strings within one edit: the automaton has two floors, and an edit is the way up.

    floor 0    0 --c--> 1 --a--> 2 --t--> 3          no edit yet
    floor 1    4 --c--> 5 --a--> 6 --t--> 7          one edit made: only the rest of the string is left

    1 --ε--> 6             the a was left out
    1 --any--> 6           another character is in its place
    1 --any--> 5           a character was put in before it

Both floors end in matches. The result is nondeterministic, and goes through subset construction and minimisation
again. (ReLM section 3.4; Levenshtein, 1965.) Edits are of characters, so this comes before the split into bytes.
"""

from __future__ import annotations

from relens.language.characters import Ranges
from relens.learn.automata import SILENT, Arc, CharacterAutomaton


def with_one_edit(automaton: CharacterAutomaton, alphabet: Ranges) -> CharacterAutomaton:
    """Both floors of a deterministic automaton: state q upstairs is q + states. alphabet: of edits."""
    states = automaton.states
    pairs = dict.fromkeys((arc.source, arc.target) for arc in automaton.arcs)
    upstairs = [Arc(arc.source + states, arc.target + states, arc.characters) for arc in automaton.arcs]
    deletions = [Arc(source, target + states, SILENT) for source, target in pairs]
    substitutions = [Arc(source, target + states, alphabet) for source, target in pairs]
    insertions = [Arc(state, state + states, alphabet) for state in range(states)]
    return CharacterAutomaton(
        2 * states,
        automaton.finals | {state + states for state in automaton.finals},
        (*automaton.arcs, *upstairs, *deletions, *substitutions, *insertions),
    )


def arcs_of_originals(edited: CharacterAutomaton, original: CharacterAutomaton) -> set[tuple[int, int]]:
    """The (source, target) of the arcs of `edited` on strings of `original`; both are deterministic."""
    walked: set[tuple[int, int]] = set()
    seen = {(0, 0)}
    waiting = [(0, 0)]
    while waiting:
        state, unedited = waiting.pop()
        for arc in edited.leaving[state]:
            for other in original.leaving[unedited]:
                if _meet(arc.characters, other.characters):
                    walked.add((state, arc.target))
                    ahead = arc.target, other.target
                    if ahead not in seen:
                        seen.add(ahead)
                        waiting.append(ahead)
    return walked


def _meet(one: Ranges, other: Ranges) -> bool:
    return any(low <= last and first <= high for low, high in one for first, last in other)
