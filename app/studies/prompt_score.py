"""What a model makes of a text in a prompt, drawn: the text token by token, the target, its own reply, the hits.

    In the prompt          Joke␣| words| mean         each token shaded by how odd it is for the judge
    Wanted of it           I h··· you.
    What it says itself    I am sorry, but           always taking the likeliest token
    Hits                   ✓ every word likely (k = 1) +0.31   ✗ says it (greedy) −2.40

    ▂ I ▂ h··· █ you ...   what each token of the target costs, beside T_out and T_out - log 2

A row is one of a search or of a check: both tell a score in the same fields (`engine.triggers.causal.verification`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from app.masks import shown
from app.studies.trigger_charts import word_bars
from app.studies.trigger_score import hits_html, shaded_words, show_chart
from app.text import as_html, visible
from engine.studies.masking import Masker

Row = Mapping[str, Any]

#: What a row tells of a text; rows of an earlier version, which have less, are shown without their bars.
_TOLD = ("target_tokens", "ends")


def show_prompt_score(row: Row, mask: Masker | None, key: str) -> None:
    """All of it, one below the other. key: of the widgets, with something appended."""
    st.html(prompt_score_html(row, mask))
    if all(name in row for name in _TOLD):
        show_chart(word_bars([target_bars(row, mask)], mask), f"{key}_bars")


def prompt_texts_of(row: Row) -> list[str]:
    """What of this row may have to be masked."""
    return [str(row[name]) for name in ("text", "target", "reply")]


def target_bars(row: Row, mask: Masker | None) -> dict[str, Any]:
    """The row as bars want it: a label for each token of the target."""
    labels = _pieces(row["target_tokens"], mask)
    if row["ends"]:
        labels = [*labels[:-1], "end"]
    return {
        "target": [row["target"]],
        "labels": labels,
        "token_log_probs": row["token_log_probs"],
        "threshold_out": row["thresholds"]["out"],
    }


def prompt_score_html(row: Row, mask: Masker | None) -> str:
    """The score as HTML, everything in it escaped."""

    def written(text: str) -> str:
        return as_html(shown(mask, text))

    margins = {name: float(hit["margin"]) for name, hit in row["hits"].items()}
    is_said = bool(row["hits"]["o-greedy"]["is_hit"])
    agrees = "which is the target" if is_said else "which is not the target"
    return (
        '<div data-trigger-card="1">'
        '<p style="margin:0 0 .2rem"><b>In the prompt</b>, shaded by how odd each token is in a text by itself</p>'
        f'<p style="line-height:2.1;margin:0 0 .6rem">{_shaded(row, mask)}</p>'
        f'<p style="margin:0 0 .6rem"><b>Wanted of it</b> &nbsp;“{written(str(row["target"]))}”</p>'
        f'<p style="margin:0 0 .6rem"><b>What it says itself</b>, always taking the likeliest token: '
        f"“{written(str(row['reply'])) or 'nothing'}”, {agrees}.</p>"
        '<p style="margin:0 0 .2rem"><b>Hits</b>, with nats to spare or missing</p>'
        f'<p style="line-height:2.1;margin:0">{hits_html(margins, str(row["searched"]))}</p></div>'
    )


def _pieces(tokens: Sequence[str], mask: Masker | None) -> list[str]:
    """Tokens as they are read one by one: a blank in one is a part of it, and is shown."""
    texts = [str(token) for token in tokens]
    return [visible(text) for text in (texts if mask is None else mask.pieces(texts))]


def _shaded(row: Row, mask: Masker | None) -> str:
    """The judge's tokens with what they cost; what comes before the first that is scored, as it is."""
    log_probs = [float(value) for value in row["input_log_probs"]]
    if "input_tokens" not in row or not 0 < len(log_probs) <= len(row["input_tokens"]):
        return as_html(shown(mask, str(row["text"])))
    labels = _pieces(row["input_tokens"], mask)
    first = len(labels) - len(log_probs)
    return " ".join([as_html("".join(labels[:first])), shaded_words(labels[first:], log_probs)]).strip()
