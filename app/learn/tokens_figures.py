"""Rows of the encodings study to figures and tables; pure functions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from app.charts import BLUE, MARGINS, ORANGE, Chart, hatched
from app.narrative import log_probability_text
from app.text import as_plotly, shortened
from engine.paired import proportion
from engine.percent import percent
from engine.statistics import Estimate
from engine.studies.encodings import BATCH, ENCODING, EXAMPLE
from engine.studies.encodings_findings import PAPER, EncodingsFindings, encodings_findings
from engine.studies.study import rows_of

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
    floor = math.floor(min(powers, default=-1.0)) - 1
    labels = [as_plotly(_name(row)) for row in shown]
    texts = [log_probability_text(row["log_prob"]) for row in shown]
    figure = go.Figure(
        go.Bar(
            x=[power - floor for power in powers],
            base=[floor] * len(powers),
            y=list(range(len(shown))),
            orientation="h",
            marker={
                "color": [ORANGE if row["is_canonical"] else BLUE for row in shown],
                "pattern": hatched(["" if row["is_canonical"] else "/" for row in shown]),
            },
            text=texts,
            textposition="outside",
            cliponaxis=False,
            hovertext=[f"{label}<br>{text}" for label, text in zip(labels, texts, strict=True)],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    )
    highest = max(powers, default=0.0)
    step = max(1, math.ceil((highest - floor) / 6))
    ticks = list(range(floor, math.ceil(highest) + 1, step))
    figure.update_xaxes(
        title="Probability, in powers of ten",
        range=[floor, highest + 0.35 * (highest - floor)],
        tickvals=ticks,
        ticktext=[f"10<sup>{tick}</sup>" if tick else "1" for tick in ticks],
    )
    figure.update_yaxes(
        autorange="reversed", tickvals=list(range(len(shown))), ticktext=labels, automargin=True, ticklabelstandoff=6
    )
    figure.update_layout(height=90 + 26 * max(len(shown), 1), margin=MARGINS, bargap=0.3, showlegend=False)
    told = "; ".join(f"{_name(row)} {text}" for row, text in zip(shown[:5], texts, strict=False))
    return Chart(figure, f"Bars of the {len(shown)} likeliest encodings of {findings.found:,} found: {told}.")


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
    batches = rows_of(rows, BATCH)
    step = max(1, math.ceil(len(batches) / _POINTS))
    counts: list[int] = []
    shares: list[Estimate] = []
    compared = other = 0
    for place, row in enumerate(batches, 1):
        compared, other = compared + int(row["compared"]), other + int(row["other"])
        if compared and (place % step == 0 or place == len(batches)):
            counts.append(compared)
            shares.append(proportion(other, compared))
    figure = go.Figure()
    for name, values, fill in (
        ("high", [share.high for share in shares], None),
        ("low", [share.low for share in shares], "tonexty"),
    ):
        figure.add_trace(
            go.Scatter(
                x=counts,
                y=values,
                name=name,
                mode="lines",
                line={"width": 0},
                fill=fill,
                fillcolor="rgba(86,180,233,0.28)",
                hoverinfo="skip",
                showlegend=False,
            )
        )
    figure.add_trace(
        go.Scatter(
            x=counts,
            y=[share.value for share in shares],
            name="this model",
            mode="lines+markers",
            line={"color": BLUE, "width": 2},
            hovertemplate="%{y:.1%} of %{x} texts<extra></extra>",
        )
    )
    for place, (name, value) in enumerate(PAPER.items()):
        figure.add_hline(y=value, line={"color": ORANGE, "width": 2, "dash": ("dash", "dot")[place]})
        figure.add_annotation(
            text=f"{name} in the paper: {percent(value)}",
            x=1,
            xref="paper",
            xanchor="right",
            y=value,
            yanchor="bottom" if place == 0 else "top",
            showarrow=False,
        )
    figure.update_xaxes(title="Texts compared", rangemode="tozero")
    figure.update_yaxes(title="Not canonical", tickformat=".0%", rangemode="tozero")
    figure.update_layout(height=280, margin=MARGINS, showlegend=False)
    share = findings.other_share
    now = (
        "nothing yet"
        if share is None
        else f"{percent(share.value, 1)}, between {percent(share.low, 1)} and {percent(share.high, 1)}"
    )
    return Chart(figure, f"Share of texts that are not canonical after {findings.compared} texts: {now}.")


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
