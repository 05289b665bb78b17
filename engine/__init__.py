"""Relens: ask language models questions with regular expressions.

    from engine import Query, Decoding, Limits, load_model, search

    model = load_model("smollm2-135m")
    query = Query(prefix="George Washington was born on", pattern=r" (January|July) \\d{1,2}, \\d{4}",
                  decoding=Decoding(top_k=40))
    for match in search(model, query, limits=Limits(matches=10)):
        print(match.text, match.log_prob)

The names below are the whole public interface. They are fetched when first used, so that a process that only needs a
tokenizer or the store never imports torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.errors import RelensError as RelensError
    from engine.many_searches import Answer as Answer
    from engine.many_searches import search_many as search_many
    from engine.models.loading import load_model as load_model
    from engine.models.loading import load_tokenizer as load_tokenizer
    from engine.query import Boundary as Boundary
    from engine.query import Decoding as Decoding
    from engine.query import Distribution as Distribution
    from engine.query import Edits as Edits
    from engine.query import Encoding as Encoding
    from engine.query import Exclude as Exclude
    from engine.query import Limits as Limits
    from engine.query import Query as Query
    from engine.query import Sampling as Sampling
    from engine.query import ShortestPath as ShortestPath
    from engine.search_run import SearchRun as SearchRun
    from engine.search_run import search as search
    from engine.tokens.compiled import CompiledQuery as CompiledQuery
    from engine.tokens.compiled import compile_query as compile_query
    from engine.traversal.results import Match as Match
    from engine.traversal.results import Progress as Progress
    from engine.traversal.summaries import by_group as by_group
    from engine.traversal.summaries import by_string as by_string

_HOME = {
    "RelensError": "engine.errors",
    "load_model": "engine.models.loading",
    "load_tokenizer": "engine.models.loading",
    "Boundary": "engine.query",
    "Decoding": "engine.query",
    "Distribution": "engine.query",
    "Edits": "engine.query",
    "Encoding": "engine.query",
    "Exclude": "engine.query",
    "Limits": "engine.query",
    "Query": "engine.query",
    "Sampling": "engine.query",
    "ShortestPath": "engine.query",
    "SearchRun": "engine.search_run",
    "search": "engine.search_run",
    "Answer": "engine.many_searches",
    "search_many": "engine.many_searches",
    "CompiledQuery": "engine.tokens.compiled",
    "compile_query": "engine.tokens.compiled",
    "Match": "engine.traversal.results",
    "Progress": "engine.traversal.results",
    "by_group": "engine.traversal.summaries",
    "by_string": "engine.traversal.summaries",
}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
