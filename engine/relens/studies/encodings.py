"""The probabilities of all encodings of one text, and how often a model samples a non-canonical one.

The text `The cat` has 32 encodings in SmolLM2's vocabulary. Each is a sequence of tokens with a probability of its own.
None is the beginning of another, so they exclude each other, and their sum is the probability of the text:

    The ␣cat           1.3e-07                  the canonical one
    The ␣ca t          5.9e-12                  the other 31 together hold a small part
    T he ␣cat          ...

A search of the literal text in all encodings gives them in exact order of probability. A text with few encodings is
exhausted, and the shares are exact; for a long one the search gives bounds. The canonical encoding is scored by itself,
whatever its rank.

In the second unit the model samples texts, and each is encoded again and compared (`relens.studies.sampled_encoding`).
Source: ReLM section 3.2. About 3 % of unprompted samples of GPT-2 and 2 % of GPT-2 XL were not canonical; their length,
on which this depends, is not given.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from relens.errors import NoEncodingError, QueryError
from relens.pictures.labels import token_label
from relens.query import SEED, Decoding, Encoding, Limits, Query, ShortestPath
from relens.setting import Setting
from relens.studies.rows import StudyRow
from relens.studies.sampled_encoding import first_difference, sampled_encoding
from relens.studies.study import Study, StudyContext, Unit
from relens.tokens.token_lattice import token_lattice
from relens.traversal.results import Match

if TYPE_CHECKING:
    from relens.search_run import SearchRun
    from relens.tokens.tokenizer import Tokenizer

PROBABILITIES, SAMPLES = "probabilities", "samples"

#: Samples of one batch. Always the same, so that a seed always gives the same samples.
_BATCH = 24
#: Non-canonical samples that are stored as examples.
_MOST_EXAMPLES = 40


@dataclass(frozen=True)
class ScoredEncoding(StudyRow):
    """An encoding of the text. labels: its tokens for people; log_prob: nats, the sum of token_log_probs."""

    tokens: tuple[int, ...]
    labels: tuple[str, ...]
    log_prob: float
    token_log_probs: tuple[float, ...]


@dataclass(frozen=True)
class CanonicalEncoding(ScoredEncoding):
    """The canonical one, scored by itself."""

    row_name: ClassVar[str] = "own"


@dataclass(frozen=True)
class RankedEncoding(ScoredEncoding):
    """One of all. rank: 1 for the most probable."""

    row_name: ClassVar[str] = "encoding"
    rank: int
    is_canonical: bool


@dataclass(frozen=True)
class EncodingSearch(StudyRow):
    """The search of all encodings as a whole. encodings: how many the text has; found: how many were scored.

    encodings is a string: there may be 2^199, more than a column of numbers can hold.
    """

    row_name: ClassVar[str] = "all"
    encodings: str
    found: int
    found_mass: float
    remaining_mass: float
    expansions: int
    ended: str

    @property
    def is_exhausted(self) -> bool:
        """Whether all encodings were scored."""
        return self.ended == "exhausted"


@dataclass(frozen=True)
class SampleBatch(StudyRow):
    """Counts of one batch of samples. compared: samples with a text; other: those not canonical; tokens: compared."""

    row_name: ClassVar[str] = "batch"
    samples: int
    compared: int
    other: int
    tokens: int


@dataclass(frozen=True)
class NonCanonicalSample(StudyRow):
    """The first difference of a sample from the canonical encoding of its text, as labels of tokens.

    before: tokens just before the difference. own: the canonical tokens.
    """

    row_name: ClassVar[str] = "example"
    prompt: str
    text: str
    before: tuple[str, ...]
    sampled: tuple[str, ...]
    own: tuple[str, ...]


@dataclass(frozen=True)
class EncodingsStudy(Study):
    """All encodings of a text under a model, and the encodings that the model samples.

    The prefix is in its canonical encoding. Without prompts a sample is the beginning of a text.
    """

    kind: ClassVar[str] = "encodings"
    title: ClassVar[str] = "Encodings"
    question: ClassVar[str] = "How much probability do non-canonical encodings hold, and does the model sample them?"

    text: Annotated[str, Setting("Text", "Its encodings are scored; empty for none.")] = "The cat"
    prefix: Annotated[str, Setting("Before it", "The text before it, in its canonical encoding.")] = ""
    matches: Annotated[
        int,
        Setting(
            "Encodings at most",
            "The likeliest come first; a text with more of them gets bounds in place of exact shares.",
            least=1,
            ceiling=10_000,
        ),
    ] = 1_000
    expansions: Annotated[
        int,
        Setting(
            "Limit of expansions",
            "How many beginnings of encodings the model expands, at most. Higher: more encodings, and longer.",
            least=1,
            ceiling=100_000,
        ),
    ] = 1_500
    samples: Annotated[
        int,
        Setting(
            "Texts",
            "The number of texts that the model writes; 0 for none. More make the interval narrower.",
            least=0,
            most=100_000,
        ),
    ] = 200
    sample_tokens: Annotated[
        int,
        Setting(
            "Tokens of each",
            "The length of each text. A longer one has more places to differ.",
            least=1,
            most=512,
        ),
    ] = 24
    prompts: Annotated[
        tuple[str, ...],
        Setting(
            "Prompts",
            "One a line; each text continues one of them. Only the text after the prompt is compared.",
            most_items=100,
            blanks=True,
            example="none: from the beginning of a text",
        ),
    ] = ()
    temperature: Annotated[float, Setting("Temperature", "Of both.", above=0.0, step=0.1)] = 1.0
    seed: Annotated[int, SEED] = 0

    def check(self) -> None:
        """See `Study.check`."""
        if not self.text and not self.samples:
            raise QueryError("There is neither a text whose encodings are scored nor a sample to draw.")

    def plan(self) -> Iterator[Unit]:
        """One unit for the text, one for the samples."""
        if self.text:
            yield Unit(PROBABILITIES, "encodings of the text")
        if self.samples:
            yield Unit(SAMPLES, "texts the model writes")

    def carry_out(self, unit: Unit, context: StudyContext) -> Iterator[StudyRow | None]:
        """See `Study.carry_out`. Raises what `token_lattice`, a search and `SampledGeneration` raise."""
        yield from (self._probabilities(context) if unit.key == PROBABILITIES else self._samples(context))

    def _probabilities(self, context: StudyContext) -> Iterator[StudyRow | None]:
        tokenizer = context.model.tokenizer
        lattice = token_lattice(self.text, tokenizer, continues=bool(self.prefix))
        if not lattice.count:
            raise NoEncodingError("The model's vocabulary has no encoding of this text.")
        canonical: Match | None = None
        if lattice.canonical is not None:
            for match in _matches(self._search(context, Encoding.CANONICAL, Limits(matches=1, seconds=None))):
                canonical = match or canonical
                yield None
        if canonical is not None:
            yield CanonicalEncoding(*_scored(canonical, tokenizer))
        limits = Limits(matches=self.matches, expansions=self.expansions, seconds=None)
        run = self._search(context, Encoding.ALL, limits)
        scored = 0
        for match in _matches(run):
            if match is not None:
                scored += 1
                yield RankedEncoding(*_scored(match, tokenizer), rank=scored, is_canonical=match.is_canonical)
            yield None
        if context.stop():
            return
        progress = run.progress
        is_exhausted = progress.ended == "exhausted" or scored == lattice.count
        yield EncodingSearch(
            encodings=str(lattice.count),
            found=scored,
            found_mass=progress.found_mass,
            remaining_mass=0.0 if is_exhausted else progress.remaining_mass,
            expansions=progress.expansions,
            ended="exhausted" if is_exhausted else progress.ended,
        )

    def _search(self, context: StudyContext, encoding: Encoding, limits: Limits) -> SearchRun:
        from relens.search_run import search  # here, so that describing a study does without torch

        query = Query(
            prefix=re.escape(self.prefix),
            pattern=re.escape(self.text),
            encoding=encoding,
            decoding=Decoding(temperature=self.temperature),
            max_tokens=len(context.model.tokenizer.encode(self.prefix)) + len(self.text.encode()) + 1,
        )
        return search(
            context.model, query, ShortestPath("conditional"), limits, compiler=context.compiler, stop=context.stop
        )

    def _samples(self, context: StudyContext) -> Iterator[StudyRow | None]:
        from relens.studies.sampled_generation import SampledGeneration

        tokenizer = context.model.tokenizer
        batches = SampledGeneration(
            context.model,
            [(prompt, 1) for prompt in self.prompts] or [("", 1)],
            self.sample_tokens,
            Decoding(temperature=self.temperature),
            seed=self.seed,
            batch=_BATCH,
        )
        drawn = examples = 0
        for batch in batches:
            if context.stop():
                return
            if batch is None:
                yield None
                continue
            batch = batch[: self.samples - drawn]
            drawn += len(batch)
            encodings = [sampled_encoding(attempt.token_ids, tokenizer, bool(attempt.prefix)) for attempt in batch]
            compared = [encoding for encoding in encodings if encoding.is_compared]
            for attempt, encoding in zip(batch, encodings, strict=True):
                difference = first_difference(encoding, tokenizer)
                if difference is not None and examples < _MOST_EXAMPLES:
                    examples += 1
                    yield NonCanonicalSample(
                        prompt=attempt.prefix,
                        text=tokenizer.decode(encoding.token_ids, bool(attempt.prefix)),
                        before=_labels(difference.before, tokenizer),
                        sampled=_labels(difference.sampled, tokenizer),
                        own=_labels(difference.canonical, tokenizer),
                    )
            yield SampleBatch(
                samples=len(batch),
                compared=len(compared),
                other=sum(not encoding.is_canonical for encoding in compared),
                tokens=sum(len(encoding.token_ids) for encoding in compared),
            )
            if drawn >= self.samples:
                return


def _matches(run: SearchRun) -> Iterator[Match | None]:
    """The matches of a search, and None after each round, so that a stop is noticed soon."""
    while not run.finished:
        yield from run.poll(0.0)
        yield None


def _scored(match: Match, tokenizer: Tokenizer) -> tuple[tuple[int, ...], tuple[str, ...], float, tuple[float, ...]]:
    """Tokens, labels, log_prob and token_log_probs of the text, without its prefix."""
    begin = match.prefix_tokens
    tokens = match.token_ids[begin:]
    return tokens, _labels(tokens, tokenizer), match.log_prob, match.token_log_probs[begin:]


def _labels(tokens: Iterable[int], tokenizer: Tokenizer) -> tuple[str, ...]:
    return tuple(token_label(token, tokenizer) for token in tokens)


PRESETS: dict[str, EncodingsStudy] = {
    "The cat": EncodingsStudy(),
    "one long word": EncodingsStudy(text=" internationalization", prefix="The word is"),
    "only the samples": EncodingsStudy(text="", samples=400),
}
