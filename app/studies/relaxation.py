"""What the page of the continuous relaxation asks and shows: would the model say it if its input need not be words?"""

from __future__ import annotations

import dataclasses

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from plotly.subplots import make_subplots

from app.charts import BLUE, GREEN, INTERVAL_GREY, LEGEND, MARGINS, ORANGE, RED, Chart, hatched, interval_bars
from app.narrative import interval_text
from app.setting_fields import all_fields, attempt
from app.studies.fields import number_field
from app.studies.masked_view import MaskedView
from app.studies.own_models import model_field
from app.studies.trigger_fields import count_field, lists_field, seed_field
from app.studies.trigger_words import LIST_LABELS, masked, trigger_masker
from app.studies.view import Figure, Rows, Table
from app.tables import shown_text
from app.text import as_plotly
from engine.counted import counted
from engine.studies.masking import Masker
from engine.studies.study import Study, rows_of
from engine.triggers.relaxation.findings import projection_differences, relaxation_hits, share_histograms
from engine.triggers.relaxation.settings import MOST_STEPS, SPACES
from engine.triggers.relaxation.study import DESCENT, MOST_TARGETS, TARGET, RelaxationStudy

KIND = RelaxationStudy.kind

_SPACE_LABELS = {"embedding": "any numbers", "one-hot": "shares of words"}
_COLORS = {"normal": BLUE, "mal": RED, "random": GREEN}
_MOST_LINES = 1_000


class RelaxationView(MaskedView):
    """See `app.studies.view.StudyView`."""

    kind = KIND
    introduction = (
        "Words are replaced by numbers that can be changed a little, and the numbers are moved until the model says "
        "the target. Then the nearest words are put in their place, and it is asked again. Where only the first works, "
        "the numbers say nothing of what somebody could type, and triggers have to be searched for word by word."
    )
    notice = "The lists hold mild insults and commands; such words are masked unless you switch them on."
    masked_help = "Without this, rude words are masked on this page, and in the report and the files."

    def settings(self, study: Study) -> RelaxationStudy:
        """The fields (see `StudyView.settings`)."""
        assert isinstance(study, RelaxationStudy)
        with all_fields():
            return self._fields(study)

    def _fields(self, study: RelaxationStudy) -> RelaxationStudy:
        name = attempt(lambda: model_field(KIND, study.name), study.name)
        first, second = st.columns(2)
        spaces = first.pills(
            "Inputs are",
            SPACES,
            selection_mode="multi",
            default=list(study.spaces),
            format_func=_SPACE_LABELS.__getitem__,
            key=f"{KIND}_spaces",
            help="**any numbers**: each place has any embedding. **shares of words**: each place is a mixture of "
            "words, and pays for not being one word.",
        )
        lists = lists_field(second, study.lists, kind=KIND, help="Which targets the numbers are moved for.")
        first, second, third = st.columns(3)
        count = count_field(first, study.count, most=MOST_TARGETS, kind=KIND)
        steps = number_field(
            second,
            "Steps",
            study.steps,
            least=1,
            most=MOST_STEPS,
            key=f"{KIND}_steps",
            help="How often the numbers are moved. More: more targets are reached.",
        )
        seed = seed_field(
            third, study.seed, kind=KIND, help="Another seed begins from other numbers and draws other targets."
        )
        first, second = st.columns(2)
        penalty, mal_penalty = (
            number_field(
                column,
                label,
                value,
                least=0.0,
                most=100.0,
                step=0.1,
                key=f"{KIND}_{name}",
                help="How much a place pays for not being one word, where inputs are shares of words. More: nearer to "
                f"words, and fewer targets reached. {more}",
            )
            for column, label, value, name, more in (
                (first, "Price of mixtures", study.penalty, "penalty", "For all lists but mal."),
                (second, "Price of mixtures, list mal", study.mal_penalty, "mal_penalty", "The paper has less here."),
            )
        )
        return dataclasses.replace(
            study,
            name=name,
            spaces=tuple(space for space in SPACES if space in spaces),
            lists=lists,
            count=count,
            steps=steps,
            penalty=penalty,
            mal_penalty=mal_penalty,
            seed=seed,
        )

    def masker(self, study: Study) -> Masker:
        """See `MaskedView.masker`."""
        return trigger_masker(study)

    def own_model(self, study: Study) -> str:
        """The dialogue model."""
        assert isinstance(study, RelaxationStudy)
        return study.name

    def figures(self, rows: Rows, study: Study) -> list[Figure]:
        """Table 1 as bars, the descent, and figures 2 and 3 of the paper."""
        figures = [_hits(rows), _descent(rows), _shares(rows), _differences(rows)]
        return [figure for figure in figures if figure is not None]

    def tables(self, rows: Rows, study: Study) -> list[Table]:
        """The hits, and a line for each target."""
        return _tables(rows, self.mask(study))


VIEW = RelaxationView()


def _name(space: str, target_list: str) -> str:
    return f"{_SPACE_LABELS.get(space, space)}, {target_list if target_list in LIST_LABELS else 'other'}"


def _hits(rows: Rows) -> Figure | None:
    lines = relaxation_hits(rows)
    if not lines:
        return None
    figure = go.Figure()
    for label, values, color, pattern in (
        ("by numbers", [line.share for line in lines], BLUE, ""),
        ("by the words next to them", [line.projected_share for line in lines], ORANGE, "/"),
    ):
        figure.add_trace(
            go.Bar(
                x=[value.value for value in values],
                y=[_name(line.space, line.list) for line in lines],
                orientation="h",
                name=label,
                marker={"color": color, "pattern": hatched(pattern)},
                error_x=interval_bars(values, color=INTERVAL_GREY, thickness=2),
                hovertemplate="%{y}: %{x:.1%}<extra></extra>",
            )
        )
    figure.update_yaxes(autorange="reversed", automargin=True, ticklabelstandoff=6)
    figure.update_xaxes(title="Share of the targets that the model says", range=[0, 1.02], tickformat=".0%")
    figure.update_layout(height=130 + 60 * len(lines), margin=MARGINS, barmode="group", legend=LEGEND, showlegend=True)
    hits, projected, targets = (
        sum(getattr(line, name) for line in lines) for name in ("hits", "projected_hits", "targets")
    )
    sentence = (
        f"Of {counted(targets, 'attempt')} the model said the target in {hits:,} when its input was numbers, and in "
        f"{projected:,} when the nearest words stood in their place."
    )
    return Figure("Numbers and words", sentence, Chart(figure, f"Bars with intervals. {sentence}"))


def _descent(rows: Rows) -> Figure | None:
    by_unit: dict[tuple[str, str, str], list[tuple[int, float]]] = {}
    for row in rows_of(rows, DESCENT):
        by_unit.setdefault((str(row["unit"]), row["space"], row["list"]), []).append((row["step"], row["cost"]))
    if not by_unit:
        return None
    figure = go.Figure()
    named: set[str] = set()
    for (_, space, target_list), points in by_unit.items():
        name = _name(space, target_list)
        figure.add_trace(
            go.Scatter(
                x=[step for step, _ in points],
                y=[cost for _, cost in points],
                mode="lines",
                name=name,
                legendgroup=name,
                showlegend=name not in named,
                line={"color": _COLORS.get(target_list, GREEN), "dash": "solid" if space == SPACES[0] else "dash"},
                hovertemplate="step %{x:,}: %{y:.2f} nats a word<extra></extra>",
            )
        )
        named.add(name)
    figure.update_xaxes(title="Step", rangemode="tozero")
    figure.update_yaxes(title="Nats a word of the target", rangemode="tozero")
    figure.update_layout(height=300, margin=MARGINS, legend=LEGEND, showlegend=True)
    sentence = "What a word of the targets still costs, on average over those that go down side by side."
    return Figure("The descent", sentence, Chart(figure, f"Lines by step. {sentence}"))


def _shares(rows: Rows) -> Figure | None:
    found = share_histograms(rows)
    if not found:
        return None
    figure = make_subplots(rows=1, cols=len(found), shared_yaxes=True, subplot_titles=[one.list for one in found])
    for column, one in enumerate(found, 1):
        middles = [(low + high) / 2 for low, high in zip(one.edges, one.edges[1:], strict=False)]
        for name, counts, color, pattern in (
            ("largest share", one.largest, BLUE, ""),
            ("second largest", one.second, ORANGE, "/"),
        ):
            figure.add_trace(
                go.Bar(
                    x=middles,
                    y=[count / max(1, one.places) for count in counts],
                    name=name,
                    legendgroup=name,
                    showlegend=column == 1,
                    marker={"color": color, "pattern": hatched(pattern)},
                    hovertemplate="share %{x:.2f}: %{y:.1%} of the places<extra></extra>",
                ),
                row=1,
                col=column,
            )
    figure.update_xaxes(title="Share of a word at a place", range=[0, 1])
    figure.update_yaxes(title="Places", tickformat=".0%", col=1)
    figure.update_layout(
        height=320, margin=MARGINS | {"t": 60}, barmode="overlay", legend={"orientation": "h", "y": 1.3}
    )
    figure.update_traces(opacity=0.75)
    sentence = (
        "Were the inputs words, the largest share at each place would be 1 and the second 0; how far they are from "
        "that is how far the numbers are from anything that can be typed."
    )
    return Figure("How near to words", sentence, Chart(figure, f"Histograms. {sentence}"))


def _differences(rows: Rows) -> Figure | None:
    found = projection_differences(rows)
    if not found:
        return None
    figure = go.Figure()
    for one in found:
        for what, values, dash in (("embedding", one.embedding, "dot"), ("state", one.state, "solid")):
            figure.add_trace(
                go.Scatter(
                    x=list(range(1, len(values) + 1)),
                    y=list(values),
                    mode="lines+markers",
                    name=as_plotly(f"{what}: {_name(one.space, one.list)}"),
                    line={"color": _COLORS.get(one.list, GREEN), "dash": dash},
                    marker={"symbol": "circle" if one.space == SPACES[0] else "square", "size": 6},
                    hovertemplate="place %{x}: %{y:.2f}<extra></extra>",
                )
            )
    figure.update_xaxes(title="Place in the input")
    figure.update_yaxes(title="Distance moved by the words", rangemode="tozero")
    figure.update_layout(height=340, margin=MARGINS, legend={"orientation": "h", "y": -0.25}, showlegend=True)
    sentence = (
        "How far what the encoder reads, and its state, move when the nearest words take the place of the numbers."
    )
    return Figure("What the words change", sentence, Chart(figure, f"Lines by place. {sentence}"))


def _tables(rows: Rows, mask: Masker | None) -> list[Table]:
    lines, found = relaxation_hits(rows), rows_of(rows, TARGET)[:_MOST_LINES]
    if not lines:
        return []
    hits = pd.DataFrame(
        {
            "Inputs are": [_SPACE_LABELS.get(line.space, line.space) for line in lines],
            "List": [line.list for line in lines],
            "Targets": [line.targets for line in lines],
            "Said to numbers": [line.hits for line in lines],
            "95 %": [interval_text(line.share.low, line.share.high) for line in lines],
            "Said to the words": [line.projected_hits for line in lines],
            "95 % of words": [interval_text(line.projected_share.low, line.projected_share.high) for line in lines],
        }
    )
    targets = pd.DataFrame(
        {
            "Inputs are": [_SPACE_LABELS.get(row["space"], row["space"]) for row in found],
            "List": [row["list"] for row in found],
            "Target": [shown_text(masked(mask, row["target"])) for row in found],
            "Said to numbers": [bool(row["hit"]) for row in found],
            "Reply to numbers": [shown_text(masked(mask, row["reply"])) for row in found],
            "Nearest words": [shown_text(masked(mask, row["projected"])) for row in found],
            "Reply to words": [shown_text(masked(mask, row["projected_reply"])) for row in found],
            "Nats a word": [round(float(row["cost"]), 3) for row in found],
        }
    )
    return [
        Table("Hits", hits, {"Said to the words": "When the nearest words take the place of the numbers."}),
        Table("Targets", targets, {"Nats a word": "What a word of the target costs after these numbers."}),
    ]
