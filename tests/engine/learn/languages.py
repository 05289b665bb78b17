"""Patterns of the lessons' tests, and whether an automaton over characters is the same as one over bytes."""

from __future__ import annotations

from relens.language.automaton import ByteAutomaton
from relens.language.character_steps import CharacterSteps
from relens.learn.automata import CharacterAutomaton

#: Patterns whose lessons together have every kind of step.
PATTERNS = [
    "The ((cat)|(dog))",
    "(a|b)*abb",
    "caf(é|e)s?",
    "[0-9]{2,3}",
    "I'm (sure|fine)",
    "(ab|a)(c|bcd)?",
    "a{0,3}b+|",
    "x(é|日)*",
]


def is_same_automaton(characters: CharacterAutomaton, in_bytes: ByteAutomaton) -> bool:
    """Whether the states over characters are those over bytes that lie between characters, arc by arc.

    Of each range of an arc its first, middle and last characters are followed.
    """
    steps = CharacterSteps(in_bytes)
    partner, order = {0: 0}, [0]
    for state in order:  # which grows meanwhile
        if (state in characters.finals) != bool(in_bytes.final[partner[state]]):
            return False
        reached = set()
        for arc in characters.leaving[state]:
            for low, high in arc.characters:
                for code in (low, (low + high) // 2, high):
                    target = steps.step(partner[state], chr(code).encode("utf-8", "surrogatepass"))
                    if arc.target not in partner:
                        partner[arc.target] = target
                        order.append(arc.target)
                    if target < 0 or partner[arc.target] != target:
                        return False
                    reached.add(target)
        if steps.destinations(partner[state]) != reached:
            return False
    return len(set(partner.values())) == len(partner) == characters.states
