"""Many queries at once, so that the model is always busy: the base of the studies.

    run = search_many(model, [Query(r" \\w+", prefix=re.escape(text)) for text in texts], limits=Limits(matches=1))
    for answer in run:
        print(answer.number, answer.matches[0].text)

Each query gets the same matches as from `search`. Queries are compiled in their turn, a few dozen are under way at a
time, and answers come as they are finished, not always in the order of the queries. A query with an error is an answer
too, and holds up no other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from relens.errors import QueryError, RelensError, StoppedError
from relens.models.batching import BatchSizer
from relens.models.scoring import ScoringCounts
from relens.polling import Polled
from relens.query import Limits, Query, ShortestPath, Traversal
from relens.query_execution import QueryExecution, begins
from relens.record import Record
from relens.tokens.compiled import Compiler, compile_query
from relens.traversal.results import Match, Progress
from relens.traversal.scheduler import Beginning, Scheduler

if TYPE_CHECKING:
    from relens.models.language_model import LanguageModel


@dataclass(frozen=True)
class Answer:
    """The matches of one query. number: its place among the queries, from 0. error: why it was refused, or None.

    progress: its own expansions, matches, mass and end. Forwards, tokens and seconds in the model are shared: they are
    0 here, and `ManyProgress` has their sums.
    """

    number: int
    query: Query
    matches: tuple[Match, ...]
    progress: Progress
    error: RelensError | None = None


@dataclass(frozen=True)
class ManyProgress(Record):
    """One account for all queries; seconds of work. ended: "" while it runs, "exhausted", "seconds" or "stopped"."""

    queries: int = 0
    answered: int = 0
    matches: int = 0
    expansions: int = 0
    forwards: int = 0
    tokens_computed: int = 0
    seconds_compile: float = 0.0
    seconds_model: float = 0.0
    seconds_total: float = 0.0
    ended: str = ""


def search_many(
    model: LanguageModel,
    queries: Iterable[Query],
    traversal: Traversal | None = None,
    limits: Limits | None = None,
    *,
    compiler: Compiler | None = None,
    stop: Callable[[], bool] | None = None,
) -> ManyRun:
    """Search `model` for each of `queries` in the same way; iterate over the run that is returned for the answers.

    limits: matches, expansions and prefixes are those of each query, seconds and pool_bytes of all together. compiler,
    stop: as in `search`. Raises `QueryError` where some queries begin with begin-of-text and others do not.
    """
    return ManyRun(model, list(queries), traversal or ShortestPath(), limits or Limits(), compiler, stop)


class ManyRun(Polled[Answer]):
    """Many queries in progress. Iterate over it, or `poll` it; `progress` is the account of all."""

    def __init__(
        self,
        model: LanguageModel,
        queries: list[Query],
        traversal: Traversal,
        limits: Limits,
        compiler: Compiler | None,
        stop: Callable[[], bool] | None,
    ) -> None:
        super().__init__()
        beginnings = {begins(model, query) for query in queries} or {model.begin_of_text is not None}
        if len(beginnings) > 1:
            raise QueryError("Queries of one run either all begin with begin-of-text or none does.")
        self._model = model
        self._queries = queries
        self._traversal = traversal
        self._limits = limits
        self._compiler = compiler
        self._stop_requested = stop or (lambda: False)
        #: The queries under way, by number.
        self._open: dict[int, _OpenQuery] = {}
        self._answered = Progress()
        self._count = 0
        self._seconds = self._seconds_compile = 0.0
        started = time.perf_counter()
        self._scorer = model.scorer(begin_of_text=beginnings.pop(), pool_bytes=limits.pool_bytes)
        self._scheduler = Scheduler(self._beginnings(), self._scorer, BatchSizer(model.device))
        self._seconds += time.perf_counter() - started

    @property
    def progress(self) -> ManyProgress:
        """The account so far, queries under way included."""
        counts = self._scorer.counts
        under_way = [self._account(number, "") for number in self._open]
        return ManyProgress(
            queries=len(self._queries),
            answered=self._count - len(self._ready),
            matches=sum(account.matches for account in [self._answered, *under_way]),
            expansions=sum(account.expansions for account in [self._answered, *under_way]),
            forwards=counts.forwards,
            tokens_computed=counts.tokens_computed,
            seconds_compile=self._seconds_compile,
            seconds_model=counts.seconds,
            seconds_total=self._seconds,
            ended="" if self._ready else self._ended,
        )

    def stop(self) -> None:
        """End the run; queries under way are answered with their matches so far."""
        self._end("stopped")

    def _advance(self) -> None:
        started = time.perf_counter()
        if self._stop_requested():
            self._end("stopped")
        elif self._limits.seconds is not None and self._seconds >= self._limits.seconds:
            self._end("seconds")
        else:
            self._round()
        self._seconds += time.perf_counter() - started

    def _round(self) -> None:
        matches, ended, refused = self._scheduler.step(self._matches_left)
        for number, match in matches:
            open_query = self._open[number]
            open_query.matches.append(open_query.execution.describe(match, time.perf_counter() - open_query.begun))
        for number, search in ended:
            self._open[number].execution.close(search)
            self._open[number].searches -= 1
        for number, error in refused:
            self._open[number].error = error
            self._open[number].searches -= 1
        for number in list(self._open):
            reason = self._reason(number)
            if reason:
                self._answer(number, reason)
                self._scheduler.drop(number)
        if self._scheduler.finished and not self._open:
            self._end("exhausted")

    def _reason(self, number: int) -> str:
        """Why a query is answered, "" while it is not."""
        open_query = self._open[number]
        if open_query.error is not None:
            return "refused"
        if open_query.execution.matches_left is not None and open_query.execution.matches_left <= 0:
            return "matches"
        most = self._limits.expansions
        if most is not None and self._account(number, "").expansions >= most:
            return "expansions"
        return open_query.execution.ending if open_query.all_begun and not open_query.searches else ""

    def _matches_left(self, number: int) -> int | None:
        return self._open[number].execution.matches_left

    def _account(self, number: int, ended: str) -> Progress:
        open_query = self._open[number]
        seconds = time.perf_counter() - open_query.begun
        return open_query.execution.progress(
            self._scheduler.searches(number), ScoringCounts(), seconds, waiting=0, ended=ended
        )

    def _answer(self, number: int, reason: str) -> None:
        account = self._account(number, reason)
        open_query = self._open.pop(number)
        self._ready.append(Answer(number, self._queries[number], tuple(open_query.matches), account, open_query.error))
        self._tally(account)

    def _tally(self, account: Progress) -> None:
        self._count += 1
        self._answered = replace(
            self._answered,
            matches=self._answered.matches + account.matches,
            expansions=self._answered.expansions + account.expansions,
        )

    def _end(self, reason: str) -> None:
        if not self._ended:
            for number in list(self._open):
                self._answer(number, reason)
            self._ended = reason

    def _beginnings(self) -> Iterator[tuple[int, Beginning]]:
        """The searches of all queries, each query compiled when the one before has begun."""
        for number, query in enumerate(self._queries):
            begun = time.perf_counter()
            try:
                compiled = compile_query(query, self._model.tokenizer, self._limits, self._compiler)
                execution = QueryExecution(self._model, compiled, self._traversal, self._limits)
            except StoppedError:  # the run was stopped; the query is not at fault
                raise
            except RelensError as error:
                self._ready.append(Answer(number, query, (), Progress(ended="refused"), error))
                self._count += 1
                continue
            finally:
                self._seconds_compile += time.perf_counter() - begun
            open_query = self._open[number] = _OpenQuery(execution, begun)
            for beginning in execution.beginnings():
                open_query.searches += 1
                yield number, beginning
            open_query.all_begun = True


@dataclass
class _OpenQuery:
    """A query under way. searches: how many have begun, or are about to, and have not ended."""

    execution: QueryExecution
    begun: float
    matches: list[Match] = field(default_factory=list)
    searches: int = 0
    all_begun: bool = False
    error: RelensError | None = None
