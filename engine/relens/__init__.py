"""Relens: ask language models questions with regular expressions.

    from relens import Query, Decoding, Limits, load_model, search

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
    from relens.command_line.dashboard import run_dashboard as run_dashboard
    from relens.errors import RelensError as RelensError
    from relens.many_searches import Answer as Answer
    from relens.many_searches import search_many as search_many
    from relens.models.loading import load_model as load_model
    from relens.models.loading import load_tokenizer as load_tokenizer
    from relens.notebook import table as table
    from relens.query import Boundary as Boundary
    from relens.query import Decoding as Decoding
    from relens.query import Distribution as Distribution
    from relens.query import Edits as Edits
    from relens.query import Encoding as Encoding
    from relens.query import Exclude as Exclude
    from relens.query import Limits as Limits
    from relens.query import Query as Query
    from relens.query import Sampling as Sampling
    from relens.query import ShortestPath as ShortestPath
    from relens.search_run import SearchRun as SearchRun
    from relens.search_run import search as search
    from relens.tokens.compiled import CompiledQuery as CompiledQuery
    from relens.tokens.compiled import compile_query as compile_query
    from relens.traversal.results import Match as Match
    from relens.traversal.results import Progress as Progress
    from relens.traversal.summaries import by_group as by_group
    from relens.traversal.summaries import by_string as by_string

_HOME = {
    "RelensError": "relens.errors",
    "run_dashboard": "relens.command_line.dashboard",
    "load_model": "relens.models.loading",
    "load_tokenizer": "relens.models.loading",
    "table": "relens.notebook",
    "Boundary": "relens.query",
    "Decoding": "relens.query",
    "Distribution": "relens.query",
    "Edits": "relens.query",
    "Encoding": "relens.query",
    "Exclude": "relens.query",
    "Limits": "relens.query",
    "Query": "relens.query",
    "Sampling": "relens.query",
    "ShortestPath": "relens.query",
    "SearchRun": "relens.search_run",
    "search": "relens.search_run",
    "Answer": "relens.many_searches",
    "search_many": "relens.many_searches",
    "CompiledQuery": "relens.tokens.compiled",
    "compile_query": "relens.tokens.compiled",
    "Match": "relens.traversal.results",
    "Progress": "relens.traversal.results",
    "by_group": "relens.traversal.summaries",
    "by_string": "relens.traversal.summaries",
}
__version__ = "0.1.0"
__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
