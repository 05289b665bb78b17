"""What each part of a regular expression means, in plain words, nested as the expression is."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app.charts import BLUE, GREEN, ORANGE, PINK, RED, SKY
from app.text import as_html, shortened, visible
from engine.runs.preview import Explanation

_HUES = (BLUE, ORANGE, GREEN, PINK, SKY, RED)
_MOST_PARTS = 150


def explanation_html(prefix_parts: Sequence[Explanation], pattern_parts: Sequence[Explanation]) -> str:
    """The explanation as HTML, every text of it escaped; long expressions are cut and say so."""
    pieces = []
    for title, parts in (
        ("Prefix, given to the model", prefix_parts),
        ("Pattern, for the model to fill", pattern_parts),
    ):
        if not parts:
            continue
        pieces.append(f"<h5>{title}</h5>")
        pieces += [_part_html(part) for part in parts[:_MOST_PARTS]]
        if len(parts) > _MOST_PARTS:
            pieces.append(f"<p>… and {len(parts) - _MOST_PARTS:,} parts more</p>")
    return f'<div class="relens-parts">{"".join(pieces)}</div>'


def explanation(prefix_parts: Sequence[Explanation], pattern_parts: Sequence[Explanation]) -> None:
    """Show the explanation."""
    st.html(explanation_html(prefix_parts, pattern_parts))


def _part_html(part: Explanation) -> str:
    text = (
        visible(shortened(part.text, 80))
        if part.text.strip(" ") != part.text
        else visible(shortened(part.text, 80), spaces=False)
    )
    return (
        f'<div class="relens-part" style="--depth:{part.depth};--hue:{_HUES[part.depth % len(_HUES)]}">'
        f"<code>{as_html(text)}</code><span>{as_html(part.meaning)}</span></div>"
    )
