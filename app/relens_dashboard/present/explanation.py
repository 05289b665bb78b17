"""The speaker's words about a finding, with its caveats.

    question, model       "The question: does what the model says depend on whom it speaks of? The answer is that of
    axes, colours          one language model, smollm2-135m. How to read the figure: from left to right: Share. Colours
    the figure's sentence  and shapes: man, woman. What to look at: ...
    caveats                What it does not show: what people are like, only what this model tends to write."

They are a draft, which a speaker edits.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from relens.counted import counted
from relens.query import Distribution, Sampling
from relens.runs.records import RunRecord

#: Most names of series in a sentence.
_MOST_NAMES = 6
#: Words of a sentence that limits what follows from the numbers of a verdict.
_RESTRAINT = re.compile(
    r"no proof|too few|no meaning|not finished|left out|cannot tell|remains open|unexplored|say little|"
    r"says little|does not give|do not decide|may still have|"
    r"does not mean|may be too low|may be more|candidates for|wide and|draws? (?:of a subject )?failed|are wide|"
    r"not as likely|not how likely|does not say|do not say|only (?:\d|a few)|not been asked|no conclusion|by chance",
    re.IGNORECASE,
)


def explanation(
    *,
    question: str,
    model: str,
    how: str = "",
    figure: go.Figure | None = None,
    look_at: str = "",
    also: Sequence[str] = (),
    not_shown: str = "",
) -> str:
    """The speaker's words, in paragraphs.

    question, how (the method), look_at (in the figure): sentences. also: further results. not_shown: what does not
    follow.
    """
    drawn = axes_sentence(figure) if figure is not None else ""
    parts = [
        f"The question: {question} The answer is that of one language model, {model}.",
        how,
        f"How to read the figure: {drawn}" if drawn else "",
        f"What to look at: {look_at}" if look_at else "",
        f"Further results: {' '.join(also)}" if also else "",
        f"What it does not show: {not_shown}" if not_shown else "",
    ]
    return "\n\n".join(part for part in parts if part)


def axes_sentence(figure: go.Figure) -> str:
    """The meaning of the axes and colours of a figure; "" for one without titles."""
    layout = figure.layout.to_plotly_json()
    parts = []
    for letter, direction in (("x", "From left to right"), ("y", "From bottom to top")):
        axes = [value for name, value in layout.items() if re.fullmatch(r"[xy]axis\d*", name) and name[0] == letter]
        titles = list(dict.fromkeys(plain(_title(axis)) for axis in axes if _title(axis)))
        if titles:
            upside = letter == "y" and any(axis.get("autorange") == "reversed" for axis in axes)
            parts.append(f"{'From top to bottom' if upside else direction}: {' and '.join(titles)}.")
        elif letter == "y" and any(axis.get("ticktext") is not None for axis in axes):
            parts.append("Each row has its label at its left.")
    names = [plain(str(trace.name)) for trace in figure.data if trace.name and trace.showlegend is not False]
    series = list(dict.fromkeys(name for name in names if name.strip()))
    if len(series) > 1:
        more = f", and {len(series) - _MOST_NAMES} more" if len(series) > _MOST_NAMES else ""
        parts.append(f"Colours and shapes: {', '.join(series[:_MOST_NAMES])}{more}.")
    if any(_has_intervals(trace) for trace in figure.data):
        parts.append("Thin lines around a value: in 95 of 100 such samples it lies within them.")
    return " ".join(parts)


def sentences_of(text: str) -> list[str]:
    """A text cut after each full stop that a new sentence follows."""
    return [part for part in re.split(r"(?<=[.!?]) (?=[A-Z“])", text.strip()) if part]


def plain(label: str) -> str:
    """A label of plotly as plain text: its tags and entities undone."""
    return " ".join(html.unescape(re.sub(r"<[^<>]*>", " ", label)).split())


def restraints(verdict: Iterable[str]) -> list[str]:
    """The sentences of a verdict that limit what follows from its numbers."""
    return [sentence for sentence in verdict if _RESTRAINT.search(sentence)]


def model_caveat(run: RunRecord) -> str:
    """One model was used, and its size where its name has it."""
    size = model_size(run.model)
    what = f"{run.model}, with {size} parameters" if size else run.model
    return f"The answer is that of one language model ({what}); another one may answer otherwise."


def model_size(name: str) -> str:
    """The number of parameters in the name of a model, "135 million"; "" without one."""
    known = {"gpt2": "124 million", "gpt2-medium": "355 million", "gpt2-large": "774 million", "gpt2-xl": "1.5 billion"}
    if name.lower() in known | {"distilgpt2": ""}:
        return known.get(name.lower(), "82 million")
    size = re.search(r"(?<![\w.])(\d+(?:\.\d+)?)([mb])(?![a-z0-9])", name.lower())
    return f"{size[1]} {'million' if size[2] == 'm' else 'billion'}" if size else ""


def decoding_caveat(specification: Mapping[str, Any]) -> str:
    """The decoding rule of the numbers; "" where the specification has none."""
    rule = specification.get("decoding")
    if not isinstance(rule, Mapping):
        return ""
    parts = []
    if rule.get("top_k"):
        most = int(rule["top_k"])
        parts.append("only the likeliest token" if most == 1 else f"only the {most:,} likeliest tokens")
    if rule.get("top_p"):
        parts.append(f"only the likeliest tokens that make up {100 * float(rule['top_p']):g} % of the probability")
    if float(rule.get("temperature") or 1.0) != 1.0:
        parts.append(f"a temperature of {float(rule['temperature']):g}")
    if not parts:
        return "The numbers are the model's own probabilities: no decoding rule cut any token."
    return f"The numbers hold for this decoding rule: at every step {' and '.join(parts)}."


def size_caveat(run: RunRecord) -> str:
    """The number of draws, and a sentence on a run that is not finished."""
    unfinished = (
        "It was pinned while the run was still going on, so it may have changed since."
        if run.is_live
        else ""
        if run.status == "done"
        else "The run ended before it was finished."
    )
    count = int(run.specification.get("traversal", {}).get("count", 0))
    drawn = int(run.progress.get("samples", 0)) if count else 0
    draws = f"It rests on {counted(drawn, 'draw')}." if drawn else ""
    return " ".join(part for part in (draws, unfinished) if part)


def search_how(kind: str) -> str:
    """The method of a search with this kind of traversal, for people who do not program."""
    if kind == Sampling.kind:
        return (
            "The model wrote texts of the pattern by chance, again and again, and these were counted; the numbers "
            "include how likely the model is to stay inside the pattern."
        )
    if kind == Distribution.kind:
        return "All texts of the pattern were listed, the likeliest first, until next to nothing was left."
    return "The texts of the pattern were listed, the likeliest first, without chance."


def _has_intervals(trace: Any) -> bool:
    bars = [trace[kind].array for kind in ("error_x", "error_y") if kind in trace]
    return any(array is not None and any(length for length in array) for array in bars)


def _title(axis: Mapping[str, Any]) -> str:
    title = axis.get("title")
    return str(title.get("text") or "") if isinstance(title, Mapping) else str(title or "")
