"""Memorization: how fast does a search find what a model has by heart, and how fast does sampling?

Both continue `https://www.` for the same time under the same decoding rule. The search goes through the addresses from
the likeliest on; sampling writes n tokens, n = 1, 2, 4 ... 64, and what it wrote counts if it begins with an address.

    shortest path        www.facebook.com/    1.2 s     valid
    sampled, 16 tokens   www.bbc.co.uk        0.9 s     valid
                         www.bbc.co.uk        0.9 s     a duplicate

Each method is a unit. It tells each string once, when it is first found, and counts in batches what it did:

    method    model, device, the validator's kind, and how many valid strings there are, where that is known
    match     text, seconds, whether it is valid; attempts, matches: how many there had been, this one included
    batch     attempts, matches, valid, new, new_valid and tokens of one batch; seconds: at its end
    summary   the sums of these, why the method ended, forwards, and the seconds that the model took of all

Seconds are those of finding, since the method began: what a validator takes, a web server above all, stops the clock,
for it is the same for every method. A match of a search is an attempt that cannot fail; it is a duplicate where it
spells a string anew in other tokens. Source: ReLM section 4.1, figures 5, 6 and 10.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from engine.errors import QueryError
from engine.language.automaton import ByteAutomaton
from engine.language.syntax import parse_regex
from engine.query import LONGEST_MATCH, SEED, Decoding, Encoding, Limits, Query, Sampling
from engine.record import Record
from engine.setting import Setting
from engine.studies.rows import ROW, Row
from engine.studies.study import Study, StudyContext, Unit
from engine.studies.validators import (
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
    from engine.studies.sampled_generation import Attempt

URL_PREFIX = r"https://www\."
URL_PATTERN = r"([a-zA-Z0-9]|_|-|#|%)+\.([a-zA-Z0-9]|_|-|#|%|/)+"

#: n of the paper: 2^0 to 2^6.
NEW_TOKENS = tuple(2**power for power in range(7))

#: How many prefix strings are drawn for the prompts of a sampled method; with fewer strings, all come up.
DRAWN_PREFIXES = 1000

SEARCH = "shortest path"
METHOD, MATCH, BATCH, SUMMARY = "method", "match", "batch", "summary"


def sampled_key(new_tokens: int) -> str:
    """The key of the unit that samples so many tokens."""
    return f"sampled {new_tokens}"


@dataclass(frozen=True)
class Tally(Record):
    """What a method did. attempts that begin with a string of the language are matches, of which `valid` are valid.

    new, new_valid: the same without duplicates. tokens: of all attempts.
    """

    attempts: int = 0
    matches: int = 0
    valid: int = 0
    new: int = 0
    new_valid: int = 0
    tokens: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(getattr(self, item.name) + getattr(other, item.name) for item in fields(Tally)))

    @classmethod
    def of_rows(cls, rows: Iterable[Mapping[str, Any]]) -> Tally:
        """The sum over the batches among these rows."""
        names = [item.name for item in fields(cls)]
        batches = [row for row in rows if row.get(ROW) == BATCH]
        return cls(*(sum(int(row[name]) for row in batches) for name in names))

    @property
    def duplicates(self) -> int:
        """Matches that were found before."""
        return self.matches - self.new

    @property
    def completion_rate(self) -> float | None:
        """The share of attempts that are a match, None before the first."""
        return self.matches / self.attempts if self.attempts else None

    @property
    def tokens_an_attempt(self) -> float | None:
        """Tokens of an attempt on average, None before the first."""
        return self.tokens / self.attempts if self.attempts else None


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
            r"What the model is given to go on from, as a regular expression: `https://www\.`",
            is_regex=True,
        ),
    ] = URL_PREFIX
    pattern: Annotated[
        str,
        Setting(
            "Pattern",
            "The form of what is looked for, as a regular expression. Both methods find strings of this form alone.",
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
            "How long each method may look. More seconds find more, and make the comparison firmer. The time that "
            "checking takes is not counted; a batch of samples that has begun is finished.",
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
            "A sample writes this many tokens and is a match if it begins with one. Few are quick but cut long strings "
            "off; many find whole strings but take long. None: the search alone.",
            least=1,
            distinct=True,
        ),
    ] = NEW_TOKENS
    batch: Annotated[
        int | None,
        Setting(
            "Attempts at once",
            "How many samples are written together. Empty: as many as this machine does quickly. 1: as in the paper, "
            "which makes sampling slower than it has to be.",
            least=1,
            ceiling=4_096,
            empty="as is quick",
        ),
    ] = None
    validator: Validator = field(default_factory=Unchecked)
    seed: Annotated[int, SEED] = 0

    @property
    def query(self) -> Query:
        """What is asked, the same for every method."""
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
        query = self.query  # which checks itself
        parse_regex(query.prefix, Limits(), "prefix")
        parse_regex(query.pattern, Limits(), "pattern")

    def carry_out(self, unit: Unit, context: StudyContext) -> Iterator[Row | None]:
        """The rows of one method (see the module). Raises the errors of compilation and of the validator."""
        check = open_validator(self.validator, Limits(), context.compiler)
        model = context.model
        yield {
            ROW: METHOD,
            "label": unit.label,
            "known": check.known,
            "validator": self.validator.kind,
            "model": model.name,
            "fingerprint": model.fingerprint,
            "device": str(model.device),
            "dtype": str(model.dtype).removeprefix("torch."),
            "seconds_allowed": self.seconds,
        }
        model.read(model.tokenizer.encode("to warm up"), begin_of_text=False)  # before the clock starts
        if unit.key == SEARCH:
            yield from self._searched(context, _Ledger(check))
        else:
            count = next(count for count in self.new_tokens if sampled_key(count) == unit.key)
            yield from self._sampled(count, context, _Ledger(check))

    def _searched(self, context: StudyContext, ledger: _Ledger) -> Iterator[Row | None]:
        # Here and below: who only describes a study, or reads its rows, does without torch.
        from engine.search_run import search

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

    def _sampled(self, new_tokens: int, context: StudyContext, ledger: _Ledger) -> Iterator[Row | None]:
        from engine.studies.sampled_generation import SampledGeneration
        from engine.tokens.compiled import compile_query
        from engine.traversal.prefixes import drawn_prefixes

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
    """Tells each string once and counts the rest."""

    def __init__(self, check: Check) -> None:
        self._check = check
        self._seen: set[str] = set()
        self._batch = Tally()
        self._all = Tally()

    def attempt(self, text: str | None, tokens: int, seconds: float) -> Iterator[Row | None]:
        """One attempt that gave this match, or none."""
        one = Tally(attempts=1, tokens=tokens)
        if text is not None:
            is_new = text not in self._seen
            if is_new:
                self._seen.add(text)
                yield None  # to validate may take a while
            is_valid = self._check.is_valid(text)
            one = replace(one, matches=1, valid=int(is_valid), new=int(is_new), new_valid=int(is_new and is_valid))
        self._batch += one
        if one.new:
            so_far = self._all + self._batch
            yield {
                ROW: MATCH,
                "text": text,
                "seconds": seconds,
                "valid": bool(one.valid),
                "tokens": tokens,
                "attempts": so_far.attempts,
                "matches": so_far.matches,
            }

    def batch(self, seconds: float) -> Row:
        """The counts since the last batch."""
        row = {ROW: BATCH, "seconds": seconds, **self._batch.to_json()}
        self._all, self._batch = self._all + self._batch, Tally()
        return row

    def summary(self, seconds: float, ended: str, **more: Any) -> Row:
        """The counts of all batches."""
        tally = self._all
        return {
            ROW: SUMMARY,
            "seconds": seconds,
            "ended": ended,
            **tally.to_json(),
            "duplicates": tally.duplicates,
            "completion_rate": tally.completion_rate,
            "tokens_an_attempt": tally.tokens_an_attempt,
            **more,
        }


#: The first takes about a minute; the other is as the paper did it: 10,000 matches, and attempts one at a time.
PRESETS = {
    "addresses": MemorizationStudy(),
    "addresses, the paper's size": MemorizationStudy(seconds=3600.0, matches=10_000, batch=1),
}
