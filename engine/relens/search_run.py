"""The entrance: a query, a model, and the matches as they come.

    run = search(model, Query(" (January|July) \\d{1,2}", prefix="He was born on"), ShortestPath(), Limits(matches=10))
    for match in run:
        print(match.text, match.log_prob)

A search compiles the query, then traverses. It works only on demand: iterating gives one match after the other; `poll`
works for a stretch of time and gives its matches, so that a worker can report in between and see whether to stop.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from relens.errors import RelensError
from relens.models.batching import BatchSizer
from relens.polling import Polled
from relens.query import Limits, Query, ShortestPath, Traversal
from relens.query_execution import QueryExecution, begins
from relens.shown import Shown
from relens.tokens.compiled import CompiledQuery, Compiler, compile_query
from relens.traversal.results import Match, Progress
from relens.traversal.scheduler import Scheduler
from relens.traversal.shortest_path import ShortestPathSearch

if TYPE_CHECKING:
    from relens.models.language_model import LanguageModel


def search(
    model: LanguageModel,
    query: Query,
    traversal: Traversal | None = None,
    limits: Limits | None = None,
    *,
    compiler: Compiler | None = None,
    stop: Callable[[], bool] | None = None,
) -> SearchRun:
    """Search `model` for the matches of `query`; iterate over the run that is returned.

    traversal: `ShortestPath` (the default) gives them in exact order of rank, `Sampling` as draws with counts and
    weights, `Distribution` with probabilities that can be added. compiler: how regular expressions become automata; by
    default in a child process, where the limits of time and memory hold. stop: called between two forwards; True ends
    the run. Raises the errors of compilation, `QueryError` or `ModelError` for a query that does not fit this model,
    and `LimitError` for a distribution over too many prefixes.
    """
    traversal, limits = traversal or ShortestPath(), limits or Limits()
    compiled = compile_query(query, model.tokenizer, limits, compiler)
    return SearchRun(model, compiled, traversal, limits, stop or (lambda: False))


class SearchRun(Polled[Match], Shown):
    """A search in progress. Iterate over it, or `poll` it; `progress` is the account of the work so far."""

    def __init__(
        self,
        model: LanguageModel,
        compiled: CompiledQuery,
        traversal: Traversal,
        limits: Limits,
        stop: Callable[[], bool],
    ) -> None:
        super().__init__()
        self.compiled = compiled
        self._limits = limits
        self._stop_requested = stop
        self._seconds = 0.0
        self._execution = QueryExecution(model, compiled, traversal, limits)
        self._scorer = model.scorer(begin_of_text=begins(model, compiled.query), pool_bytes=limits.pool_bytes)
        self._scheduler = Scheduler(
            ((None, begin) for begin in self._execution.beginnings()), self._scorer, BatchSizer(model.device)
        )
        self._raise(self._scheduler.take_refused())
        # Kept, because `needed_expansions` reads it after its end.
        begun = [search for search in self._scheduler.searches(None) if isinstance(search, ShortestPathSearch)]
        self._best_first = begun[0] if isinstance(traversal, ShortestPath) else None

    @property
    def progress(self) -> Progress:
        """The account so far; seconds are seconds of work, not of waiting between two calls."""
        return self._execution.progress(
            self._scheduler.searches(None),
            self._scorer.counts,
            self._seconds,
            waiting=len(self._ready),
            ended="" if self._ready else self._ended,
        )

    def needed_expansions(self, least_rank: float) -> int:
        """How many expansions of a best-first search had at least this rank; with the last match's, those needed."""
        return 0 if self._best_first is None else self._best_first.opened_with_rank(least_rank)

    def stop(self) -> None:
        """End the search; matches that are ready can still be taken."""
        self._ended = self._ended or "stopped"

    def _advance(self) -> None:
        """One round of the traversal, unless a limit was reached."""
        begun = time.perf_counter()
        self._ended = self._limit_reached()
        if not self._ended:
            matches, ended, refused = self._scheduler.step(lambda _: self._execution.matches_left)
            self._raise(refused)
            for _, match in matches:
                seconds = self.compiled.seconds + self._seconds + time.perf_counter() - begun
                self._ready.append(self._execution.describe(match, seconds))
            for _, search in ended:
                self._execution.close(search)
            if self._scheduler.finished:
                self._ended = self._execution.ending
        self._seconds += time.perf_counter() - begun

    def _raise(self, refused: list[tuple[None, RelensError]]) -> None:
        for _, error in refused:
            raise error

    def _limit_reached(self) -> str:
        limits = self._limits
        if self._stop_requested():
            return "stopped"
        if (left := self._execution.matches_left) is not None and left <= 0:
            return "matches"
        if limits.expansions is not None:
            account = self._execution.account(self._scheduler.searches(None))
            if account.expansions >= limits.expansions:
                return "expansions"
        if limits.seconds is not None and self.compiled.seconds + self._seconds >= limits.seconds:
            return "seconds"
        return ""
