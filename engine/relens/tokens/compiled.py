"""A query made ready for a model: from two regular expressions to one token automaton.

    regular expressions --compile_language--> byte automata --this room--> token automaton

How prefix and pattern are put together is the query's boundary (design section 2). FREE: the whole string is encoded
as one, so there is one automaton, and an arc is a prefix arc iff the string it reaches still begins some prefix. TOKEN:
each part is encoded by itself and `QueryAutomaton` joins them. Without a prefix both are the same.

Excluded strings that are still in the automaton (`Language.excluded`) are checked at each match.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from relens.errors import NoEncodingError, QueryError
from relens.language.counting import count_strings
from relens.language.isolation import default_compiler
from relens.language.language import Language, LanguageCompiler
from relens.query import Boundary, Limits, Query
from relens.record import Record
from relens.shown import Shown
from relens.tokens.automaton import TokenAutomaton
from relens.tokens.boundary_advice import BoundaryAdvice, boundary_advice
from relens.tokens.encoded import token_automaton
from relens.tokens.exclusion import AllowedPattern, AllowedWhole, accepts_text
from relens.tokens.given_prefix import given_at_boundary, given_in_whole
from relens.tokens.notes import notes
from relens.tokens.query_automaton import EncodedWay, QueryAutomaton
from relens.tokens.tokenizer import Tokenizer

Compiler = LanguageCompiler

#: A finite automaton that is made as it is reached is counted up to this size; more would hold up a search.
COUNTED_STATES, COUNTED_ARCS = 1_000, 20_000

#: Python and JSON refuse to write out longer numbers.
MOST_DIGITS = 4000


@dataclass(frozen=True)
class Sizes(Record):
    """How large things came out.

    strings: of the language, None where there is no end of them, where excluded strings are still to be taken out, or
    where the number has more than 4,000 digits. token_states, token_arcs: None where they are made only as a search
    reaches them, and are infinite or many.
    """

    language_states: int
    language_arcs: int
    strings: int | None
    token_states: int | None
    token_arcs: int | None


@dataclass(frozen=True, eq=False)
class CompiledQuery(Shown):
    """A query, its language, and that language in the tokens of one tokenizer.

    ways: the token automata of `language.ways`, None for a way that the tokens cannot spell; empty where prefix and
    pattern are encoded as one. seconds: how long the compilation took. notes: plain sentences for the reader about the
    encoding. limits, compiler: those of the compilation.
    """

    query: Query
    language: Language
    automaton: TokenAutomaton
    ways: tuple[EncodedWay | None, ...]
    tokenizer: Tokenizer
    seconds: float
    sizes: Sizes
    notes: tuple[str, ...]
    limits: Limits
    compiler: Compiler

    @cached_property
    def advice(self) -> BoundaryAdvice | None:
        """Advice where the boundary forbids a token of the tokenizer, computed on first use."""
        return boundary_advice(self.query, self.language, self.tokenizer, self.limits, self.compiler)

    def accepts_text(self, text: str) -> bool:
        """Whether `text`, prefix included, is a string of the language."""
        return accepts_text(self.language, text)

    def accepts_tokens(self, token_ids: Sequence[int]) -> bool:
        """Whether the token sequence is a match: spells a string of the language, encoded as the query demands."""
        return self.automaton.accepts(token_ids)

    def given(self, prefix_text: str) -> TokenAutomaton:
        """The automaton of the query with its prefix fixed to one string (without a prefix: the query's own).

        TOKEN boundary: the encodings of the string, then those of the pattern. FREE: the encodings of all texts of the
        language that begin with the string; its prefix arcs are those that stay within it. Raises `QueryError` for a
        text that is no string of the prefix, and its subclass `NoEncodingError` for one that cannot be spelled.
        """
        if not self.language.prefix.accepts(prefix_text):
            raise QueryError(f"{prefix_text!r} is not a string of the prefix.")
        if not self.query.prefix:
            return self.automaton
        if not self.ways:
            return given_in_whole(prefix_text, self.automaton, self.tokenizer)
        for way, (prefix, _) in zip(self.ways, self.language.ways, strict=True):
            if way is not None and prefix.accepts(prefix_text):
                return given_at_boundary(
                    prefix_text, way.pattern, self.tokenizer, self.query.prefix_encoding, self.limits
                )
        raise NoEncodingError(f"What follows {prefix_text!r} has no encoding in this vocabulary.")

    def prefix_paths(self) -> TokenAutomaton | None:
        """The encodings of all strings of the prefix, each by itself, to count and draw; None without a prefix."""
        if not self.query.prefix:
            return None
        return token_automaton(self.language.prefix, self.tokenizer, self.query.prefix_encoding, self.limits)

    def is_canonical(self, token_ids: Sequence[int], prefix_tokens: int) -> bool:
        """Whether the tokenizer itself gives these tokens, where the first `prefix_tokens` of them are prefix arcs.

        FREE boundary: for the whole string. TOKEN: for a prefix and a pattern, each encoded by itself; the prefix may
        have ended before the last prefix arc, since that is only the last token that could still belong to it.
        """
        tokens = list(token_ids)
        if not is_split(self.query):
            return self.tokenizer.is_canonical(tokens)
        return any(self._is_canonical_split(tokens[:end], tokens[end:]) for end in range(prefix_tokens, -1, -1))

    def _is_canonical_split(self, head: list[int], tail: list[int]) -> bool:
        """Whether `head` is the encoding of a prefix and `tail` that of a pattern, in one of the ways."""
        start, rest = self.tokenizer.decode_bytes(head), self.tokenizer.decode_bytes(tail, continues=True)
        return (
            any(prefix.accepts(start) and pattern.accepts(rest) for prefix, pattern in self.language.ways)
            and not (self.language.excluded is not None and self.language.excluded.accepts(rest))
            and self.tokenizer.is_canonical(head)
            and self.tokenizer.is_canonical(tail, continues=True)
        )


def is_split(query: Query) -> bool:
    """Whether prefix and pattern are encoded apart."""
    return query.boundary is Boundary.TOKEN and query.prefix != ""


def compile_query(
    query: Query, tokenizer: Tokenizer, limits: Limits | None = None, compiler: Compiler | None = None
) -> CompiledQuery:
    """Compile `query` for a tokenizer.

    `compiler` turns (query, limits) into a `Language`; by default in a child process, where the limits of time and
    memory hold (`relens.language.isolation`); `relens.language.compile_language` does it here and now. Raises the
    compiler's `RegexError`, `EmptyLanguageError` and `LimitError`, and `NoEncodingError` when no string of the language
    can be spelled with the tokenizer's tokens.
    """
    begun = time.perf_counter()
    limits, compiler = limits or Limits(), compiler or default_compiler()
    language = compiler(query, limits)
    excluded = language.excluded
    ways: tuple[EncodedWay | None, ...] = ()
    if is_split(query):
        ways = _encoded_ways(query, language, tokenizer, limits)
        spelled = [way for way in ways if way is not None]
        parts = [part for way in spelled for part in way]
        if excluded is not None:
            ways = tuple(
                way and EncodedWay(way.prefix, AllowedPattern(way.pattern, excluded, tokenizer)) for way in ways
            )
        automaton: TokenAutomaton = QueryAutomaton([way for way in ways if way is not None])
    else:
        automaton = token_automaton(language.whole, tokenizer, query.encoding, limits)
        parts = [automaton]
        if excluded is not None:
            automaton = AllowedWhole(automaton, language, tokenizer)
    count = count_strings(language.whole)
    token_states, token_arcs = automaton.states, automaton.arc_count
    if token_states is None and count is not None:
        token_states, token_arcs = counted(automaton)
    is_known = count is not None and excluded is None and count.bit_length() < MOST_DIGITS * 3
    return CompiledQuery(
        query=query,
        language=language,
        automaton=automaton,
        ways=ways,
        tokenizer=tokenizer,
        seconds=time.perf_counter() - begun,
        sizes=Sizes(
            language_states=language.whole.states,
            language_arcs=language.whole.arcs,
            strings=count if is_known else None,
            token_states=token_states,
            token_arcs=token_arcs,
        ),
        notes=notes(query, language, parts, tokenizer),
        limits=limits,
        compiler=compiler,
    )


def _encoded_ways(
    query: Query, language: Language, tokenizer: Tokenizer, limits: Limits
) -> tuple[EncodedWay | None, ...]:
    """The token automata of each way; None for one whose prefix or pattern cannot be spelled, while another can."""
    ways: list[EncodedWay | None] = []
    refusal: NoEncodingError | None = None
    for prefix, pattern in language.ways:
        try:
            ways.append(
                EncodedWay(
                    token_automaton(prefix, tokenizer, query.prefix_encoding, limits),
                    token_automaton(pattern, tokenizer, query.encoding, limits, continues=True),
                )
            )
        except NoEncodingError as error:
            ways.append(None)
            refusal = refusal or error
    if refusal is not None and not any(ways):
        raise refusal
    return tuple(ways)


def counted(automaton: TokenAutomaton) -> tuple[int | None, int | None]:
    """The states and arcs of an automaton that is made as it is reached; None, None where there are too many."""
    seen, waiting, arcs = {automaton.start}, [automaton.start], 0
    while waiting:
        state = waiting.pop()
        arcs += len(automaton.arcs(state).tokens)
        if len(seen) > COUNTED_STATES or arcs > COUNTED_ARCS:
            return None, None
        reached = set(automaton.destinations(state).tolist()) - seen
        seen |= reached
        waiting += reached
    return len(seen), arcs
