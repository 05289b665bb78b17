"""The one door: a query, a model, and the matches as they are found.

    run = search(model, Query(" (January|July) \\d{1,2}", prefix="He was born on"), ShortestPath(), Limits(matches=10))
    for match in run:
        print(match.text, match.log_prob)

A search compiles the query, then traverses. It works only while somebody asks: iterating gives one match after the
other; `poll` works for a stretch of time and gives what was found in it, which is what a worker wants that also has
to report and to look whether it should stop.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from engine.errors import ModelError
from engine.models.batching import BatchSizer
from engine.query import Limits, Query, ShortestPath
from engine.tokens.compiled import CompiledQuery, Compiler, compile_query
from engine.traversal.results import Match, Progress
from engine.traversal.shortest_path import Found, ShortestPathSearch

if TYPE_CHECKING:
    from engine.models.language_model import LanguageModel


def search(
    model: LanguageModel,
    query: Query,
    traversal: ShortestPath | None = None,
    limits: Limits | None = None,
    *,
    compiler: Compiler | None = None,
    stop: Callable[[], bool] | None = None,
) -> SearchRun:
    """Ask `query` of `model`; the matches come from the run that is returned, in exact order of rank.

    compiler: how regular expressions become automata (default: in this process). stop: asked between two forwards; once
    it says True the run has ended. Raises the errors of compilation, and `QueryError` or `ModelError` for a query that
    this model cannot be asked.
    """
    traversal, limits = traversal or ShortestPath(), limits or Limits()
    compiled = compile_query(query, model.tokenizer, limits, compiler)
    return SearchRun(model, compiled, traversal, limits, stop or (lambda: False))


class SearchRun:
    """A search in progress. Iterate over it, or `poll` it; `progress` is the account of the work so far."""

    def __init__(
        self,
        model: LanguageModel,
        compiled: CompiledQuery,
        traversal: ShortestPath,
        limits: Limits,
        stop: Callable[[], bool],
    ) -> None:
        query = compiled.query
        self.compiled = compiled
        self._limits = limits
        self._stop_requested = stop
        self._seconds = 0.0
        self._matches = 0
        self._ended = ""
        self._ready: list[Match] = []
        self._scorer = model.scorer(begin_of_text=_begins(model, query), pool_bytes=limits.pool_bytes)
        self._search = ShortestPathSearch(
            compiled.automaton,
            self._scorer,
            batch=BatchSizer(model.device),
            decoding=query.decoding,
            rank=traversal.rank,
            end_of_text=_end_of_text(model) if query.end_of_text else None,
            max_tokens=query.max_tokens,
        )

    @property
    def finished(self) -> bool:
        """Whether no more matches will come."""
        return bool(self._ended) and not self._ready

    @property
    def progress(self) -> Progress:
        """The account so far; seconds are seconds of work, not of waiting between two calls."""
        counts = self._scorer.counts
        return Progress(
            matches=self._matches - len(self._ready),
            expansions=self._search.expansions,
            forwards=counts.forwards,
            tokens_computed=counts.tokens_computed,
            seconds_compile=self.compiled.seconds,
            seconds_model=counts.seconds,
            seconds_total=self.compiled.seconds + self._seconds,
            found_mass=self._search.found_mass,
            remaining_mass=self._search.remaining_mass,
            mass_is_joint=self._search.mass_is_joint,
            frontier=self._search.frontier_size,
            ended="" if self._ready else self._ended,
        )

    def needed_expansions(self, least_rank: float) -> int:
        """How many of the expansions had at least this rank: with the last match's, those no exact search is spared."""
        return self._search.opened_with_rank(least_rank)

    def stop(self) -> None:
        """End the search; matches already found can still be taken."""
        self._ended = self._ended or "stopped"

    def __iter__(self) -> Iterator[Match]:
        while not self.finished:
            if self._ready:
                yield self._ready.pop(0)
            else:
                self._advance()

    def poll(self, seconds: float) -> list[Match]:
        """Work for about `seconds`, a forward at the least, and return the matches found meanwhile, possibly none.

        A time limit or a stop that comes up is noticed between two forwards.
        """
        until = time.perf_counter() + seconds
        while not self._ended:
            self._advance()
            if time.perf_counter() >= until:
                break
        ready, self._ready = self._ready, []
        return ready

    def _advance(self) -> None:
        """One step of the traversal, unless a limit was reached."""
        begun = time.perf_counter()
        self._ended = self._limit_reached()
        if not self._ended:
            wanted = None if self._limits.matches is None else self._limits.matches - self._matches
            for found in self._search.step(wanted):
                self._matches += 1
                self._ready.append(self._describe(found, self._seconds + time.perf_counter() - begun))
            if self._search.finished:
                self._ended = "exhausted"
        self._seconds += time.perf_counter() - begun

    def _limit_reached(self) -> str:
        limits = self._limits
        if self._stop_requested():
            return "stopped"
        if limits.matches is not None and self._matches >= limits.matches:
            return "matches"
        if limits.expansions is not None and self._search.expansions >= limits.expansions:
            return "expansions"
        if limits.seconds is not None and self.compiled.seconds + self._seconds >= limits.seconds:
            return "seconds"
        return ""

    def _describe(self, found: Found, seconds: float) -> Match:
        tokenizer = self.compiled.tokenizer
        return Match(
            text=tokenizer.decode(found.token_ids),
            prefix_text=tokenizer.decode(found.token_ids[: found.prefix_tokens]),
            token_ids=found.token_ids,
            prefix_tokens=found.prefix_tokens,
            prefix_log_prob=found.prefix_log_prob,
            log_prob=found.log_prob,
            decoder_log_prob=found.decoder_log_prob,
            token_log_probs=found.token_log_probs,
            token_decoder_log_probs=found.token_decoder_log_probs,
            is_canonical=self.compiled.is_canonical(found.token_ids, found.prefix_tokens),
            seconds=self.compiled.seconds + seconds,
        )


def _begins(model: LanguageModel, query: Query) -> bool:
    """Whether a begin-of-text token precedes everything: as asked, else as the model's family is trained."""
    if query.begin_of_text is None:
        return model.begin_of_text is not None
    if query.begin_of_text and model.begin_of_text is None:
        raise ModelError(f"The model {model.name} has no begin-of-text token; leave begin-of-text off.")
    return query.begin_of_text


def _end_of_text(model: LanguageModel) -> int:
    if model.end_of_text is None:
        raise ModelError(f"The model {model.name} has no end-of-text token, so none can be demanded after a match.")
    return model.end_of_text
