"""One match opened: its tokens, the model's probability of each, and the likeliest tokens in its place."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from relens.counted import counted
from relens.runs.records import RunRecord
from relens.runs.specification import InspectSpecification, SearchSpecification
from relens.traversal.summaries import groups_of
from relens_dashboard import charts, narrative, search_charts
from relens_dashboard.edits_text import edits_text, marked_html
from relens_dashboard.messages import show_warning
from relens_dashboard.tables import shown_value
from relens_dashboard.text import as_html, visible


def inspection(specification: SearchSpecification, match: Mapping[str, Any]) -> InspectSpecification:
    """The worker's task for opening `match`."""
    query = specification.query
    return InspectSpecification(specification.model, tuple(match["token_ids"]), query.begin_of_text, query.decoding)


def match_detail(
    match: Mapping[str, Any],
    inspected: RunRecord | None,
    readings: Sequence[Mapping[str, Any]],
    *,
    sampled: bool = False,
) -> None:
    """Show `match` (`sampled`: of a sample) with the readings of its tokens, once they are there."""
    with st.container(border=True, key="match_detail"):
        st.header(f"Match {match['number']}", anchor=False)
        st.html(text_html(match))
        st.html(f'<div class="relens-state">{_scores_html(match, sampled=sampled)}</div>')
        if inspected is not None and inspected.status in ("failed", "interrupted", "stopped"):
            show_warning(inspected.error or "The worker ended before it read these tokens. Select the line again.")
            return
        if not readings:
            st.caption("Asking the model about each token …")
            st.skeleton(height=120)
            return
        prefix_tokens = int(match["prefix_tokens"])
        st.html(tokens_html(readings, prefix_tokens))
        chart = search_charts.token_bars(readings, prefix_tokens)
        table, drawn = st.columns([6, 5], gap="medium")
        with table:
            st.dataframe(
                readings_table(readings, prefix_tokens),
                hide_index=True,
                key="readings",
                height=300,
                alt="The tokens of the match",
                column_config={
                    "Token": st.column_config.TextColumn(help="One token of the match; ␣ is a space."),
                    "Probability": st.column_config.NumberColumn(
                        format="%.3g", help="By the model's own distribution at this place (temperature 1)."
                    ),
                    "Rank": st.column_config.NumberColumn(help="1 is the model's likeliest token here."),
                    "Kept": st.column_config.CheckboxColumn(help="Whether the decoding rule keeps this token."),
                    "Likeliest here": st.column_config.TextColumn(
                        width="large", help="The model's likeliest tokens at this place, with their probabilities."
                    ),
                },
            )
        with drawn:
            st.plotly_chart(chart.figure, key="chart_tokens", config=charts.CONFIG, alt=chart.alt)


def text_html(match: Mapping[str, Any]) -> str:
    """The text of a match with its edits marked; for an edited match, the unedited string below it."""
    edits = match.get("edits", ())
    given = len(match["prefix_text"]) if match["text"].startswith(match["prefix_text"]) else 0
    shown = f'<div class="relens-verdict"><code>{marked_html(match["text"], given, edits)}</code></div>'
    if not edits:
        return shown
    return (
        f'{shown}<div class="relens-verdict"><span class="label">{as_html(edits_text(edits))}, from</span>'
        f"<code>{as_html(visible(match['unedited'] or '', spaces=False))}</code></div>"
    )


def readings_table(readings: Sequence[Mapping[str, Any]], prefix_tokens: int) -> pd.DataFrame:
    """The readings as a table, one line a token."""
    return pd.DataFrame(
        {
            "Token": [visible(reading["text"]) for reading in readings],
            "Id": [reading["token_id"] for reading in readings],
            "Probability": [
                None if reading["log_prob"] is None else math.exp(reading["log_prob"]) for reading in readings
            ],
            "Rank": pd.array([reading["rank"] for reading in readings], dtype="Int64"),
            "Kept": [None if place < prefix_tokens else reading["allowed"] for place, reading in enumerate(readings)],
            "Likeliest here": [
                "   ".join(
                    f"‹{visible(other['text'])}› {narrative.log_probability_text(other['log_prob'])}"
                    for other in reading["top"]
                )
                for reading in readings
            ],
        }
    )


def tokens_html(readings: Sequence[Mapping[str, Any]], prefix_tokens: int) -> str:
    """The tokens side by side, darker where likelier, given ones grey, refused ones outlined; all text escaped."""
    chips = []
    for place, reading in enumerate(readings):
        probability = None if reading["log_prob"] is None else math.exp(reading["log_prob"])
        classes = ["token"]
        if place < prefix_tokens:
            classes.append("given")
        elif reading["allowed"] is False:
            classes.append("refused")
        label = "no context" if probability is None else narrative.probability_text(probability)
        chips.append(
            f'<span class="{" ".join(classes)}" style="--share:{probability or 0.0:.4f}">'
            f"{as_html(visible(reading['text']))}<small>{as_html(label)}</small></span>"
        )
    return f'<div class="relens-tokens">{"".join(chips)}</div>'


def _scores_html(match: Mapping[str, Any], *, sampled: bool) -> str:
    scores = (
        ("This decoder writes it", match["decoder_log_prob"]),
        ("The model by itself", match["log_prob"]),
        ("The prefix", match["prefix_log_prob"]),
    )
    pieces = [
        f'<span><span class="label">{label}</span>{as_html(narrative.log_probability_text(value))} '
        f'<span class="label">(log P {value:.4f})</span></span>'
        for label, value in scores
    ]
    canonical = "the tokenizer's own tokens" if match["is_canonical"] else "not the tokenizer's own tokens"
    pieces.append(f"<span>{canonical}</span>")
    if sampled:
        pieces.append(
            f'<span><span class="label">Drawn</span>{counted(match["count"], "time")} '
            f'<span class="label">with weight</span>{match["weight"]:.3g}</span>'
        )
    if match.get("ended"):
        pieces.append("<span>the text ends here</span>")
    for name, value in groups_of(match).items():
        pieces.append(f'<span><span class="label">{as_html(name)}</span>{as_html(shown_value(value))}</span>')
    return "".join(pieces)
