"""The parts of a regular expression in plain words, nested like the expression."""

from __future__ import annotations

import streamlit as st

from relens.runs.preview import ExplainedPart, Preview
from relens_dashboard.charts import BLUE, GREEN, ORANGE, PINK, RED, SKY
from relens_dashboard.text import as_html, shortened, visible

_HUES = (BLUE, ORANGE, GREEN, PINK, SKY, RED)
_PARTS_IN_SIGHT = 4

_BEGINNING = (
    '<div class="relens-parts"><h2>In one minute</h2>'
    "<p>The <b>prefix</b> is the text before the answer, the <b>pattern</b> the form of the answer. "
    "Relens finds every answer of that form that the model can write, the likeliest first.</p>"
    "<p><code>(cat|dog)</code> one of two words · <code>\\d{4}</code> four digits · <code>[a-z]+</code> a word "
    "in small letters · <code>.</code> any character · <code>\\.</code> a full stop</p></div>"
)


def explanation_html(preview: Preview) -> str:
    """The explanation as HTML, every text escaped, with the number of parts left out of long expressions."""
    pieces = []
    for title, parts in (
        ("Prefix, given to the model", preview.prefix_parts),
        ("Pattern, for the model to fill", preview.pattern_parts),
    ):
        if not parts:
            continue
        pieces.append(f"<h2>{title}</h2>")
        pieces += [_part_html(part) for part in parts]
    if preview.left_out:
        pieces.append(f"<p>… and {preview.left_out:,} parts more</p>")
    return f'<div class="relens-parts">{"".join(pieces)}</div>'


def explanation(preview: Preview | None) -> None:
    """Show the explanation or, without an expression, how to begin."""
    if preview is None:
        st.html(_BEGINNING)
        return
    parts = len(preview.prefix_parts) + len(preview.pattern_parts)
    with st.container(height=210 if parts > _PARTS_IN_SIGHT else "content", border=False):
        st.html(explanation_html(preview))


def _part_html(part: ExplainedPart) -> str:
    text = (
        visible(shortened(part.text, 80))
        if part.text.strip(" ") != part.text
        else visible(shortened(part.text, 80), spaces=False)
    )
    return (
        f'<div class="relens-part" style="--depth:{part.depth};--hue:{_HUES[part.depth % len(_HUES)]}">'
        f"<code>{as_html(text)}</code><span>{as_html(part.meaning)}</span></div>"
    )
