"""A figure of a study, or a chart of a search, as a finding: what is known of it put into words.

headline     the verdict's first sentence          what the whole says
sentence     the figure's own                      what one sees here
caveats      the verdict's restraints, the view's notice, the model, the decoding rule
"""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from app.charts import Chart
from app.narrative import probability_text, traversal_kind
from app.present.explanation import (
    decoding_caveat,
    explanation,
    model_caveat,
    restraints,
    search_how,
    sentences_of,
    size_caveat,
)
from app.present.finding import Finding
from app.studies.view import Figure
from app.study_narrative import units_sentence
from app.text import shortened
from engine.counted import counted
from engine.query import Query
from engine.runs.records import RunRecord
from engine.studies.study import Study

#: Sentences of a verdict that a speaker's notes go on with.
_ALSO = 6
#: Of a prefix and a pattern so many characters are shown and said.
_LONGEST_PART = 250


def study_finding(run: RunRecord, study: Study, figure: Figure, verdict: Sequence[str], notice: str) -> Finding:
    """One figure of a study's run. notice: what the study's page says before anything is shown."""
    headline = [*sentences_of(verdict[0])[:2]] if verdict else []
    shown = sentences_of(figure.sentence)[:1]
    careful = restraints(verdict[1:])
    also = [sentence for sentence in verdict[1:] if sentence not in careful][:_ALSO]
    rule = decoding_caveat(run.specification.get("study", {}))
    rows = f"It stands on {counted(run.row_count, 'row')} of results, {units_sentence(run)}." if run.row_count else ""
    caveats = [*careful[:2], notice, model_caveat(run), " ".join(part for part in (rule, size_caveat(run)) if part)]
    return Finding(
        title=figure.title,
        sentences=list(dict.fromkeys([*headline, *shown])),
        caveats=caveats,
        explanation=explanation(
            asked=study.question,
            model=run.model,
            how=rows if units_sentence(run) else "",
            figure=figure.chart.figure,
            look_at=figure.sentence,
            also=also,
            not_shown=" ".join(part for part in (notice, *careful) if part),
        ),
        figure=figure.chart.figure,
        alt=figure.chart.alt,
        source={"page": study.kind, "run": run.id, "label": f"{study.title}, {run.model}", "figure": figure.title},
    )


def search_finding(
    run: RunRecord, name: str, chart: Chart, found: Sequence[str], basis: Sequence[str], mass: str, best: str = ""
) -> Finding:
    """One chart of a search, called `name` on its page. found, basis: its conclusions and what they rest on.

    best: what was the likeliest, as a sentence, where the chart is of that. mass: how much of what the decoder writes
    is a match, as a sentence.
    """
    query = run.specification.get("query", {})
    asked = question_of(str(query.get("prefix", "")), str(query.get("pattern", "")))
    told = [sentence for sentence in (best, *found, mass) if sentence] or [chart.alt]
    careful = [sentence for sentence in basis if sentence]
    return Finding(
        title=f"{name}: {query_text(query)}",
        sentences=list(dict.fromkeys([*told[:2], chart.alt])),
        caveats=[*careful[:2], model_caveat(run), decoding_caveat(query), size_caveat(run)],
        explanation=explanation(
            asked=asked,
            model=run.model,
            how=search_how(traversal_kind(run)),
            figure=chart.figure,
            look_at=chart.alt,
            also=[*told[2:], *careful],
            not_shown=_NOT_SHOWN,
        ),
        figure=chart.figure,
        alt=chart.alt,
        source={"page": "workbench", "run": run.id, "label": f"Search, {run.model}", "figure": name},
    )


_NOT_SHOWN = (
    "Only what the pattern allows was looked at; what else the model might write here does not appear. How likely a "
    "model finds a text says nothing of whether it is true."
)


def automaton_finding(query: Query, model: str, title: str, sizes: str, svg: str, note: str) -> Finding:
    """A picture of an automaton of a query. note: what is not drawn of it, "" for nothing."""
    asked = query_text(query.to_json())
    return Finding(
        title=title,
        sentences=[asked, f"{sizes}."],
        caveats=[sentence for sentence in (note and f"{note[:1].upper()}{note[1:].rstrip('.')}.",) if sentence],
        explanation=explanation(
            asked=f"which texts does the regular expression {asked} allow?",
            model=model,
            how="An automaton is a machine that reads a text from left to right: circles are its states, arrows what "
            "it may read next.",
            look_at="Follow the arrows from the filled circle. Each way to a double circle spells a text that is "
            "allowed.",
            not_shown="How likely any of these texts is. The automaton says what is allowed, the model how likely.",
        ),
        figure=svg,
        alt=f"{title}: {sizes}",
        source={"page": "workbench", "label": f"{title} for {model}", "query": asked},
    )


def page_finding(
    title: str,
    sentences: Sequence[str],
    figure: go.Figure | str | None,
    alt: str,
    *,
    page: str,
    asked: str,
    model: str,
    look_at: str = "",
    not_shown: str = "",
    run: str = "",
) -> Finding:
    """What a page of lessons or a comparison shows. sentences: the first is the headline. asked: as a sentence."""
    return Finding(
        title=title,
        sentences=[sentence for sentence in sentences if sentence],
        caveats=[not_shown] if not_shown else [],
        explanation=explanation(
            asked=asked,
            model=model,
            figure=figure if isinstance(figure, go.Figure) else None,
            look_at=look_at,
            also=sentences[1:],
            not_shown=not_shown,
        ),
        figure=figure,
        alt=alt,
        source={"page": page, "label": title} | ({"run": run} if run else {}),
    )


def best_sentence(texts: Sequence[str], probabilities: Sequence[float]) -> str:
    """Which of these texts is the likeliest; "" where there is none."""
    if not len(texts):
        return ""
    best = max(range(len(texts)), key=lambda place: probabilities[place])
    likely = probability_text(probabilities[best])
    return f"The likeliest is “{shortened(texts[best], 80)}”, with a probability of {likely}."


def query_text(query: object) -> str:
    """The beginnings of prefix and pattern as they were typed, with a mark between them."""
    described = query if isinstance(query, dict) else {}
    prefix, pattern = (shortened(str(described.get(part, "")), _LONGEST_PART) for part in ("prefix", "pattern"))
    return f"{prefix} ▸{pattern}" if prefix else pattern


def question_of(prefix: str, pattern: str) -> str:
    """What a search asks, as a sentence, by the beginnings of its prefix and its pattern."""
    prefix, pattern = shortened(prefix, _LONGEST_PART), shortened(pattern, _LONGEST_PART)
    if prefix:
        return f"which texts that match {pattern.strip()} would it write after “{prefix}”?"
    return f"which texts that match {pattern.strip()} would it write?"
