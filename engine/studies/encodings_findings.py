"""What the rows of a study of encodings say: shares exactly or within bounds, and a verdict in sentences.

rows        canonical 1.3e-07, all 32 encodings 1.3e-07          38 of 199 samples differ
findings    the canonical one holds over 99.9 %                  19.1 % (14.2 to 25.1)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from engine.paired import proportion
from engine.percent import percent
from engine.record import Record
from engine.statistics import Estimate
from engine.studies.encodings import ALL, BATCH, ENCODING, OWN, EncodingsStudy
from engine.studies.rows import rows_of

#: What the paper found of unprompted samples (section 3.2).
PAPER = {"GPT-2": 0.03, "GPT-2 XL": 0.02}


@dataclass(frozen=True)
class EncodingsFindings(Record):
    """What the rows say so far; None where they do not tell.

    encodings: how many the text has; found: how many were scored; is_exact: whether those are all. own_log_prob: of the
    canonical encoding, nats; own_rank: its place among all. share: of the text's probability that the canonical
    encoding holds, between low and high (equal where exact). log_mass: logarithm of what was found altogether.
    samples: drawn; compared: those with a text to compare; other: those not canonical; tokens: compared in all;
    other_share: with Wilson's interval, None before the first.
    """

    encodings: int | None = None
    found: int = 0
    is_exact: bool = False
    own_log_prob: float | None = None
    own_rank: int | None = None
    share: Estimate | None = None
    log_mass: float | None = None
    samples: int = 0
    compared: int = 0
    other: int = 0
    tokens: int = 0
    other_share: Estimate | None = None


def encodings_findings(rows: Iterable[Mapping[str, Any]]) -> EncodingsFindings:
    """The findings of these rows, which may be those of a study that is not finished."""
    rows = list(rows)
    found = rows_of(rows, ENCODING)
    own: Mapping[str, Any] | None = next(reversed(rows_of(rows, OWN)), None)
    whole: Mapping[str, Any] | None = next(reversed(rows_of(rows, ALL)), None)
    own_log_prob = None if own is None else float(own["log_prob"])
    log_mass = _log_sum([float(row["log_prob"]) for row in found])
    batches = rows_of(rows, BATCH)
    samples, compared, other, tokens = (
        sum(int(row[name]) for row in batches) for name in ("samples", "compared", "other", "tokens")
    )
    return EncodingsFindings(
        encodings=None if whole is None else int(whole["encodings"]),
        found=len(found),
        is_exact=whole is not None and whole["ended"] == "exhausted",
        own_log_prob=own_log_prob,
        own_rank=next((int(row["rank"]) for row in found if row["is_canonical"]), None),
        share=_share(own_log_prob, log_mass, whole),
        log_mass=log_mass,
        samples=samples,
        compared=compared,
        other=other,
        tokens=tokens,
        other_share=proportion(other, compared) if compared else None,
    )


def _share(own: float | None, log_mass: float | None, whole: Mapping[str, Any] | None) -> Estimate | None:
    """The canonical share: exact, or between bounds; None while the search goes on or where there is none."""
    if own is None or log_mass is None or whole is None:
        return None
    if whole["ended"] == "exhausted":
        return Estimate.exact(min(1.0, math.exp(own - log_mass)))
    # What was not found may be anything from nothing to all that is open. The canonical one may be in it.
    least = max(log_mass, own)
    open_mass = float(whole["remaining_mass"])
    most = _log_sum([log_mass, math.log(open_mass)] if open_mass > 0.0 else [log_mass]) or least
    return Estimate(math.exp(own - least), math.exp(own - max(most, least)), min(1.0, math.exp(own - least)))


def _log_sum(values: list[float]) -> float | None:
    """Logarithm of the sum of exponentials; None of nothing."""
    if not values:
        return None
    most = max(values)
    return most + math.log(sum(math.exp(value - most) for value in values)) if math.isfinite(most) else most


def verdict(rows: Iterable[Mapping[str, Any]], study: EncodingsStudy) -> tuple[str, ...]:
    """The sentences on the rows of a study (see `Study.verdict`)."""
    return encodings_verdict(encodings_findings(rows), study)


def encodings_verdict(findings: EncodingsFindings, study: EncodingsStudy) -> tuple[str, ...]:
    """The findings in plain words."""
    return (*_of_the_text(findings), *_of_the_samples(findings, study))


def _of_the_text(findings: EncodingsFindings) -> Iterator[str]:
    if findings.encodings is None:
        return
    many = f"{findings.encodings:,}" if findings.encodings < 10**15 else f"about 10^{len(str(findings.encodings)) - 1}"
    if findings.share is None:
        yield (
            f"The text has {many} {'encoding' if findings.encodings == 1 else 'encodings'}, none of them the"
            " tokenizer's own: it changes the text before it encodes it."
        )
        return
    if findings.encodings == 1:
        yield "The text has one encoding, the canonical one, which therefore holds all of its probability."
        return
    share = findings.share
    if findings.is_exact:
        yield (
            f"The canonical encoding holds {_percent(share.value)} of the text's probability; the other"
            f" {findings.encodings - 1:,} share {_percent(1.0 - share.value)}."
        )
    else:
        low, high = _percent(share.low), _percent(share.high)
        yield (
            f"The canonical encoding holds {low if low == high else f'between {low} and {high}'} of the text's"
            f" probability: {findings.found:,} of {many} encodings were scored, the likeliest first."
        )
    if findings.own_rank == 1:
        yield "It is the likeliest encoding of the text."
    elif findings.own_rank is not None:
        before = findings.own_rank - 1
        which = "one other encoding is" if before == 1 else f"{before:,} others are"
        yield f"Yet {which} likelier: it comes in place {findings.own_rank:,}."
    else:
        yield f"At least {findings.found:,} others are likelier."


def _of_the_samples(findings: EncodingsFindings, study: EncodingsStudy) -> Iterator[str]:
    share = findings.other_share
    if share is None:
        return
    prompted = "after a prompt" if any(study.prompts) else "from the beginning of a text"
    yield (
        f"Of {findings.compared:,} texts that the model wrote {prompted}, {findings.other:,}"
        f" {_are(findings.other)} not in their canonical encoding: {_percent(share.value)}, or between"
        f" {_percent(share.low)} and {_percent(share.high)} in 95 of 100 such trials."
    )
    paper = " and ".join(f"{percent(value)} of {name}'s samples" for name, value in PAPER.items())
    yield (
        f"The ReLM paper (section 3.2) found about {paper} not canonical. It does not say how long"
        f" they were; these have up to {study.sample_tokens} tokens, and a longer text has more places to differ."
    )
    if left := findings.samples - findings.compared:
        yield (
            f"{left:,} more had no text to compare: {'it' if left == 1 else 'they'} ended at once, or spelled bytes"
            " that are no character."
        )


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _percent(share: float) -> str:
    """A share with the figures that tell it from 0 and 1."""
    if 0.0 < share < 0.001:
        return f"{100 * share:.1g} %"
    if 0.999 < share < 1.0:
        return "over 99.9 %"
    return percent(share) if share in (0.0, 1.0) else f"{100 * share:.1f} %"
