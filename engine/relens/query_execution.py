"""One query being answered: its searches, and the matches that come of them.

    ShortestPath                   one search over the query's automaton
    Sampling(count=10_000)         one search for each prefix string drawn:   man 5,040    woman 4,960
    Distribution(tolerance=.001)   one search for each prefix string:         man          woman

An execution gives the beginnings of its searches, makes matches of their token sequences, and keeps the account. It
does not run them: that is done alone (`relens.search_run`) or among others (`relens.many_searches`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from relens.errors import ModelError, NoEncodingError
from relens.language.reading import Reader
from relens.models.scoring import Scorer, ScoringCounts
from relens.query import Distribution, Limits, Query, Sampling, ShortestPath, Traversal
from relens.tokens.automaton import TokenAutomaton
from relens.tokens.compiled import CompiledQuery
from relens.traversal.legal import Ending
from relens.traversal.prefixes import all_prefixes, drawn_prefixes
from relens.traversal.results import Match, Progress
from relens.traversal.sampling import SamplingSearch
from relens.traversal.scheduler import Beginning
from relens.traversal.search import Account, Search, TokenMatch
from relens.traversal.shortest_path import ShortestPathSearch

if TYPE_CHECKING:
    from relens.models.language_model import LanguageModel


class QueryExecution:
    """A compiled query, its traversal, and the account so far.

    Raises `LimitError` for a distribution over too many prefixes, `ModelError` for a demanded end-of-text token that
    the model does not have, and `QueryError` for a prefix that cannot be drawn.
    """

    def __init__(self, model: LanguageModel, compiled: CompiledQuery, traversal: Traversal, limits: Limits) -> None:
        self.compiled = compiled
        self.limits = limits
        self.matches = 0
        self._traversal = traversal
        self._ending = _ending(model, compiled.query, traversal)
        self._reader = Reader(compiled.query, compiled.language, limits)
        self._prefixes: list[tuple[str, int]] = [("", 1)]
        if isinstance(traversal, Sampling):
            self._prefixes = drawn_prefixes(compiled, traversal)
        elif isinstance(traversal, Distribution):
            self._prefixes = [(text, 1) for text in all_prefixes(compiled, limits)]
        self._ended = Account()
        self._reasons: set[str] = set()
        self._unbegun = len(self._prefixes)

    def beginnings(self) -> Iterator[Beginning]:
        """The searches that answer this query, each to be begun with a scorer of its own."""
        for number, (text, count) in enumerate(self._prefixes):
            self._unbegun -= 1
            if isinstance(self._traversal, ShortestPath):
                yield self._beginning(self.compiled.automaton, number, count)
                continue
            try:
                automaton = self.compiled.given(text)
            except NoEncodingError:  # a string that the vocabulary cannot spell: the model never writes it
                if isinstance(self._traversal, Sampling):
                    self._ended += Account(samples=count, failed=count)
                continue
            yield self._beginning(automaton, number, count)

    def _beginning(self, automaton: TokenAutomaton, number: int, count: int) -> Callable[[Scorer], Search]:
        query, traversal = self.compiled.query, self._traversal
        if isinstance(traversal, Sampling):
            seed = (traversal.seed, number)
            return lambda scorer: SamplingSearch(
                automaton,
                scorer,
                count,
                seed=seed,
                ending=self._ending,
                decoding=query.decoding,
                max_tokens=query.max_tokens,
            )
        return lambda scorer: ShortestPathSearch(
            automaton,
            scorer,
            decoding=query.decoding,
            rank=traversal.rank if isinstance(traversal, ShortestPath) else "conditional",
            ending=self._ending,
            tolerance=(traversal.tolerance or None) if isinstance(traversal, Distribution) else None,
            max_tokens=query.max_tokens,
        )

    @property
    def matches_left(self) -> int | None:
        """How many more matches there may be, None for any number: a sample has no limit of matches."""
        most = self.limits.matches
        return None if most is None or isinstance(self._traversal, Sampling) else most - self.matches

    def close(self, search: Search) -> None:
        """One of the searches has ended; only its account is kept."""
        self._ended += search.account
        self._reasons.add(search.ended)

    def account(self, under_way: Sequence[Search]) -> Account:
        """The summed account of all searches that have begun, ended or not."""
        total = self._ended
        for search in under_way:
            total += search.account
        return total

    @property
    def ending(self) -> str:
        """Why the query ended, once all its searches have."""
        if isinstance(self._traversal, Sampling):
            return "drawn"
        return "tolerance" if "tolerance" in self._reasons else "exhausted"

    def describe(self, match: TokenMatch, seconds: float) -> Match:
        """The match with its text, scores, groups and edits, after so many seconds; it counts from now on."""
        self.matches += 1
        tokenizer = self.compiled.tokenizer
        text = tokenizer.decode(match.token_ids)
        reading = self._reader.read(text)
        return Match(
            text=text,
            prefix_text=tokenizer.decode(match.token_ids[: match.prefix_tokens]),
            token_ids=match.token_ids,
            prefix_tokens=match.prefix_tokens,
            prefix_log_prob=match.prefix_log_prob,
            log_prob=match.log_prob,
            decoder_log_prob=match.decoder_log_prob,
            token_log_probs=match.token_log_probs,
            token_decoder_log_probs=match.token_decoder_log_probs,
            is_canonical=self.compiled.is_canonical(match.token_ids, match.prefix_tokens),
            seconds=seconds,
            ended=match.ended,
            groups=reading.groups,
            edits=reading.edits,
            unedited=reading.unedited,
            count=match.count,
            weight=match.weight if isinstance(self._traversal, Sampling) else match.weight / len(self._prefixes),
        )

    def progress(
        self, under_way: Sequence[Search], counts: ScoringCounts, seconds: float, waiting: int, ended: str
    ) -> Progress:
        """The account. under_way: the searches that have not ended; waiting: matches that are not handed out yet."""
        account = self.account(under_way)
        prefixes = len(self._prefixes)
        is_sample = isinstance(self._traversal, Sampling)
        return Progress(
            matches=self.matches - waiting,
            expansions=account.expansions,
            forwards=counts.forwards,
            tokens_computed=counts.tokens_computed,
            seconds_compile=self.compiled.seconds,
            seconds_model=counts.seconds,
            seconds_total=self.compiled.seconds + seconds,
            found_mass=account.found_mass / prefixes,
            remaining_mass=1.0 if is_sample else (account.remaining_mass + self._unbegun) / prefixes,
            mass_is_joint=account.mass_is_joint,
            prefixes=prefixes,
            samples=account.samples,
            failed=account.failed,
            frontier=account.frontier,
            ended=ended,
        )


def begins(model: LanguageModel, query: Query) -> bool:
    """Whether a begin-of-text token comes first: as the query says, else as the model's family is trained."""
    if query.begin_of_text is None:
        return model.begin_of_text is not None
    if query.begin_of_text and model.begin_of_text is None:
        raise ModelError(f"The model {model.name} has no begin-of-text token; leave begin-of-text off.")
    return query.begin_of_text


def _ending(model: LanguageModel, query: Query, traversal: Traversal) -> Ending:
    if query.end_of_text:
        if model.end_of_text is None:
            raise ModelError(f"The model {model.name} has no end-of-text token, so none can be demanded after a match.")
        return Ending("demanded", model.end_of_text)
    if isinstance(traversal, ShortestPath):
        return Ending()
    return Ending("settling", model.end_of_text)
