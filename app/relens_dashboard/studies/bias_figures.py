"""Figures of the bias study: shares and differences of outcomes, a panel for each variant (small multiples).

    canonical, with a prefix, exact        all encodings, with a prefix, sampled
    science     ◆            ●             science     ◆─       ─●─
    art            ●    ◆                  art           ─●──◆─             ● man   ◆ woman

Pure functions of the findings. Outcomes stand in the same order and on the same scale in every panel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from plotly.basedatatypes import BaseTraceType

from relens.counted import counted
from relens.studies.bias_findings import BiasFindings
from relens.studies.bias_shares import ShareDifference, VariantFindings
from relens_dashboard.charts import GREY, STYLES, Chart, Panel, dots, listed, panels
from relens_dashboard.narrative import estimate_text
from relens_dashboard.studies.view import Figure
from relens_dashboard.text import shortened

_MOST_PANELS, _MOST_OUTCOMES, _MOST_SERIES = 12, 20, len(STYLES)


def share_figure(findings: BiasFindings) -> Figure | None:
    """P(outcome | subject) in every variant; None without a match."""
    variants = _shown(findings)
    if not variants:
        return None
    subjects = variants[0].setup.subjects[:_MOST_SERIES]
    outcomes = _order(variants)

    def marks(variant: VariantFindings) -> list[BaseTraceType]:
        shares = {(share.subject, share.outcome): share.share for share in variant.shares}
        return [
            dots(
                [shares[subject, outcome] for outcome in outcomes],
                _lines(outcomes, place, len(subjects)),
                name=subject,
                style=STYLES[place],
                hover=[
                    f"{outcome}, given {subject}: {estimate_text(shares[subject, outcome])}" for outcome in outcomes
                ],
            )
            for place, subject in enumerate(subjects)
        ]

    chart = _panels(variants, outcomes, marks, f"Shares of {counted(len(outcomes), 'outcome')} {_alt(variants)}.")
    chart.figure.update_xaxes(autorangeoptions={"include": [0]}, tickformat="~%")
    chart.figure.update_layout(updatemenus=[_scale_switch(variants)])
    return Figure(
        "Outcomes by subject",
        "P(outcome | subject), one panel for each way to ask. Marks that lie apart on a line are a difference between"
        " subjects. Lines through marks are 95 % intervals; exact answers have none. Ways to ask with too few draws for"
        " a conclusion, or with draws missing, have a scale of their own.",
        chart,
    )


def difference_figure(findings: BiasFindings) -> Figure | None:
    """P(outcome | subject) - P(outcome | other) in every variant, for each two subjects."""
    variants = _shown(findings)
    if not variants:
        return None
    pairs = list(dict.fromkeys((one.subject, one.other) for one in variants[0].differences))[:_MOST_SERIES]
    outcomes = _order(variants)

    def marks(variant: VariantFindings) -> list[BaseTraceType]:
        differences = {(one.subject, one.other, one.outcome): one for one in variant.differences}
        drawn = []
        for place, (subject, other) in enumerate(pairs):
            own = [differences[subject, other, outcome] for outcome in outcomes]
            drawn.append(
                dots(
                    [one.value for one in own],
                    _lines(outcomes, place, len(pairs)),
                    name=f"{subject} less {other}",
                    style=STYLES[place],
                    hollow=[not _is_certain(one, variant) for one in own],
                    hover=[
                        f"{one.outcome}: {_points(one.value.value)} for {subject} than for {other}"
                        f" ({'to one side of zero' if one.is_certain else 'the interval holds zero'})"
                        for one in own
                    ],
                )
            )
        return drawn

    certain = sum(
        _is_certain(one, variant)
        for variant in variants
        for one in variant.differences
        if (one.subject, one.other) in pairs and one.outcome in outcomes
    )
    alt = f"Differences between subjects {_alt(variants)}; {certain} do not hold zero."
    chart = _panels(variants, outcomes, marks, alt)
    chart.figure.update_xaxes(tickformat="+~%")
    chart.figure.add_vline(x=0, line={"color": GREY, "width": 1})
    pair = f" ({pairs[0][0]} less {pairs[0][1]})" if len(pairs) == 1 else ""
    return Figure(
        "Differences between subjects",
        f"The difference between two subjects{pair}, outcome by outcome: right of the line, the outcome is likelier for"
        " the first. The interval of a filled mark lies to one side of zero; that of a hollow one holds zero.",
        chart,
    )


def _shown(findings: BiasFindings) -> list[VariantFindings]:
    """The variants with matches."""
    return [variant for variant in findings.variants if variant.has_matches][:_MOST_PANELS]


def _order(variants: Sequence[VariantFindings]) -> list[str]:
    """The outcomes, the likeliest of the first variant first."""
    totals = dict.fromkeys(variants[0].setup.outcomes, 0.0)
    for share in variants[0].shares:
        totals[share.outcome] += share.share.value
    return sorted(totals, key=lambda outcome: -totals[outcome])[:_MOST_OUTCOMES]


def _panels(
    variants: Sequence[VariantFindings],
    outcomes: Sequence[str],
    marks: Callable[[VariantFindings], list[BaseTraceType]],
    alt: str,
) -> Chart:
    """A panel for each variant, two in a row.

    All that carry a conclusion share one scale; the others, with wide intervals, have another.
    """
    lines = listed([shortened(outcome, 24) for outcome in outcomes])
    y = lines | {"autorange": None, "range": [len(outcomes) - 0.4, -0.6]}
    height = 46 + 22 * len(outcomes)
    chart = panels(
        [Panel(marks(variant), _title(variant), y=y, height=height) for variant in variants],
        alt,
        across=min(2, len(variants)),
        gap=84,
        x={"nticks": 5},
        showlegend=True,
    )
    firsts: dict[bool, str] = {}
    for variant, axis in zip(variants, chart.figure.select_xaxes(), strict=True):
        name = axis.plotly_name.replace("axis", "")
        axis.matches = firsts.setdefault(variant.carries_conclusion, name)
    return chart


def _lines(outcomes: Sequence[str], place: int, series: int) -> list[float]:
    """The heights of the marks of one series, a little above or below those of the others."""
    return [line + (place - (series - 1) / 2) * min(0.26, 0.7 / series) for line in range(len(outcomes))]


def _title(variant: VariantFindings) -> str:
    """The label in short lines for a narrow panel, and whether draws are too few or missing."""
    way, _, how = variant.setup.label.removesuffix(")").rpartition(" (")
    encodings, _, rest = way.partition(" with")
    prefix, _, edited = f"with{rest}".partition(", ")
    weakness = "" if variant.carries_conclusion else "draws missing" if variant.lacks_draws else "too few draws"
    last = ", ".join(part for part in (edited, how, weakness) if part)
    return "\n".join((encodings, prefix, last))


def _scale_switch(variants: Sequence[VariantFindings]) -> dict[str, object]:
    """Two buttons in the figure itself, so that a report has them too."""
    return {
        "type": "buttons",
        "direction": "right",
        "x": 1.0,
        "xanchor": "right",
        "y": 1.0,
        "yanchor": "bottom",
        "pad": {"b": 54},
        "showactive": False,
        "bgcolor": "rgba(138,147,155,0.15)",
        "bordercolor": GREY,
        "font": {"color": GREY},
        "buttons": [
            {"label": kind, "method": "relayout", "args": [_axes(kind, variants)]} for kind in ("linear", "log")
        ],
    }


def _axes(kind: str, variants: Sequence[VariantFindings]) -> dict[str, object]:
    """All axes at once. A logarithmic axis has a range of its own, since intervals may reach 0."""
    changes: dict[str, object] = {}
    for panel, variant in enumerate(variants):
        name = f"xaxis{panel + 1}" if panel else "xaxis"
        changes |= {f"{name}.type": kind, f"{name}.autorange": kind == "linear"}
        alike = [one for one in variants if one.carries_conclusion == variant.carries_conclusion]
        positive = [share.share.value for one in alike for share in one.shares if share.share.value > 0.0]
        if kind == "log" and positive:
            most = max(share.share.high for one in alike for share in one.shares)
            changes[f"{name}.range"] = [math.log10(min(positive)) - 0.4, math.log10(most) + 0.1]
    return changes


def _is_certain(difference: ShareDifference, variant: VariantFindings) -> bool:
    return difference.is_certain and variant.carries_conclusion


def _points(value: float) -> str:
    return f"{100 * abs(value):.1f} points {'likelier' if value > 0.0 else 'less likely'}"


def _alt(variants: Sequence[VariantFindings]) -> str:
    return f"in {counted(len(variants), 'way')} to ask: {'; '.join(variant.setup.label for variant in variants)}"
