"""The figures of a toxicity study: on how many inputs each way finds something, how much, and by which edits.

    exact, canonical   ████████ 36 %  ├──┤
    exact, all         ████████ 36 %  ├──┤        hatched: other encodings count too
    one edit, all      ██████████████ 64 %        dotted: one edit is allowed

Pure functions of `engine.studies.toxicity_findings`. No figure shows a word: only counts, and single characters.
"""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from app.charts import BLUE, GREEN, INTERVAL_GREY, LEGEND, MARGINS, ORANGE, PINK, Chart, hatched, interval_bars
from app.narrative import interval_text, probability_text
from app.studies.view import Figure
from app.text import as_plotly, visible
from engine.counted import counted
from engine.percent import percent
from engine.query import Encoding
from engine.studies.toxicity import BASELINE, EDITED, ENCODED, VARIANTS, WIDEST
from engine.studies.toxicity_findings import CharacterCount, Kind, Success

#: The characters that are shown of each sort.
MOST_CHARACTERS = 12

_LABELS = {
    BASELINE.key: "exact, usual tokens",
    EDITED.key: "one edit, usual tokens",
    ENCODED.key: "exact, all tokens",
    WIDEST.key: "one edit, all tokens",
}


def success(mode: str, successes: Sequence[Success]) -> Figure:
    """On what share of the inputs each variant finds a match, with intervals (ReLM section 4.3)."""
    variants = {variant.key: variant for variant in VARIANTS[mode]}
    edited = [variants[one.variant].edits > 0 for one in successes]
    encoded = [variants[one.variant].encoding is Encoding.ALL for one in successes]
    figure = go.Figure(
        go.Bar(
            x=[one.rate.value for one in successes],
            y=list(range(len(successes))),
            orientation="h",
            marker={
                "color": [ORANGE if flag else BLUE for flag in edited],
                "pattern": hatched(["/" if flag else "" for flag in encoded]),
            },
            error_x=interval_bars([one.rate for one in successes], thickness=2, width=6, color=INTERVAL_GREY),
            hovertext=[
                f"{as_plotly(one.label)}: {one.found} of {one.asked}, {probability_text(one.rate.value)} "
                f"(95 %: {interval_text(one.rate.low, one.rate.high)})"
                for one in successes
            ],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    )
    _name_lines(figure, [_LABELS.get(one.variant, one.label) for one in successes])
    figure.update_xaxes(title="Share of the inputs with a match", range=[0, 1.02], tickformat=".0%")
    figure.update_layout(height=80 + 42 * len(successes), margin=MARGINS, bargap=0.3, showlegend=False)
    what = "can write the word after its prompt" if mode == "prompted" else "can write the whole sentence, unprompted,"
    sentence = _success_sentence(what, successes)
    title = "After a prompt" if mode == "prompted" else "Without a prompt"
    return Figure(title, sentence, Chart(figure, f"Bars with intervals. {sentence}"))


def _success_sentence(what: str, successes: Sequence[Success]) -> str:
    by_key = {one.variant: one for one in successes}
    exact, widest = by_key.get(BASELINE.key), by_key.get(WIDEST.key)
    told = [
        f"{count} {way}"
        for one, way in ((exact, "letter for letter"), (widest, "with one edit and all encodings"))
        if one is not None
        for count in [f"on {one.found} of {counted(one.asked, 'input')}"]
    ]
    return f"The model {what} {' and '.join(told)}."


def kinds(found: Sequence[Kind]) -> Figure:
    """How many matches of whole sentences are edited, and how many are in other tokens (ReLM section 4.3.2)."""
    figure = go.Figure()
    for is_canonical, name, color, pattern in (
        (True, "the tokenizer's own tokens", BLUE, ""),
        (False, "other tokens", ORANGE, "/"),
    ):
        own = [kind for kind in found if kind.is_canonical is is_canonical]
        figure.add_trace(
            go.Bar(
                x=["edited" if kind.is_edited else "exact" for kind in own],
                y=[kind.matches for kind in own],
                name=name,
                marker={"color": color, "pattern": hatched(pattern)},
                text=[f"{kind.matches:,} ({percent(kind.share)})" for kind in own],
                # Above the bars: on hatches nothing can be read.
                textposition="outside",
                cliponaxis=False,
                hovertemplate="%{x}, %{text}<extra></extra>",
            )
        )
    highest = max((kind.matches for kind in found), default=0)
    figure.update_yaxes(title="Matches", range=[0, 1.15 * highest or 1.0])
    figure.update_layout(height=320, margin=MARGINS, barmode="group", bargap=0.3, legend=LEGEND)
    total = sum(kind.matches for kind in found)
    usual = sum(kind.matches for kind in found if kind.is_canonical and not kind.is_edited)
    sentence = (
        f"Of {counted(total, 'match', 'matches')} of whole sentences, {usual:,} {'is' if usual == 1 else 'are'} the "
        "exact text in the usual tokens; the others take an edit, other tokens, or both."
    )
    return Figure("What was drawn out", sentence, Chart(figure, sentence))


def characters(counts: Sequence[CharacterCount], *, written: bool) -> Figure:
    """The characters that edits wrote, or removed, most often; by themselves or for another one."""
    top = counts[:MOST_CHARACTERS]
    alone = "put in" if written else "left out"
    replacing = "in place of another" if written else "replaced by another"
    figure = go.Figure()
    for name, values, color, pattern in (
        (alone, [one.alone for one in top], GREEN, ""),
        (replacing, [one.replacing for one in top], PINK, "/"),
    ):
        figure.add_trace(
            go.Bar(
                x=list(range(len(top))),
                y=values,
                name=name,
                marker={"color": color, "pattern": hatched(pattern)},
                hovertext=[
                    f"{as_plotly(visible(one.character))} {name}: {counted(value, 'time')}"
                    for one, value in zip(top, values, strict=True)
                ],
                hovertemplate="%{hovertext}<extra></extra>",
            )
        )
    figure.update_xaxes(
        tickmode="array",
        tickvals=list(range(len(top))),
        ticktext=[as_plotly(visible(one.character)) for one in top],
        title="Character",
        tickfont={"size": 15},
    )
    figure.update_yaxes(title="Edits", rangemode="tozero")
    figure.update_layout(height=280, margin=MARGINS, barmode="stack", bargap=0.25, showlegend=True)
    figure.update_layout(legend=LEGEND | {"traceorder": "normal"})
    verb = "write" if written else "remove"
    most = ", ".join(f"“{visible(one.character)}” ({one.count:,})" for one in top[:3])
    sentence = f"Edits {verb} these characters most often: {most}." if most else f"No edit {verb}s a character."
    title = "Characters that edits write" if written else "Characters that edits remove"
    return Figure(title, sentence, Chart(figure, sentence))


def _name_lines(figure: go.Figure, labels: Sequence[str]) -> None:
    figure.update_yaxes(
        autorange="reversed",
        tickmode="array",
        tickvals=list(range(len(labels))),
        ticktext=[as_plotly(label) for label in labels],
        automargin=True,
        ticklabelstandoff=6,
    )
