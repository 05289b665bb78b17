"""Edits by brute force: the strings around a string, one edit after the other."""

from __future__ import annotations

from functools import cache

from relens.language.alignment import EditRules

LETTERS = "abcé"


def one_edit(text: str, rules: EditRules, letters: str = LETTERS) -> set[str]:
    """The strings that one allowed edit makes of `text`, where what is written is among `letters`."""
    return _one_edit(text, *rules[:3], "".join(filter(rules.writable, letters)))


@cache
def _one_edit(text: str, insertions: bool, deletions: bool, substitutions: bool, written: str) -> set[str]:
    made: set[str] = set()
    for place in range(len(text) + 1):
        before, after = text[:place], text[place:]
        if insertions:
            made.update(before + letter + after for letter in written)
        if after and deletions:
            made.add(before + after[1:])
        if after and substitutions:
            made.update(before + letter + after[1:] for letter in written if letter != after[0])
    return made


def edits_apart(source: str, target: str, most: int, rules: EditRules, letters: str = LETTERS) -> int | None:
    """The fewest edits from `source` to `target`, or None for more than `most`: breadth first."""
    level, seen = {source}, {source}
    for distance in range(most + 1):
        if target in level:
            return distance
        level = {made for text in level for made in one_edit(text, rules, letters)} - seen
        seen |= level
    return None
