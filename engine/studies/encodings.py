"""What a model thinks of the encodings of one text, and whether it writes in other than canonical ones by itself.

The text `The cat` has 32 encodings in SmolLM2's vocabulary. Each is a sequence of tokens, so each has a probability of
its own; they exclude each other, since none is the beginning of another, and their sum is that of the text:

    The ␣cat           1.3e-07                  the canonical one
    The ␣ca t          5.9e-12                  all others together hold a small part, but not nothing
    T he ␣cat          ...

They are found in exact order of probability, by a search of the literal text in all encodings. A text with few
encodings is exhausted, and the shares are exact; for a long one the search knows bounds. The canonical encoding is
scored by itself, wherever it ranks.

The second unit turns the question around: the model writes freely, and each text is encoded again and compared
(`engine.studies.own_spelling`). Source: ReLM section 3.2, which found about 3 % of unprompted samples of GPT-2, and 2 %
of GPT-2 XL, not to be canonical; it does not say how long they were, and longer ones have more room for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from engine.errors import NoEncodingError, QueryError
from engine.pictures.labels import token_label
from engine.query import SEED, Decoding, Encoding, Limits, Query, ShortestPath
from engine.setting import Setting
from engine.studies.own_spelling import first_difference, spelling_of
from engine.studies.rows import ROW, Row
from engine.studies.study import Study, StudyContext, Unit
from engine.tokens.token_lattice import token_lattice
from engine.traversal.results import Match

if TYPE_CHECKING:
    from engine.search_run import SearchRun
    from engine.tokens.tokenizer import Tokenizer

PROBABILITIES, SAMPLES = "probabilities", "samples"

#: What rows tell: the canonical encoding's own score, one encoding, all of them; a batch of samples, one that differs.
OWN, ENCODING, ALL, BATCH, EXAMPLE = "own", "encoding", "all", "batch", "example"

#: Samples of one batch. Always the same, so that a seed always gives the same samples.
_BATCH = 24
#: Samples that differ are shown up to this number.
_MOST_EXAMPLES = 40


@dataclass(frozen=True)
class EncodingsStudy(Study):
    """All encodings of a text under a model, and the encodings that the model samples.

    The prefix is in its canonical encoding. Without prompts the model writes from the beginning of a text.
    """

    kind: ClassVar[str] = "encodings"
    title: ClassVar[str] = "Encodings"
    question: ClassVar[str] = "How much probability do other encodings hold, and does the model write them by itself?"

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
            "How often the model is asked what comes next, at most. Higher: more encodings, and longer.",
            least=1,
            ceiling=100_000,
        ),
    ] = 1_500
    samples: Annotated[
        int,
        Setting(
            "Texts",
            "How many texts the model writes; 0 for none. More make the interval narrower.",
            least=0,
            most=100_000,
        ),
    ] = 200
    sample_tokens: Annotated[
        int,
        Setting(
            "Tokens of each",
            "How long each text is. In a longer one there are more places to differ.",
            least=1,
            most=512,
        ),
    ] = 24
    prompts: Annotated[
        tuple[str, ...],
        Setting(
            "Prompts",
            "One a line; each text continues one of them. What follows the prompt is compared, by itself.",
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
        """Those of the two that are wanted."""
        if self.text:
            yield Unit(PROBABILITIES, "encodings of the text")
        if self.samples:
            yield Unit(SAMPLES, "texts the model writes")

    def carry_out(self, unit: Unit, context: StudyContext) -> Iterator[Row | None]:
        """See `Study.carry_out`. Raises what `token_lattice`, a search and `SampledGeneration` raise."""
        yield from (self._probabilities(context) if unit.key == PROBABILITIES else self._samples(context))

    def _probabilities(self, context: StudyContext) -> Iterator[Row | None]:
        tokenizer = context.model.tokenizer
        lattice = token_lattice(self.text, tokenizer, continues=bool(self.prefix))
        if not lattice.count:
            raise NoEncodingError("The model's vocabulary has no encoding of this text.")
        own: Match | None = None
        if lattice.canonical is not None:
            for match in _matches(self._ask(context, Encoding.CANONICAL, Limits(matches=1, seconds=None))):
                own = match or own
                yield None
        if own is not None:
            yield {ROW: OWN, **_scored(own, tokenizer)}
        limits = Limits(matches=self.matches, expansions=self.expansions, seconds=None)
        run = self._ask(context, Encoding.ALL, limits)
        found = 0
        for match in _matches(run):
            if match is not None:
                found += 1
                yield {ROW: ENCODING, "rank": found, "is_canonical": match.is_canonical, **_scored(match, tokenizer)}
            yield None
        if context.stop():
            return
        progress = run.progress
        is_exhausted = progress.ended == "exhausted" or found == lattice.count
        yield {
            ROW: ALL,
            # Text: there may be 2^199 of them, more than a column of numbers can hold.
            "encodings": str(lattice.count),
            "found": found,
            "found_mass": progress.found_mass,
            "remaining_mass": 0.0 if is_exhausted else progress.remaining_mass,
            "expansions": progress.expansions,
            "ended": "exhausted" if is_exhausted else progress.ended,
        }

    def _ask(self, context: StudyContext, encoding: Encoding, limits: Limits) -> SearchRun:
        from engine.search_run import search  # here, so that describing a study does without torch

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

    def _samples(self, context: StudyContext) -> Iterator[Row | None]:
        from engine.studies.sampled_generation import SampledGeneration

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
            spellings = [spelling_of(attempt.token_ids, tokenizer, bool(attempt.prefix)) for attempt in batch]
            compared = [spelling for spelling in spellings if spelling.is_compared]
            for attempt, spelling in zip(batch, spellings, strict=True):
                difference = first_difference(spelling, tokenizer)
                if difference is not None and examples < _MOST_EXAMPLES:
                    examples += 1
                    yield {
                        ROW: EXAMPLE,
                        "prompt": attempt.prefix,
                        "text": tokenizer.decode(spelling.token_ids, bool(attempt.prefix)),
                        "before": _labels(difference.before, tokenizer),
                        "sampled": _labels(difference.sampled, tokenizer),
                        "own": _labels(difference.own, tokenizer),
                    }
            yield {
                ROW: BATCH,
                "samples": len(batch),
                "compared": len(compared),
                "other": sum(not spelling.is_canonical for spelling in compared),
                "tokens": sum(len(spelling.token_ids) for spelling in compared),
            }
            if drawn >= self.samples:
                return


def _matches(run: SearchRun) -> Iterator[Match | None]:
    """The matches of a search, and None after each round, so that a stop is noticed soon."""
    while not run.finished:
        yield from run.poll(0.0)
        yield None


def _scored(match: Match, tokenizer: Tokenizer) -> Row:
    tokens = match.token_ids[match.prefix_tokens :]
    return {
        "tokens": list(tokens),
        "labels": _labels(tokens, tokenizer),
        "log_prob": match.log_prob,
        "token_log_probs": list(match.token_log_probs[match.prefix_tokens :]),
    }


def _labels(tokens: Iterable[int], tokenizer: Tokenizer) -> list[str]:
    return [token_label(token, tokenizer) for token in tokens]


PRESETS: dict[str, EncodingsStudy] = {
    "The cat": EncodingsStudy(),
    "one long word": EncodingsStudy(text=" internationalization", prefix="The word is"),
    "only the samples": EncodingsStudy(text="", samples=400),
}
