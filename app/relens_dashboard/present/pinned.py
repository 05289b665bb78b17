"""A figure of a study, or a chart of a search, as a finding with its words.

headline     the verdict's first sentence
sentence     the figure's own
caveats      the verdict's restraints, the view's notice, the model, the decoding rule
"""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from relens.counted import counted
from relens.query import Query
from relens.runs.records import RunRecord
from relens.studies.study import Study
from relens_dashboard.charts import Chart
from relens_dashboard.narrative import probability_text, traversal_kind
from relens_dashboard.present.explanation import (
    decoding_caveat,
    explanation,
    model_caveat,
    restraints,
    search_how,
    sentences_of,
    size_caveat,
)
from relens_dashboard.present.finding import Finding
from relens_dashboard.studies.view import Figure
from relens_dashboard.study_narrative import units_sentence
from relens_dashboard.text import shortened

#: Most further sentences of a verdict in the speaker's notes.
_ALSO = 6
#: Most characters of a prefix or a pattern.
_LONGEST_PART = 250


def study_finding(run: RunRecord, study: Study, figure: Figure, verdict: Sequence[str], notice: str) -> Finding:
    """One figure of a study's run. notice: of the study's view."""
    headline = [*sentences_of(verdict[0])[:2]] if verdict else []
    shown = sentences_of(figure.sentence)[:1]
    careful = restraints(verdict[1:])
    also = [sentence for sentence in verdict[1:] if sentence not in careful][:_ALSO]
    rule = decoding_caveat(run.specification.get("study", {}))
    rows = f"It rests on {counted(run.row_count, 'row')} of results, {units_sentence(run)}." if run.row_count else ""
    caveats = [*careful[:2], notice, model_caveat(run), " ".join(part for part in (rule, size_caveat(run)) if part)]
    return Finding(
        title=figure.title,
        sentences=list(dict.fromkeys([*headline, *shown])),
        caveats=caveats,
        explanation=explanation(
            question=study.question,
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
    run: RunRecord, name: str, chart: Chart, conclusions: Sequence[str], basis: Sequence[str], mass: str, best: str = ""
) -> Finding:
    """One chart of a search, called `name` on its page. basis: sentences on the draws behind the conclusions.

    mass: a sentence on the mass of the matches. best: one on the likeliest text, where the chart is of that.
    """
    query = run.specification.get("query", {})
    question = question_of(str(query.get("prefix", "")), str(query.get("pattern", "")))
    sentences = [sentence for sentence in (best, *conclusions, mass) if sentence] or [chart.alt]
    careful = [sentence for sentence in basis if sentence]
    return Finding(
        title=f"{name}: {query_text(query)}",
        sentences=list(dict.fromkeys([*sentences[:2], chart.alt])),
        caveats=[*careful[:2], model_caveat(run), decoding_caveat(query), size_caveat(run)],
        explanation=explanation(
            question=question,
            model=run.model,
            how=search_how(traversal_kind(run)),
            figure=chart.figure,
            look_at=chart.alt,
            also=[*sentences[2:], *careful],
            not_shown=_NOT_SHOWN,
        ),
        figure=chart.figure,
        alt=chart.alt,
        source={"page": "workbench", "run": run.id, "label": f"Search, {run.model}", "figure": name},
    )


_NOT_SHOWN = (
    "Texts outside the pattern, which the model might write too. Whether a text is true: its probability says nothing "
    "of that."
)


def automaton_finding(query: Query, model: str, title: str, sizes: str, svg: str, note: str) -> Finding:
    """A picture of an automaton of a query. note: what is not drawn of it, "" for nothing."""
    text = query_text(query.to_json())
    return Finding(
        title=title,
        sentences=[text, f"{sizes}."],
        caveats=[sentence for sentence in (note and f"{note[:1].upper()}{note[1:].rstrip('.')}.",) if sentence],
        explanation=explanation(
            question=f"which texts does the regular expression {text} allow?",
            model=model,
            how="An automaton reads a text from left to right: circles are its states, arrows the characters or tokens "
            "that may come next.",
            look_at="Follow the arrows from the filled circle. Each path to a double circle spells an allowed text.",
            not_shown="How likely any of these texts is: the automaton has only the allowed texts.",
        ),
        figure=svg,
        alt=f"{title}: {sizes}",
        source={"page": "workbench", "label": f"{title} for {model}", "query": text},
    )


def page_finding(
    title: str,
    sentences: Sequence[str],
    figure: go.Figure | str | None,
    alt: str,
    *,
    page: str,
    question: str,
    model: str,
    look_at: str = "",
    not_shown: str = "",
    run: str = "",
) -> Finding:
    """A finding of a lesson or a comparison. sentences: the first is the headline. question: as a sentence."""
    return Finding(
        title=title,
        sentences=[sentence for sentence in sentences if sentence],
        caveats=[not_shown] if not_shown else [],
        explanation=explanation(
            question=question,
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
    """The likeliest of these texts, in a sentence; "" without a text."""
    if not len(texts):
        return ""
    best = max(range(len(texts)), key=lambda place: probabilities[place])
    likely = probability_text(probabilities[best])
    return f"The likeliest is “{shortened(texts[best], 80)}”, with a probability of {likely}."


def query_text(query: object) -> str:
    """The beginnings of prefix and pattern with a mark between them."""
    described = query if isinstance(query, dict) else {}
    prefix, pattern = (shortened(str(described.get(part, "")), _LONGEST_PART) for part in ("prefix", "pattern"))
    return f"{prefix} ▸{pattern}" if prefix else pattern


def question_of(prefix: str, pattern: str) -> str:
    """The question of a search, by the beginnings of its prefix and its pattern."""
    prefix, pattern = shortened(prefix, _LONGEST_PART), shortened(pattern, _LONGEST_PART)
    if prefix:
        return f"which texts that match {pattern.strip()} would it write after “{prefix}”?"
    return f"which texts that match {pattern.strip()} would it write?"
