"""Rows of the encodings study to figures and tables; pure functions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

import pandas as pd

from app.charts import BLUE, FROM_ZERO, ORANGE, Chart, Style, band, bars, chart, level, line, thinned
from app.narrative import log_probability_text
from app.text import shortened
from engine.paired import proportion
from engine.percent import percent
from engine.studies.encodings import BATCH, ENCODING, EXAMPLE
from engine.studies.encodings_findings import PAPER, EncodingsFindings, encodings_findings
from engine.studies.rows import rows_of

Rows = Sequence[Mapping[str, Any]]

#: Bars that one can take in.
_BARS = 16
_LINES = 1_000
#: Of a line over the width of a figure.
_POINTS = 400
#: Between the tokens of an encoding.
BETWEEN = " | "


def encoding_bars(rows: Rows, findings: EncodingsFindings) -> Chart:
    """The likeliest encodings by probability, on a logarithmic axis; the canonical one plain, others hatched."""
    found = sorted(rows_of(rows, ENCODING), key=lambda row: row["rank"])
    shown = found[:_BARS] + [row for row in found[_BARS:] if row["is_canonical"]]
    powers = [row["log_prob"] / math.log(10) for row in shown]
    # A logarithmic axis has no zero: bars begin a power of ten below the least of them.
    floor, highest = math.floor(min(powers, default=-1.0)) - 1, max(powers, default=0.0)
    ticks = range(floor, math.ceil(highest) + 1, max(1, math.ceil((highest - floor) / 6)))
    labels = [_name(row) for row in shown]
    texts = [log_probability_text(row["log_prob"]) for row in shown]
    told = "; ".join(f"{label} {text}" for label, text in zip(labels[:5], texts, strict=False))
    return chart(
        [
            bars(
                [power - floor for power in powers],
                begin=[floor] * len(powers),
                style=[Style(ORANGE) if row["is_canonical"] else Style(BLUE, "/") for row in shown],
                text=texts,
                hover=[f"{label}\n{text}" for label, text in zip(labels, texts, strict=True)],
            )
        ],
        f"Bars of the {len(shown)} likeliest encodings of {findings.found:,} found: {told}.",
        x={
            "title": "Probability, in powers of ten",
            "range": [floor, highest + 0.35 * (highest - floor)],
            "tickvals": list(ticks),
            "ticktext": [f"10<sup>{tick}</sup>" if tick else "1" for tick in ticks],
        },
        y_labels=labels,
    )


def encodings_table(rows: Rows) -> pd.DataFrame:
    """Place, tokens, number of tokens, probability, share of what was found, log P, whether canonical."""
    found = sorted(rows_of(rows, ENCODING), key=lambda row: row["rank"])[:_LINES]
    log_mass = encodings_findings(rows).log_mass or 0.0
    return pd.DataFrame(
        {
            "Place": [row["rank"] for row in found],
            "Tokens": [BETWEEN.join(row["labels"]) for row in found],
            "How many": [len(row["tokens"]) for row in found],
            "Probability": [log_probability_text(row["log_prob"]) for row in found],
            "Share": [math.exp(row["log_prob"] - log_mass) for row in found],
            "log P": [row["log_prob"] for row in found],
            "Canonical": [bool(row["is_canonical"]) for row in found],
        }
    )


def samples_figure(rows: Rows, findings: EncodingsFindings) -> Chart:
    """How the share of samples in other encodings settled, with its interval, and the paper's two beside it."""
    batches = [row for row in rows_of(rows, BATCH) if row["compared"]]
    compared = list(accumulate(int(row["compared"]) for row in batches))
    other = list(accumulate(int(row["other"]) for row in batches))
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


def examples_table(rows: Rows) -> pd.DataFrame:
    """Where samples differ: what was sampled beside the tokenizer's own tokens."""
    examples = rows_of(rows, EXAMPLE)[:_LINES]
    return pd.DataFrame(
        {
            "Before": ["".join(row["before"]) for row in examples],
            "The model sampled": [BETWEEN.join(row["sampled"]) for row in examples],
            "The tokenizer gives": [BETWEEN.join(row["own"]) for row in examples],
        }
    )


def _name(row: Mapping[str, Any]) -> str:
    return f"{'✓ ' if row['is_canonical'] else ''}{shortened(BETWEEN.join(row['labels']), 42)}"
