"""A query shown while it is typed: explained, counted, drawn, before any model is loaded.

    prefix "The"   pattern " (cat|dog)s?"
        4 strings: "The cat", "The dog", "The cats", "The dogs"
        pattern, characters 1 to 10: one of 2 alternatives ...
        the automaton over characters, and the one over the model's tokens

Any keystroke may make a pattern that takes for ever to compile. So previews are computed in child processes with limits
of time and memory, a few of them, so that one person's hard pattern does not hold up another's easy one. A child keeps
its tokenizers; the parent keeps the last previews, because people go back and forth.

If the model's tokenizer is not on this machine, the preview shows only the parts that need none. Only a run fetches it:
typing, or following a link, sends no request to the hub.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from relens.errors import NotFetchedError, RelensError
from relens.language.counting import count_strings, describe_count, example_strings
from relens.language.explain import ExplainedPart, explain
from relens.language.language import Language, LanguageCompiler
from relens.language.syntax import check_length
from relens.pictures.graphs import Graph, GraphArc, language_graph, token_graph
from relens.query import Encoding, Limits, Query
from relens.record import Record
from relens.runs.sizes import check_sizes
from relens.runs.warm_answers import WarmAnswers
from relens.tokens.boundary_advice import BoundaryAdvice
from relens.tokens.compiled import compile_query
from relens.tokens.exclusion import accepts_text
from relens.tokens.tokenizer import Tokenizer

__all__ = ["ExplainedPart", "Graph", "GraphArc", "Preview", "Previewer", "preview_language", "preview_query"]

EXAMPLES = 8
#: The parts of an explanation that are sent and shown, and the characters of their texts and meanings: nested
#: parentheses repeat their contents, so the whole can be a hundred times as long as the expression.
PARTS, LONGEST_TEXT, LONGEST_MEANING = 150, 200, 1_000


@dataclass(frozen=True)
class Preview(Record):
    """Everything the Workbench shows of a query before it runs.

    prefix_parts, pattern_parts: the first `PARTS` of each; left_out: how many more there are, of both together.
    strings: how many strings the language has, in words; finite: whether its automaton has finitely many. examples: a
    few of its strings, shortest first. language_states, language_arcs: of the automaton over bytes. token_graph: None
    without a tokenizer. token_states, token_arcs: of the automaton over tokens, None where it is made on demand, and
    without a tokenizer. notes: remarks on the encoding, for the user. advice: where the boundary forbids a token of the
    tokenizer, and a remedy; None where it does not. seconds: to compute all of this.
    """

    prefix_parts: tuple[ExplainedPart, ...]
    pattern_parts: tuple[ExplainedPart, ...]
    strings: str
    finite: bool
    examples: tuple[str, ...]
    language_graph: Graph
    token_graph: Graph | None
    language_states: int
    language_arcs: int
    token_states: int | None
    token_arcs: int | None
    notes: tuple[str, ...]
    seconds: float
    advice: BoundaryAdvice | None = None
    left_out: int = 0


def preview_query(
    query: Query,
    tokenizer: Tokenizer,
    limits: Limits | None = None,
    max_states: int = 60,
    compiler: LanguageCompiler | None = None,
) -> Preview:
    """The preview of `query` for `tokenizer`; raises the errors of `compile_query`.

    max_states: how many branching states a graph shows at most.
    """
    begun = time.perf_counter()
    compiled = compile_query(query, tokenizer, limits or Limits(), compiler)
    return replace(
        _without_tokens(query, compiled.language, max_states),
        token_graph=token_graph(compiled.automaton, tokenizer, max_states),
        token_states=compiled.sizes.token_states,
        token_arcs=compiled.sizes.token_arcs,
        notes=compiled.notes,
        advice=compiled.advice,
        seconds=time.perf_counter() - begun,
    )


def preview_language(query: Query, limits: Limits | None = None, max_states: int = 60) -> Preview:
    """The parts of the preview of `query` that need no tokenizer; otherwise as `preview_query`."""
    from relens.language.compile import compile_language

    begun = time.perf_counter()
    preview = _without_tokens(query, compile_language(query, limits or Limits()), max_states)
    return replace(preview, seconds=time.perf_counter() - begun)


def _without_tokens(query: Query, language: Language, max_states: int) -> Preview:
    whole = language.whole
    count = count_strings(whole)
    prefix_parts, pattern_parts = _explained(query.prefix), _explained(query.pattern)
    return Preview(
        prefix_parts=tuple(map(_shortened, prefix_parts[:PARTS])),
        pattern_parts=tuple(map(_shortened, pattern_parts[:PARTS])),
        left_out=max(0, len(prefix_parts) - PARTS) + max(0, len(pattern_parts) - PARTS),
        strings=_strings(count, language),
        finite=count is not None,
        examples=_examples(language),
        language_graph=language_graph(whole, max_states),
        token_graph=None,
        language_states=whole.states,
        language_arcs=whole.arcs,
        token_states=None,
        token_arcs=None,
        notes=(),
        seconds=0.0,
    )


def _strings(count: int | None, language: Language) -> str:
    """The number of strings in words; "at most" where the automaton still has excluded ones."""
    is_bound = count is not None and language.excluded is not None
    return f"at most {describe_count(count)}" if is_bound else describe_count(count)


def _examples(language: Language) -> tuple[str, ...]:
    """A few strings of the language. With excluded strings, twice as many are tried, because these may be common."""
    candidates = example_strings(language.whole, EXAMPLES if language.excluded is None else 2 * EXAMPLES)
    return tuple(text for text in candidates if accepts_text(language, text))[:EXAMPLES]


def _explained(source: str) -> tuple[ExplainedPart, ...]:
    return explain(source) if source else ()


def _shortened(part: ExplainedPart) -> ExplainedPart:
    return replace(part, text=part.text[:LONGEST_TEXT], meaning=part.meaning[:LONGEST_MEANING])


def preview_job(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The preview for a child process, without tokens where the model is None: JSON in, JSON out."""
    from relens.models.loading import tokenizer_for_page

    query, limits, model = Query.from_json(payload["query"]), Limits.from_json(payload["limits"]), payload["model"]
    if model is None:
        return {"answer": preview_language(query, limits).to_json()}
    return {"answer": preview_query(query, tokenizer_for_page(model), limits).to_json()}


def warm_up() -> None:
    """Run by every new child before its first job: makes the tables of the model that will probably be needed."""
    from relens.language import compile
    from relens.models.catalogue import likely_model
    from relens.models.loading import tokenizer_for_page

    compile.warm_up()
    with contextlib.suppress(RelensError):  # a preview with that model raises it again
        if (name := likely_model()) is not None:
            preview_query(Query(" a", prefix="a", encoding=Encoding.CANONICAL), tokenizer_for_page(name))


class Previewer(WarmAnswers[Preview]):
    """Previews computed in limited child processes; see `WarmAnswers`."""

    job, warm_up, record = "relens.runs.preview:preview_job", "relens.runs.preview:warm_up", Preview
    subject = "The preview"

    def preview(self, query: Query, model_name: str, limits: Limits | None = None) -> Preview:
        """The preview of `query` for the tokenizer of `model_name`; without tokens, and with a note, if the tokenizer
        is not on this machine.

        Raises the errors of compilation, `ModelError` for a model that is unknown or not allowed, and `LimitError` for
        a query that is too long or takes more time or memory than `limits` allow.
        """
        described = query.to_json()
        for part, source in (("prefix", query.prefix), ("pattern", query.pattern)):
            check_length(source, limits, part)
        check_sizes(described)
        try:
            return self.ask({"query": described, "model": model_name}, limits or Limits())
        except NotFetchedError as error:
            preview = self.ask({"query": described, "model": None}, limits or Limits())
            return replace(preview, notes=(*preview.notes, error.sentence))
