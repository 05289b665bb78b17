"""The figures of the continuous relaxation: hits, the descent, and the distance of relaxed inputs from words.

    any embeddings, normal      ▇▇▇▇▇▇▇▇▇──┤     hits of the relaxed inputs
                                ▨─┤              hits of the nearest words

Pure functions of the findings: table 1 and figures 2 and 3 of He and Glass 2019 are among them.
"""

from __future__ import annotations

from relens.counted import counted
from relens.triggers.relaxation.findings import BINS, RelaxationFindings
from relens.triggers.relaxation.rows import DescentStep
from relens.triggers.relaxation.settings import SPACE_LABELS, SPACES, Space
from relens_dashboard.charts import FROM_ZERO, SHARE, STYLES, Panel, Style, bars, chart, line, panels
from relens_dashboard.studies.brute_force_charts import shares_figure
from relens_dashboard.studies.trigger_charts import list_style
from relens_dashboard.studies.trigger_words import LIST_LABELS
from relens_dashboard.studies.view import Figure


def relaxation_figures(findings: RelaxationFindings) -> list[Figure]:
    """The figures that these findings allow."""
    figures = []
    if findings.groups:
        figures.append(_hits(findings))
    if findings.steps:
        figures.append(_descent(findings))
    if any(group.space == "one-hot" for group in findings.groups):
        figures.append(_shares(findings))
    if findings.groups:
        figures.append(_distances(findings))
    return figures


def _hits(findings: RelaxationFindings) -> Figure:
    groups = findings.groups
    hits, projected = sum(group.hits for group in groups), sum(group.projected_hits for group in groups)
    sentence = (
        f"{hits:,} of {counted(sum(len(group.targets) for group in groups), 'descent')} reached the target; the nearest"
        f" words reached {projected:,}."
    )
    return shares_figure(
        "Hits of relaxed inputs and of words",
        sentence,
        [_name(group.space, group.list) for group in groups],
        {
            "relaxed input": [group.share for group in groups],
            "nearest words": [group.projected_share for group in groups],
        },
        SHARE | {"title": "Share of targets reached"},
    )


def _descent(findings: RelaxationFindings) -> Figure:
    by_descent: dict[tuple[str, Space, str], list[DescentStep]] = {}
    for step in findings.steps:
        by_descent.setdefault((step.unit, step.space, step.list), []).append(step)
    in_legend: set[str] = set()
    marks = []
    for (_, space, target_list), steps in by_descent.items():
        name = _name(space, target_list)
        mark = line(
            [step.step for step in steps],
            [step.cost for step in steps],
            name=name,
            style=_style(space, target_list),
            hover="step %{x:,}: %{y:.2f} nats a word",
        )
        marks.append(mark.update(legendgroup=name, showlegend=name not in in_legend))
        in_legend.add(name)
    sentence = "The cost of a word of the targets, the mean over the targets of one descent."
    drawn = chart(
        marks,
        f"Lines by step. {sentence}",
        x=FROM_ZERO | {"title": "Step"},
        y=FROM_ZERO | {"title": "Nats a word of the target"},
        showlegend=True,
    )
    return Figure("Cost by step", sentence, drawn)


def _shares(findings: RelaxationFindings) -> Figure:
    middles = [(place + 0.5) / BINS for place in range(BINS)]
    parts = []
    for group in findings.groups:
        if group.space != "one-hot":
            continue
        series = (("largest share", group.histogram("largest")), ("second largest", group.histogram("second")))
        marks = [
            bars(
                [count / max(1, sum(counts)) for count in counts],
                at=middles,
                name=name,
                style=style,
                hover="share %{x:.2f}: %{y:.1%} of the places",
                upright=True,
            ).update(opacity=0.75)
            for (name, counts), style in zip(series, STYLES, strict=False)
        ]
        parts.append(Panel(marks, group.list))
    sentence = (
        "The largest share of a word at each place, and the second largest. An input of words has 1 and 0 everywhere."
    )
    drawn = panels(
        parts,
        f"Histograms. {sentence}",
        across=len(parts),
        x={"title": "Share of a word", "range": [0, 1]},
        y={"tickformat": ".0%"},
        barmode="overlay",
    )
    drawn.figure.update_yaxes(title="Places", row=1, col=1)
    return Figure("Shares of words", sentence, drawn)


def _distances(findings: RelaxationFindings) -> Figure:
    marks = [
        line(
            list(range(1, len(values) + 1)),
            values,
            name=f"{what}: {_name(group.space, group.list)}",
            style=Style(
                list_style(group.list).color,
                symbol="circle" if group.space == SPACES[0] else "square",
                dash="dot" if what == "embedding" else "solid",
            ),
            marked="everywhere",
            hover="place %{x}: %{y:.2f}",
        )
        for group in findings.groups
        for what, values in (
            ("embedding", group.mean_distances("embedding")),
            ("state", group.mean_distances("state")),
        )
    ]
    sentence = "How far the nearest words move the embedding, and the encoder's state, at each place."
    drawn = chart(
        marks,
        f"Lines by place. {sentence}",
        x={"title": "Place in the input"},
        y=FROM_ZERO | {"title": "Distance (Euclidean)"},
        showlegend=True,
    )
    return Figure("Distance to the nearest words", sentence, drawn)


def _name(space: Space, target_list: str) -> str:
    return f"{SPACE_LABELS[space]}, {target_list if target_list in LIST_LABELS else 'other'}"


def _style(space: Space, target_list: str) -> Style:
    """The colour of the list; one-hot inputs are dashed."""
    return Style(list_style(target_list).color, dash="solid" if space == SPACES[0] else "dash")
