"""A score drawn: the input and the target, the greedy reply, the hit types, and the target token by token.

    Input           thank you why but i love you        each word shaded by how odd it is in a sentence
    Target          you are a j···
    Greedy reply    i love you too
    Hits            ✓ every word likely (k = 1) +0.31   ✗ says it (greedy) −2.40

    ▂ you ▂ are █ a ...    the cost of each word of the target, with T_out and T_out - log 2 (figure 5)
    ▓░░░░▒░                the attention of each word, of a model that has it

The row is one of a search or of a check, of a dialogue model, whose tokens are words, or of a prompt
(`relens.triggers.score_row`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import streamlit as st

from relens.studies.masking import Masker
from relens.triggers.score_row import ScoreRow, StoredScore, WordScoreRow
from relens.triggers.search.rows import TriggerRow
from relens_dashboard.charts import Chart, saved_as
from relens_dashboard.masks import shown
from relens_dashboard.narrative import probability_text
from relens_dashboard.studies.attention_chart import attention_chart
from relens_dashboard.studies.trigger_charts import target_bars, word_bars
from relens_dashboard.studies.trigger_words import hit_label, list_label, token_labels
from relens_dashboard.text import as_html, as_markdown

#: Nats at which a word's shade is darkest: about the cost of a random word of a large vocabulary.
_DARKEST = 12.0
#: How strong the darkest shade is: on it, words can be read in both themes.
_STRONGEST = 0.35

_SEEN = {
    "reply": "The target was a reply in the training text.",
    "part": "The target stood within a reply of the training text.",
    "": "The target stands nowhere in the replies of the training text.",
}

#: By the name of a token: the heading of the text, and the context of its judge.
_INPUTS = {"word": ("Input", "in a sentence"), "token": ("Text in the prompt", "in a text by itself")}


def show_score(row: ScoreRow, searched: str, mask: Masker | None, key: str) -> None:
    """All parts, one below the other. searched: the hit type that stands out; key: of the widgets."""
    score = row.score
    st.html(score_html(row, searched, mask))
    if score.token_name == "word":
        st.caption(as_markdown(remarks(row)))
    if score.target_tokens:  # old rows have none
        show_chart(word_bars([target_bars(row, mask)]), f"{key}_bars")
    if score.attention:
        st.html("<p><b>Attention of each word of the target</b></p>")
        chart = attention_chart(score, mask)
        st.caption(as_markdown(chart.alt))
        show_chart(chart, f"{key}_attention")
    elif score.token_name == "word":
        st.caption(as_markdown(without_attention(score)))


def revealed(row: ScoreRow, mask: Masker | None, key: str) -> Masker | None:
    """The mask of this card: None once a reader reveals this one alone."""
    if mask is None or all(mask(text) == text for text in (row.score.text, row.target_text, row.score.reply)):
        return mask
    is_shown = st.toggle(
        "Show the words of this one",
        key=key,
        help="The words of this input, its target and its reply alone; all others stay masked.",
    )
    return None if is_shown else mask


def remarks(row: ScoreRow) -> str:
    """The target in training, its list, and the oddness of the input, in a few sentences."""
    score, sentences = row.score, []
    if isinstance(row, WordScoreRow) and row.seen is not None:
        sentences.append(_SEEN[row.seen])
    if isinstance(row, TriggerRow):
        sentences.append(f"List: {list_label(row.list)}.")
    if score.input_average is not None:
        odd = score.input_average - score.thresholds.into
        sentences.append(
            f"The input is {abs(odd):.2f} nats a word {'likelier' if odd > 0 else 'odder'} than real sentences."
        )
    return " ".join(sentences)


def without_attention(score: StoredScore) -> str:
    """The reason for no map of attention."""
    if score.attention is None:
        return "This model has no attention: its decoder reads one summary of the whole input."
    return "This row is older than the map of attention; Verify scores it anew, with the map if there is one."


def score_html(row: ScoreRow, searched: str, mask: Masker | None) -> str:
    """The score as HTML, everything in it escaped."""
    score = row.score
    heading, judged_in = _INPUTS[score.token_name]
    agrees = "which is the target" if score.is_said else "which is not the target"
    end = "" if score.reply_ends or score.token_name == "token" else " …"
    return (
        '<div data-trigger-card="1">'
        f'<p style="margin:0 0 .2rem"><b>{heading}</b>, shaded by how odd each {score.token_name} is {judged_in}</p>'
        f'<p style="line-height:2.1;margin:0 0 .6rem">{_shaded(score, mask)}</p>'
        f'<p style="margin:0 0 .6rem"><b>Target</b> &nbsp;“{as_html(shown(mask, row.target_text))}”</p>'
        f'<p style="margin:0 0 .6rem"><b>Greedy reply</b>, always the likeliest {score.token_name}: '
        f"“{as_html(shown(mask, score.reply)) or 'nothing'}{end}”, {agrees}.</p>"
        f'<p style="margin:0 0 .2rem"><b>Hits</b>, with their margins in nats</p>'
        f'<p style="line-height:2.1;margin:0">{_hits_html(score.margins, searched)}</p></div>'
    )


def _shaded(score: StoredScore, mask: Masker | None) -> str:
    """The input as its judge reads it, each judged token with its cost."""
    tokens, log_probs = score.input_tokens, score.input_log_probs
    if not 0 < len(log_probs) <= len(tokens):
        return as_html(shown(mask, score.text))
    labels, first = token_labels(tokens, mask, score.token_name), len(tokens) - len(log_probs)
    return " ".join([as_html("".join(labels[:first])), _shaded_tokens(labels[first:], log_probs)]).strip()


def _shaded_tokens(labels: Sequence[str], log_probs: Sequence[float]) -> str:
    """Tokens as HTML, each shaded by its log-probability and followed by its cost in nats; without padding."""
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
    """Hit types as HTML, with their margins; `searched` stands out."""
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
    """A figure, with the picture format of the figures above."""
    pictures = str(st.session_state.get("study_pictures", "SVG")).lower()
    st.plotly_chart(chart.figure, key=key, config=saved_as(pictures, "relens"), alt=chart.alt)
