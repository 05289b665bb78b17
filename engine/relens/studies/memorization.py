"""Memorization: how fast does a search extract memorized strings, and how fast does sampling?

Both continue `https://www.` for the same time under the same decoding rule. The search goes through the addresses from
the likeliest on. Sampling writes n tokens, n = 1, 2, 4 ... 64; a sample is a match if it begins with an address.

    shortest path        www.facebook.com/    1.2 s     valid
    sampled, 16 tokens   www.bbc.co.uk        0.9 s     valid
                         www.bbc.co.uk        0.9 s     a duplicate

Each method is a unit; its rows are in `relens.studies.memorization_rows`. A match of a search is an attempt that cannot
fail; it is a duplicate where it spells a string anew in other tokens. Source: ReLM section 4.1, figures 5, 6 and 10.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from relens.errors import QueryError
from relens.language.automaton import ByteAutomaton
from relens.language.syntax import parse_regex
from relens.query import LONGEST_MATCH, SEED, Decoding, Encoding, Limits, Query, Sampling
from relens.setting import Setting
from relens.studies.memorization_rows import Batch, MethodSetup, NewMatch, Summary, Tally
from relens.studies.rows import StudyRow
from relens.studies.study import Study, StudyContext, Unit
from relens.studies.validators import (
    Check,
    InText,
    OfForm,
    Unchecked,
    Validator,
    check_form,
    check_validator,
    open_validator,
)

if TYPE_CHECKING:
    from relens.studies.sampled_generation import Attempt

URL_PREFIX = r"https://www\."
URL_PATTERN = r"([a-zA-Z0-9]|_|-|#|%)+\.([a-zA-Z0-9]|_|-|#|%|/)+"

#: n of the paper: 2^0 to 2^6.
NEW_TOKENS = tuple(2**power for power in range(7))

#: How many prefix strings are drawn for the prompts of a sampled method; with fewer strings, all come up.
DRAWN_PREFIXES = 1000

SEARCH = "shortest path"


def sampled_key(new_tokens: int) -> str:
    """The key of the unit that samples so many tokens."""
    return f"sampled {new_tokens}"


@dataclass(frozen=True)
class MemorizationStudy(Study):
    """Shortest path against sampling, from the same prefix for the same seconds."""

    kind: ClassVar[str] = "memorization"
    title: ClassVar[str] = "Memorization"
    question: ClassVar[str] = "How much does the model know by heart, and how fast can it be found?"

    prefix: Annotated[
        str,
        Setting(
            "Prefix",
            r"The text that the model continues, as a regular expression: `https://www\.`",
            is_regex=True,
        ),
    ] = URL_PREFIX
    pattern: Annotated[
        str,
        Setting(
            "Pattern",
            "The strings to extract, as a regular expression. Both methods count only strings of this form.",
            is_regex=True,
        ),
    ] = URL_PATTERN
    encoding: Annotated[
        Encoding,
        Setting(
            "Encoding",
            "**All**: the search finds a string in any of its spellings in tokens. **Canonical**: only in the "
            "tokenizer's own, which is quicker and has no duplicates.",
        ),
    ] = Encoding.ALL
    decoding: Decoding = field(default_factory=lambda: Decoding(top_k=40))
    max_tokens: Annotated[int, LONGEST_MATCH] = 256
    seconds: Annotated[
        float,
        Setting(
            "Seconds a method",
            "The time of each method. More seconds give more matches and a firmer comparison. Validation does not "
            "count as time; a batch of samples that has begun is finished.",
            above=0.0,
            ceiling=3_600.0,
            step=1.0,
        ),
    ] = 7.0
    matches: Annotated[
        int | None,
        Setting(
            "Matches at most",
            "The search ends early with so many matches. Empty: when its time is over.",
            least=1,
            ceiling=10_000,
            empty="no limit",
        ),
    ] = None
    new_tokens: Annotated[
        tuple[int, ...],
        Setting(
            "Sampled methods, by tokens that are written",
            "A sample has this many tokens and is a match if it begins with one. Few tokens are quick but cut long "
            "strings off; many give whole strings but take long. None: the search alone.",
            least=1,
            distinct=True,
        ),
    ] = NEW_TOKENS
    batch: Annotated[
        int | None,
        Setting(
            "Attempts at once",
            "The batch size of sampling. Empty: the quickest on this machine. 1: as in the paper, which makes sampling "
            "slower than it has to be.",
            least=1,
            ceiling=4_096,
            empty="as is quick",
        ),
    ] = None
    validator: Validator = field(default_factory=Unchecked)
    seed: Annotated[int, SEED] = 0

    @property
    def query(self) -> Query:
        """The query, the same for every method."""
        return Query(
            self.pattern,
            prefix=self.prefix,
            encoding=self.encoding,
            decoding=self.decoding,
            max_tokens=self.max_tokens,
        )

    def files(self) -> tuple[str, ...]:
        """See `Study.files`."""
        return (self.validator.path,) if isinstance(self.validator, InText) else ()

    def plan(self) -> Iterator[Unit]:
        """The search, then one unit for each number of tokens."""
        yield Unit(SEARCH, SEARCH)
        for count in self.new_tokens:
            yield Unit(sampled_key(count), f"sampled, {count} token{'s' if count > 1 else ''}")

    def check(self) -> None:
        """See `Study.check`."""
        if any(count > self.max_tokens for count in self.new_tokens):
            raise QueryError(f"A sample has at most {self.max_tokens} new tokens, as many as the longest match.")
        check_validator(self.validator)
        if isinstance(self.validator, OfForm):
            check_form(self.validator)
        parse_regex(self.query.prefix, Limits(), "prefix")  # making the query checks it
        parse_regex(self.query.pattern, Limits(), "pattern")

    def carry_out(self, unit: Unit, context: StudyContext) -> Iterator[StudyRow | None]:
        """The rows of one method (see the module). Raises the errors of compilation and of the validator."""
        check = open_validator(self.validator, Limits(), context.compiler)
        model = context.model
        yield MethodSetup(
            unit.label,
            known=check.known,
            validator=self.validator.kind,
            model=model.name,
            fingerprint=model.fingerprint,
            device=str(model.device),
            dtype=str(model.dtype).removeprefix("torch."),
            seconds_allowed=self.seconds,
        )
        model.read(model.tokenizer.encode("to warm up"), begin_of_text=False)  # before the clock starts
        if unit.key == SEARCH:
            yield from self._searched(context, _Ledger(check))
        else:
            count = next(count for count in self.new_tokens if sampled_key(count) == unit.key)
            yield from self._sampled(count, context, _Ledger(check))

    def _searched(self, context: StudyContext, ledger: _Ledger) -> Iterator[StudyRow | None]:
        # Here and below, so that describing a study and reading its rows do without torch.
        from relens.search_run import search

        limits = Limits(matches=self.matches, expansions=None, seconds=self.seconds)
        run = search(context.model, self.query, limits=limits, compiler=context.compiler, stop=context.stop)
        while not run.finished:
            matches = run.poll(0.0)
            yield None
            for match in matches:
                yield from ledger.attempt(match.text, len(match.token_ids) - match.prefix_tokens, match.seconds)
                if context.stop():
                    return
            if matches:
                yield ledger.batch(matches[-1].seconds)
        if context.stop():
            return
        progress = run.progress
        yield ledger.summary(
            progress.seconds_total,
            progress.ended,
            forwards=progress.forwards,
            tokens_computed=progress.tokens_computed,
            seconds_model=progress.seconds_model,
        )

    def _sampled(self, new_tokens: int, context: StudyContext, ledger: _Ledger) -> Iterator[StudyRow | None]:
        from relens.studies.sampled_generation import SampledGeneration
        from relens.tokens.compiled import compile_query
        from relens.traversal.prefixes import drawn_prefixes

        compiled = compile_query(self.query, context.model.tokenizer, Limits(), context.compiler)
        prefixes = drawn_prefixes(compiled, Sampling(count=DRAWN_PREFIXES, seed=self.seed))
        sampler = SampledGeneration(
            context.model,
            prefixes,
            new_tokens,
            self.decoding,
            seed=self.seed,
            longest_batch=self.seconds / 2.0,
            most=self.batch,
        )
        seconds, attempts = 0.0, iter(sampler)
        has_begun = False  # a batch, which is then finished: without it a long one would count for nothing
        while seconds < self.seconds or has_begun:
            begun = time.perf_counter()
            batch = next(attempts)
            seconds += time.perf_counter() - begun
            has_begun = batch is None
            yield None
            if context.stop():
                return
            if batch is not None:
                for attempt in batch:
                    yield from ledger.attempt(longest_match(compiled.language.whole, attempt), attempt.tokens, seconds)
                    if context.stop():
                        return
                yield ledger.batch(seconds)
        yield ledger.summary(
            seconds,
            "seconds",
            forwards=sampler.forwards,
            tokens_computed=None,
            seconds_model=sampler.seconds_model,
        )


def longest_match(automaton: ByteAutomaton, attempt: Attempt) -> str | None:
    """The longest beginning of prefix and continuation that is in the language, None where there is none.

    The beginning has at least the whole prefix and one byte more, unless the prefix alone is all there is to match.
    """
    data = attempt.prefix.encode() + attempt.continuation
    state, end = 0, -1
    for place, byte in enumerate(data, start=1):
        state = int(automaton.transitions[state, byte])
        if state < 0:
            break
        if automaton.final[state]:
            end = place
    return None if end < len(attempt.prefix.encode()) else data[:end].decode()


class _Ledger:
    """The counts of one method, and the strings that were matched."""

    def __init__(self, check: Check) -> None:
        self._check = check
        self._seen: set[str] = set()
        self._batch = Tally()
        self._all = Tally()

    def attempt(self, text: str | None, tokens: int, seconds: float) -> Iterator[StudyRow | None]:
        """Count one attempt with this match, or with none; a row for a string that is new."""
        one = Tally(attempts=1, tokens=tokens)
        if text is not None:
            is_new = text not in self._seen
            if is_new:
                self._seen.add(text)
                yield None  # to validate may take a while
            is_valid = self._check.is_valid(text)
            one = replace(one, matches=1, valid=int(is_valid), new=int(is_new), new_valid=int(is_new and is_valid))
        self._batch += one
        if text is not None and one.new:
            so_far = self._all + self._batch
            yield NewMatch(text, seconds, bool(one.valid), tokens, so_far.attempts, so_far.matches)

    def batch(self, seconds: float) -> Batch:
        """The counts since the last batch."""
        row = Batch(**self._batch.to_json(), seconds=seconds)
        self._all, self._batch = self._all + self._batch, Tally()
        return row

    def summary(self, seconds: float, ended: str, **more: Any) -> Summary:
        """The counts of all batches."""
        return Summary(**self._all.to_json(), seconds=seconds, ended=ended, **more)


#: The first takes about a minute; the other is as the paper did it: 10,000 matches, and attempts one at a time.
PRESETS = {
    "addresses": MemorizationStudy(),
    "addresses, the paper's size": MemorizationStudy(seconds=3600.0, matches=10_000, batch=1),
}
