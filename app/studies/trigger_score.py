"""A score drawn: what was put to a model and what it should say, what it says itself, hit types, token by token.

    Said to the model      thank you why but i love you        each word shaded by how odd it is in a sentence
    Wanted of it           you are a j···
    What it says itself    i love you too                      always taking the likeliest word
    Hits                   ✓ every word likely (k = 1) +0.31   ✗ says it (greedy) −2.40

    ▂ you ▂ are █ a ...    what each word of the target costs, beside T_out and T_out - log 2 (figure 5)
    ▓░░░░▒░                what each was weighed from, of a model with attention

A row is one of a search or of a check, of a dialogue model, whose tokens are words, or of a prompt
(`engine.triggers.score_row`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from app.charts import Chart, saved_as
from app.masks import shown
from app.narrative import probability_text
from app.studies.attention_chart import attention_chart
from app.studies.trigger_charts import target_bars, word_bars
from app.studies.trigger_words import hit_label, list_label, target_text, token_labels
from app.text import as_html, as_markdown
from engine.studies.masking import Masker
from engine.triggers.score_row import ScoreRow

#: Nats at which a word's shade is darkest; a word that is drawn blindly from a large vocabulary costs about as much.
_DARKEST = 12.0
#: How strong the darkest shade is: on it, words can be read in both themes.
_STRONGEST = 0.35

_SEEN = {
    "reply": "The target was a reply in the training text.",
    "part": "The target stood within a reply of the training text.",
    "": "The target stands nowhere in the replies of the training text.",
}

#: By what a token is called: where the text stands, and by itself in what it is judged.
_PLACES = {"word": ("Said to the model", "in a sentence"), "token": ("In the prompt", "in a text by itself")}

Row = Mapping[str, Any]


def show_score(row: Row, searched: str, mask: Masker | None, key: str) -> None:
    """All of it, one below the other. searched: the hit type that stands out; key: of the widgets."""
    score = ScoreRow.of(row, searched)
    st.html(score_html(row, searched, mask))
    if score.token_name == "word":
        st.caption(as_markdown(remarks(row, score)))
    if score.target_tokens:  # rows of an earlier version have none
        show_chart(word_bars([target_bars(row, mask)]), f"{key}_bars")
    if score.attention:
        st.html("<p><b>What each word of the target looked at</b></p>")
        chart = attention_chart(score, mask)
        st.caption(as_markdown(chart.alt))
        show_chart(chart, f"{key}_attention")
    elif score.token_name == "word":
        st.caption(as_markdown(without_attention(score)))


def texts_of(row: Row) -> list[str]:
    """What of this row may have to be masked."""
    score = ScoreRow.of(row)
    return [score.text, target_text(row), score.reply]


def revealed(texts: Sequence[str], mask: Masker | None, key: str) -> Masker | None:
    """What hides the words of a card with these texts: nothing, once a reader asked to see this one alone."""
    if mask is None or all(mask(text) == text for text in texts):
        return mask
    is_shown = st.toggle(
        "Show the words of this one",
        key=key,
        help="The words of this input, its target and its reply alone; all others stay masked.",
    )
    return None if is_shown else mask


def remarks(row: Row, score: ScoreRow) -> str:
    """Whether the target was seen in training, its list, and how odd the input is, in a few sentences."""
    sentences = [_SEEN[row["seen"]]] if row.get("seen") in _SEEN else []
    if "list" in row:
        sentences.append(f"List: {list_label(row['list'])}.")
    if score.input_average is not None:
        odd = score.input_average - score.thresholds.into
        sentences.append(
            f"What is said to the model is {'likelier' if odd > 0 else 'odder'} than real sentences by {abs(odd):.2f} "
            "nats a word."
        )
    return " ".join(sentences)


def without_attention(score: ScoreRow) -> str:
    """Why there is no map of attention."""
    if score.attention is None:
        return (
            "This model has no attention: its reply sees only one summary of the whole input, so there is no map of "
            "what each word looked at."
        )
    return "This was found before attention was kept; Verify asks the model anew, and shows it where there is any."


def score_html(row: Row, searched: str, mask: Masker | None) -> str:
    """The score as HTML, everything in it escaped."""
    score = ScoreRow.of(row, searched)
    where, judged_in = _PLACES[score.token_name]
    agrees = "which is the target" if score.is_said else "which is not the target"
    end = "" if score.reply_ends or score.token_name == "token" else " …"
    return (
        '<div data-trigger-card="1">'
        f'<p style="margin:0 0 .2rem"><b>{where}</b>, shaded by how odd each {score.token_name} is {judged_in}</p>'
        f'<p style="line-height:2.1;margin:0 0 .6rem">{_shaded(score, mask)}</p>'
        f'<p style="margin:0 0 .6rem"><b>Wanted of it</b> &nbsp;“{as_html(shown(mask, target_text(row)))}”</p>'
        f'<p style="margin:0 0 .6rem"><b>What it says itself</b>, always taking the likeliest {score.token_name}: '
        f"“{as_html(shown(mask, score.reply)) or 'nothing'}{end}”, {agrees}.</p>"
        f'<p style="margin:0 0 .2rem"><b>Hits</b>, with nats to spare or missing</p>'
        f'<p style="line-height:2.1;margin:0">{_hits_html(score.margins, searched)}</p></div>'
    )


def _shaded(score: ScoreRow, mask: Masker | None) -> str:
    """The input as its judge reads it, each token with its cost; those before the first that is judged, as they are."""
    tokens, log_probs = score.input_tokens, score.input_log_probs
    if not 0 < len(log_probs) <= len(tokens):
        return as_html(shown(mask, score.text))
    labels, first = token_labels(tokens, mask, score.token_name), len(tokens) - len(log_probs)
    return " ".join([as_html("".join(labels[:first])), _shaded_tokens(labels[first:], log_probs)]).strip()


def _shaded_tokens(labels: Sequence[str], log_probs: Sequence[float]) -> str:
    """Tokens as HTML, each shaded by its log-probability, with its cost in nats behind it; padding is left out."""
    spans = []
    for token, log_prob in zip(labels, log_probs, strict=True):
        if token == "<pad>":
            continue
        label = "end" if token == "<eou>" else token
        strength = min(-log_prob / _DARKEST, 1.0)
        cost = f"{-log_prob:.2f} nats, {probability_text(math.exp(log_prob))}"
        style = (
            f"background:rgba(230,159,0,{0.05 + _STRONGEST * strength:.2f});border-radius:.3rem;padding:.12rem .35rem"
        )
        italic = ";font-style:italic" if token == "<eou>" else ""
        spans.append(
            f'<span title="{as_html(cost)}" style="{style}{italic}">{as_html(label)}'
            f'<sub style="margin-left:.2rem">{-log_prob:.1f}</sub></span>'
        )
    return " ".join(spans)


def _hits_html(margins: Mapping[str, float], searched: str) -> str:
    """Hit types as HTML, with nats to spare or missing; `searched` stands out."""
    return "".join(_hit_html(name, margin, name == searched) for name, margin in margins.items())


def _hit_html(name: str, margin: float, is_searched: bool) -> str:
    is_hit = margin > 0.0
    color, sign = ("0,158,115", "✓") if is_hit else ("128,128,128", "✗")
    weight = "font-weight:600;" if is_searched else ""
    style = f"{weight}border:1px solid rgba({color},.7);background:rgba({color},{0.16 if is_hit else 0.04});"
    return (
        f'<span title="{as_html(name)}" data-hit="{as_html(name)}" data-is-hit="{str(is_hit).lower()}" '
        f'style="{style}border-radius:.3rem;padding:.12rem .4rem;white-space:nowrap">{sign} {as_html(hit_label(name))} '
        f"{f'{margin:+.2f}'.replace('-', '−')}</span> "
    )


def show_chart(chart: Chart, key: str) -> None:
    """A figure that is saved as those above it are."""
    pictures = str(st.session_state.get("study_pictures", "SVG")).lower()
    st.plotly_chart(chart.figure, key=key, config=saved_as(pictures, "relens"), alt=chart.alt)
