"""What a model makes of an input and a target, drawn: who says what, by which hit types, word by word.

    Said to the model      thank you why but i love you        each word shaded by how odd it is in a sentence
    Wanted of it           you are a j···
    What it says itself    i love you too                      always taking the likeliest word
    Hits                   ✓ every word likely (k = 1) +0.31   ✗ says it (greedy) −2.40

    ▂ you ▂ are █ a ...    what each word of the target costs, beside T_out and T_out - log 2 (figure 5)
    ▓░░░░▒░                what each was weighed from, of a model with attention

A row is one of a search or of a check: both tell a score in the same fields (`engine.triggers.told_score`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from app.charts import Chart, saved_as
from app.narrative import probability_text
from app.studies.attention_chart import attention_chart
from app.studies.trigger_charts import word_bars
from app.studies.trigger_words import hit_label, list_label, masked, masked_words, sentence
from app.text import as_html, as_markdown
from engine.studies.masking import Masker

#: Nats at which a word's shade is darkest; a word that is drawn blindly from a large vocabulary costs about as much.
_DARKEST = 12.0
#: How strong the darkest shade is: on it, words can be read in both themes.
_STRONGEST = 0.35

_SEEN = {
    "reply": "The target was a reply in the training text.",
    "part": "The target stood within a reply of the training text.",
    "": "The target stands nowhere in the replies of the training text.",
}

Row = Mapping[str, Any]


def show_score(row: Row, hit_type: str, mask: Masker | None, key: str) -> None:
    """All of it, one below the other. key: of the widgets, with something appended."""
    st.html(score_html(row, hit_type, mask))
    st.caption(as_markdown(remarks(row)))
    show_chart(word_bars([row], mask), f"{key}_bars")
    if row.get("attention"):
        st.html("<p><b>What each word of the target looked at</b></p>")
        chart = attention_chart(row, mask)
        st.caption(as_markdown(chart.alt))
        show_chart(chart, f"{key}_attention")
    else:
        st.caption(as_markdown(without_attention(row)))


def texts_of(row: Row) -> list[str]:
    """What of this row may have to be masked."""
    return [sentence(row[name]) for name in ("input", "target", "reply")]


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


def remarks(row: Row) -> str:
    """Whether the target was seen in training, its list, and how odd the input is, in a few sentences."""
    told = [_SEEN[row["seen"]]] if row.get("seen") in _SEEN else []
    if "list" in row:
        told.append(f"List: {list_label(row['list'])}.")
    odd = row["input_average"] - row["threshold_in"]
    told.append(
        f"What is said to the model is {'likelier' if odd > 0 else 'odder'} than real sentences by {abs(odd):.2f} nats "
        "a word."
    )
    return " ".join(told)


def without_attention(row: Row) -> str:
    """Why there is no map of what was looked at."""
    if "attention" in row:
        return (
            "This model has no attention: its reply sees only one summary of the whole input, so there is no map of "
            "what each word looked at."
        )
    return "This was found before attention was kept; Verify asks the model anew, and shows it where there is any."


def score_html(row: Row, hit_type: str, mask: Masker | None) -> str:
    """The score as HTML, everything in it escaped."""
    said = masked(mask, row["reply"]) or "nothing"
    end = "" if row["reply_ends"] else " …"
    is_target = list(row["reply"]) == list(row["target"]) and row["reply_ends"]
    agrees = "which is the target" if is_target else "which is not the target"
    shaded = shaded_words(masked_words(mask, row["input"]), row["input_log_probs"])
    return (
        '<div data-trigger-card="1">'
        f'<p style="margin:0 0 .2rem"><b>Said to the model</b>, shaded by how odd each word is in a sentence</p>'
        f'<p style="line-height:2.1;margin:0 0 .6rem">{shaded}</p>'
        f'<p style="margin:0 0 .6rem"><b>Wanted of it</b> &nbsp;“{as_html(masked(mask, row["target"]))}”</p>'
        f'<p style="margin:0 0 .6rem"><b>What it says itself</b>, always taking the likeliest word: '
        f"“{as_html(said)}{end}”, {agrees}.</p>"
        f'<p style="margin:0 0 .2rem"><b>Hits</b>, with nats to spare or missing</p>'
        f'<p style="line-height:2.1;margin:0">{hits_html(row["margins"], hit_type)}</p></div>'
    )


def shaded_words(words: Sequence[str], log_probs: Sequence[float]) -> str:
    """Words as HTML, each shaded by its log-probability, with its cost in nats behind it; padding is left out."""
    shown = []
    for word, log_prob in zip(words, log_probs, strict=True):
        if word == "<pad>":
            continue
        label = "end" if word == "<eou>" else word
        strength = min(-log_prob / _DARKEST, 1.0)
        told = f"{-log_prob:.2f} nats, {probability_text(math.exp(log_prob))}"
        style = (
            f"background:rgba(230,159,0,{0.05 + _STRONGEST * strength:.2f});border-radius:.3rem;padding:.12rem .35rem"
        )
        quiet = ";font-style:italic" if word == "<eou>" else ""
        shown.append(
            f'<span title="{as_html(told)}" style="{style}{quiet}">{as_html(label)}'
            f'<sub style="margin-left:.2rem">{-log_prob:.1f}</sub></span>'
        )
    return " ".join(shown)


def hits_html(margins: Mapping[str, float], wanted: str) -> str:
    """Hit types as HTML, with nats to spare or missing; `wanted` stands out."""
    return "".join(_hit_html(name, margin, name == wanted) for name, margin in margins.items())


def _hit_html(name: str, margin: float, is_wanted: bool) -> str:
    is_hit = margin > 0.0
    color, sign = ("0,158,115", "✓") if is_hit else ("128,128,128", "✗")
    weight = "font-weight:600;" if is_wanted else ""
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
