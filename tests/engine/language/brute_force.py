"""Edits and languages by brute force: sets of strings."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from relens.language.automaton import ByteAutomaton


def strings_over(letters: str, most: int) -> list[str]:
    """All strings of at most so many of these letters."""
    return ["".join(text) for length in range(most + 1) for text in itertools.product(letters, repeat=length)]


def strings_of(automaton: ByteAutomaton) -> set[str]:
    """All strings of a finite language."""
    steps = [[(bytes([byte]), to) for byte, to in enumerate(row) if to >= 0] for row in automaton.transitions.tolist()]
    accepted = []
    todo = [(0, b"")]
    while todo:
        state, path = todo.pop()
        if automaton.final[state]:
            accepted.append(path.decode())
        todo += [(to, path + byte) for byte, to in steps[state]]
    assert len(accepted) == len(set(accepted))
    return set(accepted)


def edited_strings(
    strings: Iterable[str],
    distance: int,
    written: str,
    *,
    insertions: bool = True,
    deletions: bool = True,
    substitutions: bool = True,
) -> set[str]:
    """All strings that at most `distance` edits make, one edit after the other; they write the letters `written`."""
    seen = set(strings)
    last = seen
    for _ in range(distance):
        made = set()
        for text in last:
            for place in range(len(text) + 1):
                before, after = text[:place], text[place:]
                if insertions:
                    made.update(before + letter + after for letter in written)
                if deletions:
                    made.add(before + after[1:])
                if substitutions and after:
                    made.update(before + letter + after[1:] for letter in written)
        last = made - seen
        seen |= made
    return seen
