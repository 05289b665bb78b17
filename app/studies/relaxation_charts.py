"""The figures of the continuous relaxation: hits, the descent, and how far numbers are from words.

Pure functions of rows: table 1 and figures 2 and 3 of He and Glass 2019 are among them.
"""

from __future__ import annotations

from app.charts import FROM_ZERO, SHARE, STYLES, Panel, Style, bars, chart, line, panels
from app.narrative import estimate_text
from app.studies.trigger_charts import list_style
from app.studies.trigger_words import LIST_LABELS
from app.studies.view import Figure, Rows
from engine.counted import counted
from engine.setting import declared
from engine.studies.rows import rows_of
from engine.triggers.relaxation.findings import projection_differences, relaxation_hits, share_histograms
from engine.triggers.relaxation.settings import SPACES
from engine.triggers.relaxation.study import DESCENT, RelaxationStudy

SPACE_LABELS = declared(RelaxationStudy, "spaces").setting.choices


def relaxation_figures(rows: Rows) -> list[Figure]:
    """What there is to show of these rows."""
    figures = [_hits(rows), _descent(rows), _shares(rows), _differences(rows)]
    return [figure for figure in figures if figure is not None]


def _hits(rows: Rows) -> Figure | None:
    lines = relaxation_hits(rows)
    if not lines:
        return None
    labels = [_name(line.space, line.list) for line in lines]
    series = (
        ("numbers", [line.share for line in lines]),
        ("nearest words", [line.projected_share for line in lines]),
    )
    hits, projected, targets = (
        sum(getattr(line, name) for line in lines) for name in ("hits", "projected_hits", "targets")
    )
    sentence = (
        f"Of {counted(targets, 'attempt')}, {hits:,} reached the target with numbers as the input, and {projected:,} "
        "with the nearest words in their place."
    )
    drawn = chart(
        [
            bars(
                shares,
                name=name,
                style=style,
                hover=[f"{label}: {estimate_text(share)}" for label, share in zip(labels, shares, strict=True)],
            )
            for (name, shares), style in zip(series, STYLES, strict=False)
        ],
        f"Bars with intervals. {sentence}",
        x=SHARE | {"title": "Share of targets said"},
        y_labels=labels,
        row_height=60,
    )
    return Figure("Hits by numbers and by words", sentence, drawn)


def _descent(rows: Rows) -> Figure | None:
    by_unit: dict[tuple[str, str, str], list[tuple[int, float]]] = {}
    for row in rows_of(rows, DESCENT):
        by_unit.setdefault((str(row["unit"]), row["space"], row["list"]), []).append((row["step"], row["cost"]))
    if not by_unit:
        return None
    named: set[str] = set()
    marks = []
    for (_, space, target_list), points in by_unit.items():
        name = _name(space, target_list)
        mark = line(
            [step for step, _ in points],
            [cost for _, cost in points],
            name=name,
            style=_style(space, target_list),
            hover="step %{x:,}: %{y:.2f} nats a word",
        )
        marks.append(mark.update(legendgroup=name, showlegend=name not in named))
        named.add(name)
    sentence = "The mean cost of a word of the targets, over the targets of one descent."
    drawn = chart(
        marks,
        f"Lines by step. {sentence}",
        x=FROM_ZERO | {"title": "Step"},
        y=FROM_ZERO | {"title": "Nats a word of the target"},
        showlegend=True,
    )
    return Figure("Cost by step", sentence, drawn)


def _shares(rows: Rows) -> Figure | None:
    found = share_histograms(rows)
    if not found:
        return None
    parts = []
    for one in found:
        middles = [(low + high) / 2 for low, high in zip(one.edges, one.edges[1:], strict=False)]
        marks = [
            bars(
                [count / max(1, one.places) for count in counts],
                at=middles,
                name=name,
                style=style,
                hover="share %{x:.2f}: %{y:.1%} of the places",
                upright=True,
            ).update(opacity=0.75)
            for (name, counts), style in zip(
                (("largest share", one.largest), ("second largest", one.second)), STYLES, strict=False
            )
        ]
        parts.append(Panel(marks, one.list))
    sentence = (
        "Were the inputs words, the largest share at each place would be 1 and the second 0. Their distance from that "
        "is the distance of the numbers from anything that can be typed."
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


def _differences(rows: Rows) -> Figure | None:
    found = projection_differences(rows)
    if not found:
        return None
    marks = [
        line(
            list(range(1, len(values) + 1)),
            values,
            name=f"{what}: {_name(one.space, one.list)}",
            style=Style(
                list_style(one.list).color,
                symbol="circle" if one.space == SPACES[0] else "square",
                dash="dot" if what == "embedding" else "solid",
            ),
            marked="everywhere",
            hover="place %{x}: %{y:.2f}",
        )
        for one in found
        for what, values in (("embedding", one.embedding), ("state", one.state))
    ]
    sentence = (
        "How far the encoder's embeddings, and its state, move when the nearest words take the place of the numbers."
    )
    drawn = chart(
        marks,
        f"Lines by place. {sentence}",
        x={"title": "Place in the input"},
        y=FROM_ZERO | {"title": "Distance moved by the words"},
        showlegend=True,
    )
    return Figure("Distance moved by the nearest words", sentence, drawn)


def _name(space: str, target_list: str) -> str:
    return f"{SPACE_LABELS.get(space, space)}, {target_list if target_list in LIST_LABELS else 'other'}"


def _style(space: str, target_list: str) -> Style:
    """The colour of the list; one-hot inputs are dashed."""
    return Style(list_style(target_list).color, dash="solid" if space == SPACES[0] else "dash")
