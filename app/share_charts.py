"""Figures of shares: what part of the language each string or group is, by sample or exactly.

As in `app.charts`: pure functions, colours that anybody can tell apart and that are never the only sign, all text
escaped, and a sentence for who cannot see the figure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from app.charts import BLUE, GREEN, LEGEND, MARGINS, ORANGE, PINK, RED, SKY, Chart, hatched
from app.narrative import interval_text, probability_text
from app.sample_check import Compared
from app.tables import told_apart
from app.text import as_plotly, shortened
from engine.counted import counted

_HUES = (BLUE, ORANGE, GREEN, PINK, SKY, RED)
_PATTERNS = ("", "/", "x", ".", "\\", "+")


#: More series than hues cannot be told apart; the largest are drawn.
_MOST_SERIES = len(_HUES)

_OPERATIONS = {
    "substitution": ("replaced", BLUE, ""),
    "insertion": ("put in", ORANGE, "/"),
    "deletion": ("left out", GREEN, "x"),
}


def share_bars(table: pd.DataFrame, labels: Sequence[str] = (), given: Sequence[str] = (), count: int = 12) -> Chart:
    """The shares of a table of strings or groups as bars, with their intervals where they have one.

    labels: the columns of the groups that name a bar, none where the lines are strings. given: the columns that shares
    are conditional on; each of their combinations makes a series of bars, so that "art" of the men stands beside "art"
    of the women.
    """
    texts = _joined(table, labels) if labels else told_apart(table)
    series = _joined(table, given) if given else [""] * len(texts)
    # Without series each line is a bar of its own, though two texts may look the same.
    drawn = table.assign(_text=texts, _bar=texts if given else range(len(texts)), _series=series)
    totals = drawn.groupby("_bar", sort=False)["Share"].sum().sort_values(ascending=False, kind="stable")
    shown = list(totals.index[:count])
    names = list(dict.fromkeys(series))[:_MOST_SERIES]
    figure = go.Figure()
    for place, name in enumerate(names):
        rows = drawn[(drawn["_series"] == name) & drawn["_bar"].isin(shown)]
        rows = rows.assign(_place=[shown.index(bar) for bar in rows["_bar"]]).sort_values("_place")
        figure.add_trace(_bars(rows, name, _HUES[place], _PATTERNS[place]))
    _label_axis(figure, [drawn.loc[drawn["_bar"] == bar, "_text"].iloc[0] for bar in shown])
    what = f"Share, given {' and '.join(given)}" if given else "Share of everything found"
    figure.update_xaxes(title=as_plotly(what), rangemode="tozero", tickformat=".0%")
    height = 60 + len(shown) * (10 + 17 * max(len(names), 1))
    figure.update_layout(height=max(180, height), margin=MARGINS, bargap=0.25, showlegend=len(names) > 1)
    figure.update_layout(legend=LEGEND | {"traceorder": "normal"})
    return Chart(figure, _shares_alt(drawn, len(shown), names))


def _joined(table: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    return [" · ".join(values) for values in table[list(columns)].itertuples(index=False)]


def _bars(rows: pd.DataFrame, name: str, color: str, pattern: str) -> go.Bar:
    whose = f"given {name}, " if name else ""
    has_interval = bool((rows["high"] > rows["low"]).any())
    hover = [
        f"{as_plotly(whose + text)}: {probability_text(share)}"
        + (f" (95 %: {interval_text(low, high)})" if has_interval else "")
        for text, share, low, high in zip(rows["_text"], rows["Share"], rows["low"], rows["high"], strict=True)
    ]
    return go.Bar(
        x=rows["Share"],
        y=rows["_place"],
        name=as_plotly(shortened(name, 30)),
        orientation="h",
        marker={"color": color, "pattern": hatched(pattern)},
        error_x=_interval(rows["Share"], rows["low"], rows["high"], "#8A939B") if has_interval else None,
        hovertext=hover,
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _interval(values: Iterable[float], low: Iterable[float], high: Iterable[float], color: str) -> dict[str, Any]:
    """Error bars from `low` to `high` around `values`."""
    above = [max(end - value, 0.0) for value, end in zip(values, high, strict=True)]
    below = [max(value - begin, 0.0) for value, begin in zip(values, low, strict=True)]
    return {
        "type": "data",
        "symmetric": False,
        "array": above,
        "arrayminus": below,
        "thickness": 1.5,
        "width": 4,
        "color": color,
    }


def _shares_alt(drawn: pd.DataFrame, bars: int, names: Sequence[str]) -> str:
    if not len(drawn):
        return "No shares yet."
    told = []
    for name in names:
        rows = drawn[drawn["_series"] == name].sort_values("Share", ascending=False).head(3)
        shares = ", ".join(
            f"{text} {probability_text(share)}" for text, share in zip(rows["_text"], rows["Share"], strict=True)
        )
        told.append(f"given {name}: {shares}" if name else shares)
    return f"Bars of {counted(bars, 'share')}; {'; '.join(told)}."


def sample_against_exact(compared: Sequence[Compared], count: int = 12) -> Chart:
    """Of each string or group: raw frequency, weighted estimate with its interval, exact share where it is known."""
    top = sorted(compared, key=lambda one: -one.share)[:count]
    places = list(range(len(top)))
    figure = go.Figure()
    figure.add_trace(
        go.Scatter(
            x=[one.frequency for one in top],
            y=places,
            name="drawn, unweighted",
            mode="markers",
            marker={"symbol": "diamond-open", "size": 9, "color": ORANGE, "line": {"width": 2}},
            hovertext=[f"{as_plotly(one.label)}: {probability_text(one.frequency)} of the draws" for one in top],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    )
    figure.add_trace(
        go.Scatter(
            x=[one.share for one in top],
            y=places,
            name="estimate, weighted",
            mode="markers",
            marker={"symbol": "circle", "size": 8, "color": BLUE},
            error_x=_interval([one.share for one in top], [one.low for one in top], [one.high for one in top], BLUE),
            hovertext=[
                f"{as_plotly(one.label)}: estimated {probability_text(one.share)} "
                f"(95 %: {interval_text(one.low, one.high)})"
                for one in top
            ],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    )
    known = [(place, one) for place, one in zip(places, top, strict=True) if one.exact is not None]
    if known:
        figure.add_trace(
            go.Scatter(
                x=[one.exact for _, one in known],
                y=[place for place, _ in known],
                name="exact",
                mode="markers",
                marker={"symbol": "line-ns", "size": 16, "color": GREEN, "line": {"width": 3, "color": GREEN}},
                hovertext=[f"{as_plotly(one.label)}: exactly {probability_text(one.exact or 0.0)}" for _, one in known],
                hovertemplate="%{hovertext}<extra></extra>",
            )
        )
    _label_axis(figure, [one.label for one in top])
    figure.update_xaxes(title="Share", rangemode="tozero", tickformat=".0%")
    figure.update_layout(height=max(200, 84 + 26 * len(top)), margin=MARGINS)
    figure.update_layout(legend=LEGEND)
    inside = sum(one.low <= one.exact <= one.high for _, one in known if one.exact is not None)
    alt = f"Frequency and weighted estimate of {len(top)}"
    alt += f"; the exact share lies inside the interval in {inside} of {len(known)}." if known else "."
    return Chart(figure, alt)


def edit_positions(rows: Sequence[Mapping[str, Any]]) -> Chart:
    """Where in the text edits fall, as parts of everything found, by kind; unedited matches are in none."""
    total = sum(row["count"] * row["weight"] for row in rows)
    shares: dict[str, dict[int, float]] = {name: {} for name in _OPERATIONS}
    for row in rows:
        for edit in row["edits"]:
            places = shares[edit["operation"]]
            part = row["count"] * row["weight"] / total if total else 0.0
            places[edit["position"]] = places.get(edit["position"], 0.0) + part
    figure = go.Figure()
    for name, (words, color, pattern) in _OPERATIONS.items():
        if not shares[name]:
            continue
        positions = sorted(shares[name])
        figure.add_trace(
            go.Bar(
                x=positions,
                y=[shares[name][position] for position in positions],
                name=words,
                marker={"color": color, "pattern": hatched(pattern)},
                hovertext=[
                    f"{words} at character {position}: {probability_text(shares[name][position])} of everything found"
                    for position in positions
                ],
                hovertemplate="%{hovertext}<extra></extra>",
            )
        )
    figure.update_xaxes(title="Character of the text, from 0")
    figure.update_yaxes(title="Share of everything found", rangemode="tozero", tickformat="~%")
    figure.update_layout(height=280, margin=MARGINS, barmode="stack", bargap=0.1, showlegend=True)
    figure.update_layout(legend=LEGEND)
    everywhere: dict[int, float] = {}
    for places in shares.values():
        for position, part in places.items():
            everywhere[position] = everywhere.get(position, 0.0) + part
    if not everywhere:
        return Chart(figure, "No match is edited.")
    most = max(everywhere, key=lambda position: everywhere[position])
    return Chart(
        figure,
        f"Where the edits fall, over {counted(len(everywhere), 'position')}; most at character {most}, "
        f"with {probability_text(everywhere[most])} of everything found.",
    )


def spelling_bars(table: pd.DataFrame, count: int = 12) -> Chart:
    """The probability of each of the first strings, split into the tokenizer's own tokens and all other spellings."""
    top = table.head(count)
    labels = told_apart(table)[:count]
    own = top["Probability"] * top["Own spelling"]
    figure = go.Figure()
    for name, values, color, pattern in (
        ("the tokenizer's own tokens", own, BLUE, ""),
        ("other tokens", top["Probability"] - own, ORANGE, "/"),
    ):
        figure.add_trace(
            go.Bar(
                x=values,
                y=list(range(len(top))),
                name=name,
                orientation="h",
                marker={"color": color, "pattern": hatched(pattern)},
                hovertext=[
                    f"{as_plotly(text)}, {name}: {probability_text(value)}"
                    for text, value in zip(labels, values, strict=True)
                ],
                hovertemplate="%{hovertext}<extra></extra>",
            )
        )
    _label_axis(figure, labels)
    figure.update_xaxes(title="Probability under the decoding rule", rangemode="tozero", tickformat="~g")
    figure.update_layout(height=max(180, 84 + 26 * len(top)), margin=MARGINS, barmode="stack", bargap=0.25)
    figure.update_layout(legend=LEGEND | {"traceorder": "normal"})
    total = float(top["Probability"].sum())
    other = 1.0 - float(own.sum()) / total if total > 0 else 0.0
    return Chart(
        figure,
        f"Bars of {counted(len(top), 'string')}; {probability_text(other)} of their probability is in other tokens "
        "than the tokenizer's own.",
    )


def _label_axis(figure: go.Figure, labels: Sequence[str]) -> None:
    """Texts from top to bottom. Bars stand at numbers, since two texts may be cut to the same label."""
    figure.update_yaxes(
        autorange="reversed",
        tickmode="array",
        tickvals=list(range(len(labels))),
        ticktext=[as_plotly(shortened(label, 34)) for label in labels],
        automargin=True,
        ticklabelstandoff=6,
    )
