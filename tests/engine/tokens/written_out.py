"""Query languages written out string by string, with edits and exclusions made by hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from relens.language.automaton import ByteAutomaton
from relens.language.language import Language
from relens.language.nondeterministic import NondeterministicAutomaton

Strings = frozenset[str]


def edited(texts: Iterable[str], alphabet: str) -> Strings:
    """The strings and all that are one edit away."""
    edited_texts = set(texts)
    for text in texts:
        for place in range(len(text) + 1):
            head, tail = text[:place], text[place:]
            edited_texts |= {head + tail[1:]} | {head + letter + tail for letter in alphabet}
            edited_texts |= {head + letter + tail[1:] for letter in alphabet if tail}
    return frozenset(edited_texts)


def tree(texts: Iterable[str], prefixes: Iterable[str] = ()) -> ByteAutomaton:
    """The automaton of some strings, a state for each of their beginnings; marked: the beginnings of `prefixes`."""
    data = {text.encode() for text in texts}
    beginnings = sorted({item[:end] for item in data for end in range(len(item) + 1)} | {b""}, key=len)
    number = {item: state for state, item in enumerate(beginnings)}
    transitions = np.full((len(beginnings), 256), -1, np.int32)
    for item in beginnings[1:]:
        transitions[number[item[:-1]], item[-1]] = number[item]
    marked = {text.encode()[:end] for text in prefixes for end in range(len(text.encode()) + 1)}
    return ByteAutomaton(
        transitions,
        np.array([item in data for item in beginnings]),
        np.array([item in marked for item in beginnings]),
    )


def nondeterministic(automaton: ByteAutomaton) -> NondeterministicAutomaton:
    """The same automaton, arc by arc."""
    sources, read = np.nonzero(automaton.transitions >= 0)
    after = automaton.transitions[sources, read].astype(np.int64)
    return NondeterministicAutomaton(sources, read, read, after, automaton.final)


def written_language(
    ways: Sequence[tuple[Iterable[str], Iterable[str]]],
    excluded: Iterable[str] = (),
    *,
    unedited: tuple[Iterable[str], Iterable[str]] | None = None,
    taken_out: bool = True,
) -> Language:
    """The language of some ways to divide, without `excluded` patterns: taken out ahead, or checked at matches."""
    without = set(excluded) if taken_out else set()
    pairs = [(frozenset(prefix), frozenset(pattern) - without) for prefix, pattern in ways]
    prefixes = frozenset().union(*(prefix for prefix, _ in pairs))
    patterns = frozenset().union(*(pattern for _, pattern in pairs))
    whole = {prefix + pattern for heads, tails in pairs for prefix in heads for pattern in tails}
    return Language(
        prefix=tree(prefixes),
        pattern=tree(patterns),
        whole=tree(whole, prefixes),
        ways=tuple((tree(prefix), tree(pattern)) for prefix, pattern in pairs),
        unedited=None if unedited is None else (tree(unedited[0]), tree(unedited[1])),
        excluded=nondeterministic(tree(excluded)) if excluded and not taken_out else None,
    )


def one_edit_in_all(prefixes: Iterable[str], patterns: Iterable[str], alphabet: str) -> list[tuple[Strings, Strings]]:
    """The ways in which prefix and pattern share one edit."""
    return [
        (frozenset(prefixes), edited(patterns, alphabet)),
        (edited(prefixes, alphabet), frozenset(patterns)),
    ]
