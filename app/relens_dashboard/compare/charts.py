"""Comparisons as figures: log-probabilities of shared strings, and shares by run."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from relens.counted import counted
from relens.runs.agreement import ComparedString
from relens_dashboard.charts import GREY, Chart, Style, chart, dots, line
from relens_dashboard.compare.words import letter
from relens_dashboard.narrative import log_probability_text
from relens_dashboard.share_charts import share_bars
from relens_dashboard.tables import continuation, shown_text
from relens_dashboard.text import shortened

#: With more points, single ones cannot be seen.
MOST_POINTS = 2_000


def scatter(strings: Sequence[ComparedString], first: int, second: int) -> Chart:
    """The strings of both runs at their two log-probabilities; on the dashed line these are equal."""
    shared = [
        (one, x, y)
        for one in strings
        if (x := one.decoder_log_probs[first]) is not None and (y := one.decoder_log_probs[second]) is not None
    ][:MOST_POINTS]
    finite = [value for _, x, y in shared for value in (x, y) if value > float("-inf")]
    ends = [min(finite, default=-1.0), max(finite, default=0.0)]
    labels = [shown_text(continuation({"text": one.text, "prefix_text": one.prefix_text})) for one, _, _ in shared]
    strings_in_both = dots(
        [x for _, x, _ in shared],
        [y for _, _, y in shared],
        name="strings in both",
        size=8,
        hover=[
            f"{shortened(label, 60)}\n{letter(first)}: {log_probability_text(x)}"
            f"\n{letter(second)}: {log_probability_text(y)}"
            for label, (_, x, y) in zip(labels, shared, strict=True)
        ],
    ).update(opacity=0.75)
    likelier = sum(y > x for _, x, y in shared)
    return chart(
        [line(ends, ends, name="equally likely", style=Style(GREY, dash="dash")), strings_in_both],
        f"Log-probabilities of {counted(len(shared), 'string')} that both have; {likelier:,} are likelier in "
        f"{letter(second)} than in {letter(first)}.",
        x={"title": f"log-probability in {letter(first)}, nats"},
        y={"title": f"log-probability in {letter(second)}, nats"},
        height=360,
    )


def overlaid_shares(table: pd.DataFrame, count: int = 12) -> Chart:
    """The shares of `relens_dashboard.compare.tables.shares_table`: for each outcome a bar a run."""
    drawn = share_bars(table.rename(columns={"Run": "run"}), ["Outcome"], ["run"], count)
    drawn.figure.update_xaxes(title="Share of all matches of the run")
    return Chart(drawn.figure, drawn.alt.replace("given ", "in "))
