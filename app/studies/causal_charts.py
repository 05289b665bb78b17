"""The figures of triggers in prompts: how the searches went, and the closest target token by token."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from app.charts import FROM_ZERO, STYLES, Chart, Style, chart, line
from app.masks import shown
from app.studies.trigger_charts import target_bars, word_bars
from app.studies.view import Figure, Rows
from app.tables import shown_text
from app.text import shortened
from engine.counted import counted
from engine.studies.masking import Masker
from engine.studies.rows import rows_of
from engine.triggers.causal.causal_study import BETTER, SETTING, TRIGGER, CausalTriggerStudy
from engine.triggers.score_row import ScoreRow

#: Curves that a figure shows.
_MOST_CURVES = 24


def curves(rows: Rows, mask: Masker | None) -> Figure | None:
    """The objective of each search by evaluations; None before the first."""
    by_unit: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows_of(rows, BETTER):
        by_unit.setdefault(str(row["unit"]), []).append(row)
    if not by_unit:
        return None
    marks = []
    for place, better in enumerate(list(by_unit.values())[:_MOST_CURVES]):
        color, dash = STYLES[place % len(STYLES)].color, STYLES[place // len(STYLES)].dash
        marks.append(
            line(
                [row["evaluations"] for row in better],
                [row["objective"] for row in better],
                name=f"{shown_words(mask, better[0]['target'], 28)} · seed {better[0]['seed']}",
                style=Style(color, dash=dash),
                steps=True,
                hover="%{x:,} evaluations: %{y:.3f} nats",
            )
        )
    first = sum(better[0]["objective"] for better in by_unit.values()) / len(by_unit)
    last = sum(better[-1]["objective"] for better in by_unit.values()) / len(by_unit)
    cut = f" (the first {_MOST_CURVES} are drawn)" if len(by_unit) > _MOST_CURVES else ""
    sentence = (
        f"The objective fell from {first:.2f} to {last:.2f} nats, on average over "
        f"{counted(len(by_unit), 'search', 'searches')}{cut}."
    )
    drawn = chart(
        marks,
        f"Lines by evaluations. {sentence}",
        x=FROM_ZERO | {"title": "Evaluations"},
        y=FROM_ZERO | {"title": "Objective, nats"},
        showlegend=True,
    )
    return Figure("Objective by evaluations", sentence, drawn)


def closest(rows: Rows, study: CausalTriggerStudy, mask: Masker | None) -> Figure | None:
    """The target that came closest, token by token; None before there is one."""
    found = rows_of(rows, TRIGGER)
    if not found:
        return None
    best = max(found, key=lambda row: ScoreRow.of(row).margins.get(row["searched"], -math.inf))
    settings = [row for row in rows_of(rows, SETTING) if row["unit"] == best["unit"]]
    if not settings:
        return None
    drawn = word_bars([target_bars({**settings[0], "ends": study.ends, **best}, mask)])
    sentence = (
        f"The closest target, “{shown_words(mask, best['target'], 80)}”. A bar below the dashed line is a token "
        "likelier than the average token of a real reply."
    )
    return Figure("Token by token", sentence, Chart(drawn.figure, f"{sentence} {drawn.alt}"))


def shown_words(mask: Masker | None, text: str, length: int | None = None) -> str:
    """A text, masked where it has to be, cut to a length."""
    seen = shown_text(shown(mask, text))
    return seen if length is None else shortened(seen, length)
