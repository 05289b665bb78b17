"""What the rows of a study of encodings say: shares, exactly or within bounds, and a verdict in sentences.

rows        canonical 1.3e-07, all 32 encodings 1.3e-07          38 of 199 samples differ
findings    the canonical one holds over 99.9 %                  19.1 % (14.2 to 25.1)
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from relens.paired import proportion
from relens.percent import percent
from relens.statistics import Estimate
from relens.studies.encodings import (
    CanonicalEncoding,
    EncodingSearch,
    EncodingsStudy,
    NonCanonicalSample,
    RankedEncoding,
    SampleBatch,
)
from relens.studies.rows import Rows

#: Shares of unprompted samples that are not canonical, by the paper (section 3.2).
PAPER = {"GPT-2": 0.03, "GPT-2 XL": 0.02}


@dataclass(frozen=True)
class EncodingsFindings:
    """canonical: None where the tokenizer changes the text first. encodings: by rank. search: None until it has ended.

    has_prompts, sample_tokens: settings of the samples.
    """

    canonical: CanonicalEncoding | None
    encodings: tuple[RankedEncoding, ...]
    search: EncodingSearch | None
    batches: tuple[SampleBatch, ...]
    examples: tuple[NonCanonicalSample, ...]
    has_prompts: bool
    sample_tokens: int

    @cached_property
    def log_mass(self) -> float | None:
        """Logarithm of the summed probability of the scored encodings; None without one."""
        return _log_sum([encoding.log_prob for encoding in self.encodings])

    @cached_property
    def canonical_rank(self) -> int | None:
        """The rank of the canonical encoding, None where the search did not reach it."""
        return next((encoding.rank for encoding in self.encodings if encoding.is_canonical), None)

    @cached_property
    def share(self) -> Estimate | None:
        """The canonical encoding's share of the text's probability, exact or between bounds; None until it is known."""
        if self.canonical is None or self.log_mass is None or self.search is None:
            return None
        canonical, log_mass = self.canonical.log_prob, self.log_mass
        if self.search.is_exhausted:
            return Estimate.exact(min(1.0, math.exp(canonical - log_mass)))
        # The encodings that were not scored have between nothing and the open mass. The canonical one may be in it.
        least = max(log_mass, canonical)
        open_mass = self.search.remaining_mass
        most = _log_sum([log_mass, math.log(open_mass)] if open_mass > 0.0 else [log_mass]) or least
        high = min(1.0, math.exp(canonical - least))
        return Estimate(math.exp(canonical - least), math.exp(canonical - max(most, least)), high)

    @cached_property
    def samples(self) -> int:
        """Samples drawn."""
        return sum(batch.samples for batch in self.batches)

    @cached_property
    def compared(self) -> int:
        """Samples with a text to compare."""
        return sum(batch.compared for batch in self.batches)

    @cached_property
    def other(self) -> int:
        """Compared samples that are not canonical."""
        return sum(batch.other for batch in self.batches)

    @property
    def other_share(self) -> Estimate | None:
        """The share of these, with Wilson's interval; None before the first compared sample."""
        return proportion(self.other, self.compared) if self.compared else None

    @property
    def verdict(self) -> tuple[str, ...]:
        """The text, then the samples, in sentences."""
        return (*_text_sentences(self), *_sample_sentences(self))


def encodings_findings(rows: Rows, study: EncodingsStudy) -> EncodingsFindings:
    """The findings of these rows, which may be those of a study that is not finished."""
    rows = list(rows)
    return EncodingsFindings(
        canonical=next(iter(CanonicalEncoding.all_in(rows)), None),
        encodings=tuple(sorted(RankedEncoding.all_in(rows), key=lambda encoding: encoding.rank)),
        search=next(iter(EncodingSearch.all_in(rows)), None),
        batches=tuple(SampleBatch.all_in(rows)),
        examples=tuple(NonCanonicalSample.all_in(rows)),
        has_prompts=any(study.prompts),
        sample_tokens=study.sample_tokens,
    )


def _log_sum(values: list[float]) -> float | None:
    """Logarithm of the sum of exponentials; None of nothing."""
    if not values:
        return None
    most = max(values)
    return most + math.log(sum(math.exp(value - most) for value in values)) if math.isfinite(most) else most


def _text_sentences(findings: EncodingsFindings) -> Iterator[str]:
    if findings.search is None:
        return
    encodings, scored, share = int(findings.search.encodings), len(findings.encodings), findings.share
    many = f"{encodings:,}" if encodings < 10**15 else f"about 10^{len(findings.search.encodings) - 1}"
    if share is None:
        yield (
            f"The text has {many} {'encoding' if encodings == 1 else 'encodings'}, none of them canonical: the"
            " tokenizer changes the text before it encodes it."
        )
        return
    if encodings == 1:
        yield "The text has one encoding, the canonical one, which therefore holds all of its probability."
        return
    if findings.search.is_exhausted:
        yield (
            f"The canonical encoding holds {_percent(share.value)} of the text's probability; the other"
            f" {encodings - 1:,} share {_percent(1.0 - share.value)}."
        )
    else:
        low, high = _percent(share.low), _percent(share.high)
        yield (
            f"The canonical encoding holds {low if low == high else f'between {low} and {high}'} of the text's"
            f" probability: {scored:,} of {many} encodings were scored, the likeliest first."
        )
    if findings.canonical_rank == 1:
        yield "It is the likeliest encoding of the text."
    elif findings.canonical_rank is not None:
        before = findings.canonical_rank - 1
        which = "one other encoding is" if before == 1 else f"{before:,} others are"
        yield f"Yet {which} likelier: it comes in place {findings.canonical_rank:,}."
    else:
        yield f"At least {scored:,} others are likelier."


def _sample_sentences(findings: EncodingsFindings) -> Iterator[str]:
    share = findings.other_share
    if share is None:
        return
    prompted = "after a prompt" if findings.has_prompts else "from the beginning of a text"
    yield (
        f"Of {findings.compared:,} texts that the model wrote {prompted}, {findings.other:,}"
        f" {'is' if findings.other == 1 else 'are'} not in their canonical encoding: {_percent(share.value)}, or"
        f" between {_percent(share.low)} and {_percent(share.high)} in 95 of 100 such trials."
    )
    paper = " and ".join(f"{percent(value)} of {name}'s samples" for name, value in PAPER.items())
    yield (
        f"The ReLM paper (section 3.2) found about {paper} not canonical. It does not give their length; these have up"
        f" to {findings.sample_tokens} tokens, and a longer text has more places to differ."
    )
    if left := findings.samples - findings.compared:
        yield (
            f"{left:,} more had no text to compare: {'it' if left == 1 else 'they'} ended at once, or spelled bytes"
            " that are no character."
        )


def _percent(share: float) -> str:
    """A share with the figures that distinguish it from 0 and 1."""
    if 0.0 < share < 0.001:
        return f"{100 * share:.1g} %"
    if 0.999 < share < 1.0:
        return "over 99.9 %"
    return percent(share) if share in (0.0, 1.0) else percent(share, 1)
