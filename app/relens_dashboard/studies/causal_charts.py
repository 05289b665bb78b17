"""The figures of triggers in prompts: the course of the searches, and the closest target token by token."""

from __future__ import annotations

from relens.counted import counted
from relens.studies.masking import Masker
from relens.triggers.causal.causal_findings import CausalFindings
from relens_dashboard.charts import FROM_ZERO, STYLES, Chart, Style, chart, line
from relens_dashboard.masks import shown
from relens_dashboard.studies.trigger_charts import target_bars, word_bars
from relens_dashboard.studies.view import Figure
from relens_dashboard.tables import shown_text
from relens_dashboard.text import shortened

#: Curves in a figure.
_MOST_CURVES = 24


def curves(findings: CausalFindings, mask: Masker | None) -> Figure | None:
    """The objective of each search by evaluations; None before the first."""
    searches = findings.improvements
    if not searches:
        return None
    marks = []
    for place, improvements in enumerate(searches[:_MOST_CURVES]):
        color, dash = STYLES[place % len(STYLES)].color, STYLES[place // len(STYLES)].dash
        marks.append(
            line(
                [row.evaluations for row in improvements],
                [row.objective for row in improvements],
                name=f"{shown_words(mask, improvements[0].target, 28)} · seed {improvements[0].seed}",
                style=Style(color, dash=dash),
                steps=True,
                hover="%{x:,} evaluations: %{y:.3f} nats",
            )
        )
    first, last = (sum(rows[place].objective for rows in searches) / len(searches) for place in (0, -1))
    cut = f" (the first {_MOST_CURVES} are drawn)" if len(searches) > _MOST_CURVES else ""
    sentence = (
        f"The objective fell from {first:.2f} to {last:.2f} nats, on average over "
        f"{counted(len(searches), 'search', 'searches')}{cut}."
    )
    drawn = chart(
        marks,
        f"Lines by evaluations. {sentence}",
        x=FROM_ZERO | {"title": "Evaluations"},
        y=FROM_ZERO | {"title": "Objective, nats"},
        showlegend=True,
    )
    return Figure("Objective by evaluations", sentence, drawn)


def closest(findings: CausalFindings, mask: Masker | None) -> Figure | None:
    """The closest target token by token; None before there is one."""
    best = findings.closest
    if best is None or not best.score.target_tokens:
        return None
    drawn = word_bars([target_bars(best, mask)])
    sentence = (
        f"The closest target, “{shown_words(mask, best.target, 80)}”. A bar below the dashed line is a token likelier "
        "than the average token of a real reply."
    )
    return Figure("Token by token", sentence, Chart(drawn.figure, f"{sentence} {drawn.alt}"))


def shown_words(mask: Masker | None, text: str, length: int | None = None) -> str:
    """A text, masked where it has to be, cut to a length."""
    seen = shown_text(shown(mask, text))
    return seen if length is None else shortened(seen, length)
