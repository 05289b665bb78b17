r"""From a query to its language: prefix and pattern, edited, with strings taken out, joined and marked.

    expression --syntax--> tree --deterministic--> automaton of the prefix and of the pattern
                                --edits----------> and those within one or two edits
                                --exclusion------> without some strings
                                --concatenation--> one after the other, the boundary marked

All functions here compile here and now. A hostile expression such as `[ab]*a[ab]{30}` needs 2^31 states, which no
estimate foresees: where strangers type, use `relens.language.isolation.isolated_compiler`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from relens.errors import EmptyLanguageError, RegexError
from relens.language.alphabet import alphabet_ranges
from relens.language.automaton import ByteAutomaton
from relens.language.characters import Ranges
from relens.language.concatenation import concatenate, mark_prefix
from relens.language.deterministic import automaton_of_tree
from relens.language.edits import EditedLanguage
from relens.language.exclusion import difference, excluded_strings
from relens.language.language import Language, Way
from relens.language.nondeterministic import NondeterministicAutomaton
from relens.language.syntax import parse_regex
from relens.language.tree import Alternation, Concatenation, Group, Node, Repetition
from relens.query import Limits, Query

__all__ = ["Language", "compile_job", "compile_language", "compile_regex", "warm_up"]


def compile_regex(pattern: str, limits: Limits | None = None, part: str = "pattern") -> ByteAutomaton:
    r"""The minimal automaton of the strings that `re.fullmatch(pattern, ...)` accepts, as UTF-8.

    Strings with lone surrogates, which `re` accepts and UTF-8 cannot spell, are not in the language. States are
    numbered breadth first in the order of bytes. part: "prefix" or "pattern", for messages.

    Raises `RegexError` for a malformed or unsupported expression and `LimitError` for one that is too long or too
    large. An empty language is no error here: its automaton `is_empty`.
    """
    limits = limits or Limits()
    return automaton_of_tree(parse_regex(pattern, limits, part), limits, f"The {part}")


def compile_language(query: Query, limits: Limits | None = None) -> Language:
    """The language of a query: edited, without what is excluded, and its boundary marked.

    Raises what `compile_regex` raises, also for the parts "alphabet" and "exclude", and `EmptyLanguageError` where no
    string can match.
    """
    limits = limits or Limits()
    trees = parse_regex(query.prefix, limits, "prefix"), parse_regex(query.pattern, limits, "pattern")
    _check_names(trees, query.pattern)
    alphabet = alphabet_ranges(query.edits, limits) if query.edits else ()
    excluded = excluded_strings(query.exclude, limits)
    prefix, pattern = (
        automaton_of_tree(tree, limits, f"The {part}") for tree, part in zip(trees, ("prefix", "pattern"), strict=True)
    )
    for automaton, part in ((prefix, "prefix"), (pattern, "pattern")):
        if automaton.is_empty:
            raise EmptyLanguageError(f"No string at all can match the {part}.")
    plain = prefix, pattern
    ways = _edited(query, trees, plain, alphabet, limits)
    if excluded is not None:
        without = _without(ways, excluded, limits)
        ways, excluded = (ways, excluded) if without is None else (without, None)
    if len(ways) > 1 or (query.prefix and ways[0] != plain):
        joined = concatenate(ways, limits)
    elif query.prefix:
        joined = automaton_of_tree(Concatenation(0, 0, trees), limits, "The prefix followed by the pattern")
    else:
        joined = ways[0][1]
    prefix, pattern = ways[-1][0], ways[0][1]
    return Language(
        prefix=prefix,
        pattern=pattern,
        whole=mark_prefix(joined, prefix, limits),
        ways=ways,
        unedited=plain if query.edits else None,
        excluded=excluded,
    )


def compile_job(payload: Mapping[str, Any]) -> dict[str, Any]:
    """`compile_language` for an isolated process: query and limits in, the arrays of a Language out."""
    query, limits = Query.from_json(payload["query"]), Limits.from_json(payload["limits"])
    return compile_language(query, limits).to_arrays()


def warm_up() -> None:
    """Fill the caches that the first expression with a class or a case flag would wait for (some 0.2 s)."""
    compile_regex(r"(?i:[a-z]\w)\W\d\D\s\S.")
    compile_regex(r"(?a)\w\W\d\D\s\S(?s:.)")


def _edited(query: Query, trees: tuple[Node, Node], plain: Way, alphabet: Ranges, limits: Limits) -> tuple[Way, ...]:
    """The ways to share the edits, fewest edits of the prefix first; (plain,) where there are none."""
    edits = query.edits
    if not edits:
        return (plain,)
    most_in_prefix = edits.distance if query.prefix and edits.where != "pattern" else 0
    most_in_pattern = edits.distance if edits.where != "prefix" else 0

    def within(index: int, most: int) -> list[ByteAutomaton]:
        """A part within 0, 1, ... `most` edits."""
        if not most:
            return [plain[index]]
        subject = "The prefix" if index == 0 else "The pattern"
        language = EditedLanguage(trees[index], edits, alphabet, limits, subject)
        least = 1 if edits.where == "both" and query.prefix else most
        return [plain[index], *(language.within(distance) for distance in range(least, most + 1))]

    prefixes, patterns = within(0, most_in_prefix), within(1, most_in_pattern)
    if most_in_prefix and most_in_pattern:
        return tuple(zip(prefixes, reversed(patterns), strict=True))
    return ((prefixes[-1], patterns[-1]),)


def _without(ways: tuple[Way, ...], excluded: NondeterministicAutomaton, limits: Limits) -> tuple[Way, ...] | None:
    """The ways without the excluded strings, None where that would be too large."""
    left: list[Way] = []
    for prefix, pattern in ways:
        rest = difference(pattern, excluded, limits)
        if rest is None:
            return None
        if not rest.is_empty:  # with fewer edits there may be nothing left, and so no such way
            left.append((prefix, rest))
    if not left:
        raise EmptyLanguageError("Every string that can match the pattern is excluded.")
    return tuple(left)


def _check_names(trees: Sequence[Node], pattern: str) -> None:
    """Refuse a group of the pattern that has the name of one of the prefix: matches are read group by group."""
    of_prefix = {group.name for group in _groups(trees[0])}
    for group in _groups(trees[1]):
        if group.name in of_prefix:
            raise RegexError(
                f"The prefix has a group named {group.name!r} already, at position {group.start} of the pattern.",
                source=pattern,
                position=group.start,
                part="pattern",
            )


def _groups(node: Node) -> Iterator[Group]:
    """The named groups in `node`."""
    match node:
        case Group(item=item, name=name):
            if name is not None:
                yield node
            yield from _groups(item)
        case Repetition(item=item):
            yield from _groups(item)
        case Concatenation(items=items):
            for item in items:
                yield from _groups(item)
        case Alternation(branches=branches):
            for branch in branches:
                yield from _groups(branch)
