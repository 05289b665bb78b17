"""Figures of the shares of strings and groups, estimated by a sample or exact; pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from relens.counted import counted
from relens.statistics import Estimate
from relens_dashboard.charts import FROM_ZERO, GREEN, STYLES, Chart, Style, bars, chart, dots
from relens_dashboard.narrative import estimate_text, probability_text
from relens_dashboard.sample_check import Compared
from relens_dashboard.tables import distinct_labels
from relens_dashboard.text import shortened

#: Characters of a bar's label.
_LABEL = 34

_OPERATIONS = ("substitution", "insertion", "deletion")


def share_bars(
    table: pd.DataFrame,
    labels: Sequence[str] = (),
    given: Sequence[str] = (),
    count: int = 12,
) -> Chart:
    """The shares of a table of strings or groups as bars, with their intervals where they have one.

    labels: the columns of the groups that name a bar; none where the lines are strings. given: the columns that shares
    are conditional on; each of their combinations makes a series of bars, so "art" of the men is next to "art" of the
    women.
    """
    texts = _joined(table, labels) if labels else distinct_labels(table)
    series = _joined(table, given) if given else [""] * len(texts)
    # Without series each line is a bar of its own; two texts may look the same.
    drawn = table.assign(_text=texts, _bar=texts if given else range(len(texts)), _series=series)
    totals = drawn.groupby("_bar", sort=False)["Share"].sum().sort_values(ascending=False, kind="stable")
    shown = list(totals.index[:count])
    names = list(dict.fromkeys(series))[: len(STYLES)]
    what = f"Share, given {' and '.join(given)}" if given else "Share of all matches"
    marks = []
    for name, style in zip(names, STYLES, strict=False):
        rows = drawn[(drawn["_series"] == name) & drawn["_bar"].isin(shown)]
        rows = rows.assign(_place=[shown.index(bar) for bar in rows["_bar"]]).sort_values("_place")
        shares = [Estimate(*each) for each in zip(rows["Share"], rows["low"], rows["high"], strict=True)]
        whose = f"given {name}, " if name else ""
        hover = [f"{whose}{text}: {estimate_text(share)}" for text, share in zip(rows["_text"], shares, strict=True)]
        marks.append(bars(shares, at=list(rows["_place"]), name=shortened(name, 30), style=style, hover=hover))
    return chart(
        marks,
        _shares_alt(drawn, len(shown), names),
        x=FROM_ZERO | {"title": what, "tickformat": ".0%"},
        y_labels=[shortened(drawn.loc[drawn["_bar"] == bar, "_text"].iloc[0], _LABEL) for bar in shown],
        row_height=10 + 17 * max(len(names), 1),
    )


def _joined(table: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    return [" · ".join(values) for values in table[list(columns)].itertuples(index=False)]


def _shares_alt(drawn: pd.DataFrame, bars: int, names: Sequence[str]) -> str:
    if not len(drawn):
        return "No shares yet."
    series = []
    for name in names:
        rows = drawn[drawn["_series"] == name].sort_values("Share", ascending=False).head(3)
        shares = ", ".join(
            f"{text} {probability_text(share)}" for text, share in zip(rows["_text"], rows["Share"], strict=True)
        )
        series.append(f"given {name}: {shares}" if name else shares)
    return f"Bars of {counted(bars, 'share')}; {'; '.join(series)}."


def sample_against_exact(compared: Sequence[Compared], count: int = 12) -> Chart:
    """Raw frequency, weighted estimate with its interval and, where known, exact share of each string or group."""
    top = sorted(compared, key=lambda one: -one.share)[:count]
    estimates = [Estimate(one.share, one.low, one.high) for one in top]
    known = [(place, one, one.exact) for place, one in enumerate(top) if one.exact is not None]
    marks = [
        dots(
            [one.frequency for one in top],
            list(range(len(top))),
            name="raw frequency",
            style=Style(STYLES[1].color, symbol="diamond-open"),
            hover=[f"{one.label}: {probability_text(one.frequency)} of the draws" for one in top],
        ),
        dots(
            estimates,
            list(range(len(top))),
            name="weighted estimate",
            hover=[f"{one.label}: estimated {estimate_text(share)}" for one, share in zip(top, estimates, strict=True)],
        ),
    ]
    if known:
        marks.append(
            dots(
                [exact for _, _, exact in known],
                [place for place, _, _ in known],
                name="exact",
                style=Style(GREEN, symbol="line-ns"),
                size=16,
                hover=[f"{one.label}: exactly {probability_text(exact)}" for _, one, exact in known],
            )
        )
    inside = sum(one.low <= exact <= one.high for _, one, exact in known)
    alt = f"Frequency and weighted estimate of {len(top)}"
    alt += f"; the exact share lies inside the interval in {inside} of {len(known)}." if known else "."
    labels = [shortened(one.label, _LABEL) for one in top]
    return chart(marks, alt, x=FROM_ZERO | {"title": "Share", "tickformat": ".0%"}, y_labels=labels)


def edit_positions(rows: Sequence[Mapping[str, Any]]) -> Chart:
    """The positions of edits by kind, as shares of all matches; unedited matches are in no bar."""
    total = sum(row["count"] * row["weight"] for row in rows)
    shares: dict[str, dict[int, float]] = {name: {} for name in _OPERATIONS}
    everywhere: dict[int, float] = {}
    for row in rows:
        part = row["count"] * row["weight"] / total if total else 0.0
        for edit in row["edits"]:
            for places in (shares[edit["operation"]], everywhere):
                places[edit["position"]] = places.get(edit["position"], 0.0) + part
    marks = [
        bars(
            [places[position] for position in sorted(places)],
            at=sorted(places),
            name=operation,
            style=style,
            upright=True,
            hover=[
                f"{operation} at character {position}: {probability_text(places[position])} of all matches"
                for position in sorted(places)
            ],
        )
        for (operation, places), style in zip(shares.items(), STYLES, strict=False)
        if places
    ]
    most = max(everywhere, key=lambda position: everywhere[position], default=0)
    return chart(
        marks,
        f"Where the edits fall, over {counted(len(everywhere), 'position')}; most at character {most}, "
        f"with {probability_text(everywhere[most])} of all matches."
        if everywhere
        else "No match is edited.",
        x={"title": "Character of the text, from 0"},
        y=FROM_ZERO | {"title": "Share of all matches", "tickformat": "~%"},
        barmode="stack",
        bargap=0.1,
        showlegend=True,
    )


def spelling_bars(table: pd.DataFrame, count: int = 12) -> Chart:
    """The probability of each of the first strings, split into canonical and all other encodings."""
    top = table.head(count)
    labels = distinct_labels(table)[:count]
    own = top["Probability"] * top["Canonical share"]
    total = float(top["Probability"].sum())
    other = 1.0 - float(own.sum()) / total if total > 0 else 0.0
    return chart(
        [
            bars(
                list(values),
                name=name,
                style=style,
                hover=[
                    f"{text}, {name}: {probability_text(value)}" for text, value in zip(labels, values, strict=True)
                ],
            )
            for name, values, style in (
                ("canonical tokens", own, STYLES[0]),
                ("other tokens", top["Probability"] - own, STYLES[1]),
            )
        ],
        f"Bars of {counted(len(top), 'string')}; {probability_text(other)} of their probability is in other tokens "
        "than the tokenizer's own.",
        x=FROM_ZERO | {"title": "Probability under the decoding rule", "tickformat": "~g"},
        y_labels=[shortened(label, _LABEL) for label in labels],
        barmode="stack",
    )
