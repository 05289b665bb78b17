"""A query made ready for a model: from two regular expressions to one token automaton.

    regular expressions --compile_language--> byte automata --this room--> token automaton

How prefix and pattern are put together is the query's boundary (design section 2). FREE: the whole string is encoded
as one, so there is one automaton, and an arc is a prefix arc iff the string it reaches still begins some prefix. TOKEN:
each part is encoded by itself and `QueryAutomaton` joins them. Without a prefix both are the same.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from engine.language.automaton import ByteAutomaton
from engine.language.counting import count_strings
from engine.language.language import Language, LanguageCompiler
from engine.query import Boundary, Encoding, Limits, Query, Record
from engine.tokens.automaton import TokenAutomaton
from engine.tokens.canonical import canonical_encodings
from engine.tokens.encodings import all_encodings
from engine.tokens.notes import notes
from engine.tokens.query_automaton import QueryAutomaton
from engine.tokens.text_start import with_dropped_space
from engine.tokens.tokenizer import Tokenizer

Compiler = LanguageCompiler

#: A finite automaton that is made as it is reached is counted up to this size; more would hold up a search.
COUNTED_STATES, COUNTED_ARCS = 1_000, 20_000

#: Python and JSON refuse to write out longer numbers.
MOST_DIGITS = 4000


@dataclass(frozen=True)
class Sizes(Record):
    """How large things came out.

    strings: of the language, None where there is no end of them or the number has more than 4,000 digits. token_states,
    token_arcs: None where they are made only as a search reaches them, and are infinite or many.
    """

    language_states: int
    language_arcs: int
    strings: int | None
    token_states: int | None
    token_arcs: int | None


@dataclass(frozen=True, eq=False)
class CompiledQuery:
    """A query, the language it asks about, and that language in the tokens of one tokenizer.

    seconds: how long the compilation took. notes: plain sentences for the reader about what this answer means.
    """

    query: Query
    language: Language
    automaton: TokenAutomaton
    tokenizer: Tokenizer
    seconds: float
    sizes: Sizes
    notes: tuple[str, ...]

    def accepts_text(self, text: str) -> bool:
        """Whether `text`, prefix included, is a string of the language."""
        return self.language.whole.accepts(text)

    def accepts_tokens(self, token_ids: Sequence[int]) -> bool:
        """Whether the token sequence is a match: spells a string of the language, encoded as the query demands."""
        return self.automaton.accepts(token_ids)

    def is_canonical(self, token_ids: Sequence[int], prefix_tokens: int) -> bool:
        """Whether the tokenizer itself gives these tokens, where the first `prefix_tokens` of them are prefix arcs.

        FREE boundary: for the whole string. TOKEN: for a prefix and a pattern, each encoded by itself; the prefix may
        have ended before the last prefix arc, since that is only the last token that could still belong to it.
        """
        tokens = list(token_ids)
        if not is_split(self.query):
            return self.tokenizer.is_canonical(tokens)
        return any(self._is_canonical_split(tokens, end) for end in range(prefix_tokens, -1, -1))

    def _is_canonical_split(self, tokens: list[int], end: int) -> bool:
        head, tail = tokens[:end], tokens[end:]
        return (
            self.language.prefix.accepts(self.tokenizer.decode_bytes(head))
            and self.language.pattern.accepts(self.tokenizer.decode_bytes(tail, continues=True))
            and self.tokenizer.is_canonical(head)
            and self.tokenizer.is_canonical(tail, continues=True)
        )


def is_split(query: Query) -> bool:
    """Whether prefix and pattern are encoded apart."""
    return query.boundary is Boundary.TOKEN and query.prefix != ""


def compile_query(
    query: Query, tokenizer: Tokenizer, limits: Limits | None = None, compiler: Compiler | None = None
) -> CompiledQuery:
    """Compile `query` for a tokenizer, in this process.

    `compiler` turns (query, limits) into a `Language`; the default is `engine.language.compile_language`,
    imported only when it is needed. Raises the compiler's `RegexError`, `EmptyLanguageError` and `LimitError`, and
    `NoEncodingError` when no string of the language can be spelled with the tokenizer's tokens.
    """
    begun = time.perf_counter()
    limits = limits or Limits()
    language = (compiler or _default_compiler())(query, limits)
    if is_split(query):
        automaton: TokenAutomaton = QueryAutomaton(
            encodings(language.prefix, tokenizer, query.prefix_encoding, limits),
            encodings(language.pattern, tokenizer, query.encoding, limits, continues=True),
        )
    else:
        automaton = encodings(language.whole, tokenizer, query.encoding, limits)
    count = count_strings(language.whole)
    token_states, token_arcs = automaton.states, automaton.arc_count
    if token_states is None and count is not None:
        token_states, token_arcs = counted(automaton)
    return CompiledQuery(
        query=query,
        language=language,
        automaton=automaton,
        tokenizer=tokenizer,
        seconds=time.perf_counter() - begun,
        sizes=Sizes(
            language_states=language.whole.states,
            language_arcs=language.whole.arcs,
            strings=count if count is None or count.bit_length() < MOST_DIGITS * 3 else None,
            token_states=token_states,
            token_arcs=token_arcs,
        ),
        notes=notes(language, automaton, tokenizer, is_split=is_split(query)),
    )


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


def _default_compiler() -> Compiler:
    # pynini is imported here and only here: a process that lets another one compile stays without it.
    from engine.language.compile import compile_language

    return compile_language


def encodings(
    automaton: ByteAutomaton, tokenizer: Tokenizer, encoding: Encoding, limits: Limits, continues: bool = False
) -> TokenAutomaton:
    """The token automaton of one language; with `continues` its strings go on from a text before them."""
    if encoding is Encoding.CANONICAL:
        return canonical_encodings(automaton, tokenizer, limits, continues)
    spelled = with_dropped_space(automaton) if tokenizer.drops_first_space and not continues else automaton
    return all_encodings(spelled, tokenizer.vocabulary, limits.token_arcs)
