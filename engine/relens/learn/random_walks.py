"""Random walks through an automaton, with and without walk counts, and the places of the edits in their strings.

    The     663 strings within one edit

    by edges      at the start there are 95 ways on, and one is no edit: 94 of 95 walks are edited in the first place
    by strings    an arc counts for the strings behind it: 474 of the 663 are behind the T, and every place has a share
    by tokens     a string counts for its encodings: the more it has, the likelier it is

A walk by edges spends its one edit at the beginning, so the end of a string is hardly ever edited. Walk counts,
w(q) = [q is final] + sum of w over the arcs of q, correct this (`relens.language.walks`). By tokens, walks are counted
in the automaton of tokens: that is uniform over encodings, not over strings.

The draws are the engine's own. Their exact distribution is computed without draws: the language is small, so every
string is listed, with its probability by each of the three rules and the place of its edit.

Source: ReLM appendix C (Figure 9).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

import numpy as np

from relens.errors import LimitError, QueryError
from relens.language.automaton import ByteAutomaton
from relens.language.counting import count_strings, describe_count
from relens.language.isolation import default_compiler
from relens.language.language import Language, LanguageCompiler
from relens.language.reading import Reader
from relens.language.walks import edge_strings, uniform_strings
from relens.learn.crossings import Atlas, Crossing, Walk
from relens.pictures.graphs import Graph, numbered_language_graph
from relens.query import Edits, Encoding, Limits, Query
from relens.record import Record
from relens.tokens.automaton import TokenAutomaton
from relens.tokens.encoded import token_automaton
from relens.tokens.token_walks import token_walks, uniform_token_paths
from relens.tokens.tokenizer import Tokenizer

Rule = Literal["strings", "edges", "tokens"]
#: The rules in the order of their comparison.
RULES: tuple[Rule, ...] = ("strings", "edges", "tokens")

MOST_STRINGS, MOST_DRAWS, FOLLOWED = 12_000, 5_000, 12
#: The place of the edit in an unedited string.
UNEDITED = -1
_DRAWN_STATES = 60


@dataclass(frozen=True)
class Draws(Record):
    """The draws of one rule. positions: of the edit of each draw, in order, `UNEDITED` for none. exact: the probability
    of each position, the unedited strings first: exact[0] is theirs, exact[1 + p] that of position p.
    walks: the first few, to be followed; () of the rule over tokens.
    """

    rule: Rule
    positions: tuple[int, ...]
    exact: tuple[float, ...]
    walks: tuple[Walk, ...]


@dataclass(frozen=True)
class RandomWalks(Record):
    """Draws from all strings within one edit of a pattern, by each rule.

    strings: their number; encodings: that of their token sequences, in words. crossings: of the walks to be followed.
    graph: their automaton over characters.
    """

    pattern: str
    model: str
    seed: int
    strings: int
    encodings: str
    graph: Graph
    crossings: tuple[Crossing, ...]
    draws: tuple[Draws, ...]


def random_walks(
    pattern: str,
    tokenizer: Tokenizer,
    *,
    draws: int = MOST_DRAWS,
    seed: int = 0,
    limits: Limits | None = None,
    compiler: LanguageCompiler | None = None,
) -> RandomWalks:
    """Draw from the strings within one edit of `pattern`.

    Raises `RegexError`, `LimitError` for a language of more than `MOST_STRINGS` strings, and `QueryError` for a number
    of draws out of range.
    """
    if not 1 <= draws <= MOST_DRAWS or seed < 0:
        raise QueryError(f"Between 1 and {MOST_DRAWS:,} walks are drawn, with a seed of 0 or more.")
    limits = limits or Limits()
    query = Query(pattern, edits=Edits(1, where="pattern"))
    language = (compiler or default_compiler())(query, limits)
    automaton = language.whole
    count = count_strings(automaton)
    if count is None or count > MOST_STRINGS:
        raise LimitError(
            f"Within one edit the pattern has {describe_count(count)} strings; this comparison lists all of them, at"
            f" most {MOST_STRINGS:,}.",
            limit="strings",
        )
    place = _Places(Reader(query, language, limits), language)
    listed = _listed(automaton)
    paths = token_automaton(automaton, tokenizer, Encoding.ALL, limits)
    longest = max(len(text.encode()) for text, _ in listed)
    spellings = _Spellings(paths, longest, tokenizer)

    def by_tokens(generator: random.Random) -> list[str]:
        drawn = uniform_token_paths(paths, draws, generator, longest)
        return [tokenizer.decode_bytes(path).decode() for path in drawn]

    ways: dict[Rule, tuple[Callable[[random.Random], list[str]], list[Fraction | int]]] = {
        "strings": (lambda generator: uniform_strings(automaton, draws, generator, longest), [1] * len(listed)),
        "edges": (lambda generator: edge_strings(automaton, draws, generator, longest), [by for _, by in listed]),
        "tokens": (by_tokens, [spellings.count(text) for text, _ in listed]),
    }
    graph, numbers = numbered_language_graph(automaton, _DRAWN_STATES)
    atlas = Atlas(automaton, numbers)
    result = []
    for rule in RULES:
        draw, weights = ways[rule]
        texts = draw(random.Random(seed))
        result.append(
            Draws(
                rule=rule,
                positions=tuple(place.of(text) for text in texts),
                exact=_exact([place.of(text) for text, _ in listed], weights),
                walks=() if rule == "tokens" else tuple(atlas.walk(text) for text in texts[:FOLLOWED]),
            )
        )
    return RandomWalks(
        pattern=pattern,
        model=tokenizer.name,
        seed=seed,
        strings=count,
        encodings=describe_count(sum(spellings.count(text) for text, _ in listed)),
        graph=graph,
        crossings=tuple(atlas.crossings),
        draws=tuple(result),
    )


def _listed(automaton: ByteAutomaton) -> list[tuple[str, Fraction]]:
    """Every string of a finite language, and its exact probability in a walk by edges."""
    listed: list[tuple[str, Fraction]] = []
    rows = [[(byte, end) for byte, end in enumerate(row) if end >= 0] for row in automaton.transitions.tolist()]
    final = automaton.final.tolist()
    waiting = [(0, b"", Fraction(1))]
    while waiting:
        state, read, reached = waiting.pop()
        each = reached / (len(rows[state]) + final[state])
        if final[state]:
            listed.append((read.decode(), each))
        waiting += [(end, read + bytes([byte]), each) for byte, end in rows[state]]
    return listed


def _exact(places: Sequence[int], weights: Sequence[Fraction | int]) -> tuple[float, ...]:
    """The probability of each place, from `UNEDITED` on, by the weights of the strings."""
    totals: Counter[int] = Counter()
    for place, weight in zip(places, weights, strict=True):
        totals[place] += weight  # type: ignore[assignment]  # fractions are counted as whole numbers are
    everything = sum(totals.values())
    return tuple(float(Fraction(totals[place]) / everything) for place in range(UNEDITED, max(places) + 1))


class _Places:
    """The places of edits in strings.

    Nearly all strings differ only in the character that an edit writes. Characters with the same arcs everywhere, in
    the edited language and in the original, are read as one: a few hundred strings in place of thousands.
    """

    def __init__(self, reader: Reader, language: Language) -> None:
        before = language.unedited or (language.whole,)
        columns = np.concatenate([automaton.transitions for automaton in (language.whole, *before)])[:, :0x80]
        _, first, which = np.unique(columns, axis=1, return_index=True, return_inverse=True)
        self._stand_ins = {byte: int(first[place]) for byte, place in enumerate(which.ravel().tolist())}
        self._read = lru_cache(maxsize=MOST_STRINGS)(reader.read)

    def of(self, text: str) -> int:
        """The position of the edit, in characters of the text; `UNEDITED`."""
        edits = self._read(text.translate(self._stand_ins)).edits
        return edits[0].position if edits else UNEDITED


class _Spellings:
    """The number of encodings of a text by the tokens of an automaton: the sum over the tokens it begins with."""

    def __init__(self, paths: TokenAutomaton, longest: int, tokenizer: Tokenizer) -> None:
        used = np.unique(token_walks(paths, longest).tokens).tolist()
        self._tokens = Counter(filter(None, (tokenizer.vocabulary[token] for token in used)))
        self._longest = max(map(len, self._tokens))
        self.count = lru_cache(maxsize=MOST_STRINGS)(self._count)

    def _count(self, text: str) -> int:
        data = text.encode()
        ways = [0] * len(data) + [1]
        for start in range(len(data) - 1, -1, -1):
            ends = range(start + 1, min(len(data), start + self._longest) + 1)
            ways[start] = sum(self._tokens[data[start:end]] * ways[end] for end in ends if ways[end])
        return ways[0]
