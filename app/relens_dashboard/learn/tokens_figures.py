"""Figures and tables of the encodings study."""

from __future__ import annotations

import math
from itertools import accumulate

import pandas as pd

from relens.paired import proportion
from relens.percent import percent
from relens.studies.encodings import RankedEncoding
from relens.studies.encodings_findings import PAPER, EncodingsFindings
from relens_dashboard.charts import BLUE, FROM_ZERO, ORANGE, Chart, Style, band, bars, chart, level, line, thinned
from relens_dashboard.narrative import log_probability_text
from relens_dashboard.text import shortened

#: Most bars of a figure, lines of a table, points of a line over the width of a figure.
_BARS, _LINES, _POINTS = 16, 1_000, 400
#: Between the tokens of an encoding.
BETWEEN = " | "


def encoding_bars(findings: EncodingsFindings) -> Chart:
    """The likeliest encodings by probability, on a logarithmic axis; the canonical one plain, others hatched."""
    encodings = findings.encodings
    shown = [*encodings[:_BARS], *(encoding for encoding in encodings[_BARS:] if encoding.is_canonical)]
    powers = [encoding.log_prob / math.log(10) for encoding in shown]
    # A logarithmic axis has no zero: bars begin a power of ten below the least of them.
    floor, highest = math.floor(min(powers, default=-1.0)) - 1, max(powers, default=0.0)
    ticks = range(floor, math.ceil(highest) + 1, max(1, math.ceil((highest - floor) / 6)))
    labels = [_label(encoding) for encoding in shown]
    texts = [log_probability_text(encoding.log_prob) for encoding in shown]
    likeliest = "; ".join(f"{label} {text}" for label, text in zip(labels[:5], texts, strict=False))
    return chart(
        [
            bars(
                [power - floor for power in powers],
                begin=[floor] * len(powers),
                style=[Style(ORANGE) if encoding.is_canonical else Style(BLUE, "/") for encoding in shown],
                text=texts,
                hover=[f"{label}\n{text}" for label, text in zip(labels, texts, strict=True)],
            )
        ],
        f"Bars of the {len(shown)} likeliest of {len(encodings):,} scored encodings: {likeliest}.",
        x={
            "title": "Probability, in powers of ten",
            "range": [floor, highest + 0.35 * (highest - floor)],
            "tickvals": list(ticks),
            "ticktext": [f"10<sup>{tick}</sup>" if tick else "1" for tick in ticks],
        },
        y_labels=labels,
    )


def encodings_table(findings: EncodingsFindings) -> pd.DataFrame:
    """Place, tokens, number of tokens, probability, share of the scored encodings, log P, whether canonical."""
    encodings, log_mass = findings.encodings[:_LINES], findings.log_mass or 0.0
    return pd.DataFrame(
        {
            "Place": [encoding.rank for encoding in encodings],
            "Tokens": [BETWEEN.join(encoding.labels) for encoding in encodings],
            "How many": [len(encoding.tokens) for encoding in encodings],
            "Probability": [log_probability_text(encoding.log_prob) for encoding in encodings],
            "Share": [math.exp(encoding.log_prob - log_mass) for encoding in encodings],
            "log P": [encoding.log_prob for encoding in encodings],
            "Canonical": [encoding.is_canonical for encoding in encodings],
        }
    )


def samples_figure(findings: EncodingsFindings) -> Chart:
    """The share of non-canonical samples over their number, with its interval, and the paper's two shares."""
    batches = [batch for batch in findings.batches if batch.compared]
    compared = list(accumulate(batch.compared for batch in batches))
    other = list(accumulate(batch.other for batch in batches))
    places = thinned(len(batches), _POINTS)
    counts = [compared[place] for place in places]
    shares = [proportion(other[place], compared[place]) for place in places]
    share = findings.other_share
    now = (
        "nothing yet"
        if share is None
        else f"{percent(share.value, 1)}, between {percent(share.low, 1)} and {percent(share.high, 1)}"
    )
    settled = line(
        counts,
        [share.value for share in shares],
        name="this model",
        marked="everywhere",
        hover="%{y:.1%} of %{x} texts",
    )
    drawn = chart(
        [*band(counts, shares), settled],
        f"Share of texts that are not canonical after {findings.compared} texts: {now}.",
        x=FROM_ZERO | {"title": "Texts compared"},
        y=FROM_ZERO | {"title": "Share not canonical", "tickformat": ".0%"},
    )
    for place, (name, value) in enumerate(PAPER.items()):
        style = Style(ORANGE, dash=("dash", "dot")[place])
        level(
            drawn.figure, value, f"{name} in the paper: {percent(value)}", style, ("top right", "bottom right")[place]
        )
    return drawn


def examples_table(findings: EncodingsFindings) -> pd.DataFrame:
    """The first difference of each non-canonical sample: sampled tokens and canonical tokens side by side."""
    examples = findings.examples[:_LINES]
    return pd.DataFrame(
        {
            "Before": ["".join(example.before) for example in examples],
            "The model sampled": [BETWEEN.join(example.sampled) for example in examples],
            "The tokenizer gives": [BETWEEN.join(example.own) for example in examples],
        }
    )


def _label(encoding: RankedEncoding) -> str:
    return f"{'✓ ' if encoding.is_canonical else ''}{shortened(BETWEEN.join(encoding.labels), 42)}"
