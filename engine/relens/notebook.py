"""HTML for notebooks: settings of a query, scores of a match, the account of a run, drawings of automata.

    Query("(cat|dog)", prefix="I have a ")      pattern   (cat|dog)
                                                prefix    I␣have␣a␣
    Match                                       I have a cat    P 0.00032    log P -8.05

Patterns, texts and tokens are untrusted: all of it is escaped, and a drawing is an image, in which nothing runs and
whose style does not reach the notebook. `table` makes many matches one pandas table.
"""

from __future__ import annotations

import base64
import dataclasses
import html
import math
from collections.abc import Iterable, Mapping
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from relens.pictures.drawing import join_chains, nearest, standalone_svg
from relens.pictures.graphs import Graph, language_graph, token_graph
from relens.pictures.labels import visible
from relens.query import Query
from relens.record import Record, plain
from relens.search_run import SearchRun
from relens.tokens.compiled import CompiledQuery
from relens.traversal.results import Match

if TYPE_CHECKING:
    import pandas as pd

#: States in a drawing.
_STATES = 40


@singledispatch
def html_of(thing: object) -> str:
    """What a notebook shows of `thing`."""
    return f"<pre>{html.escape(repr(thing))}</pre>"


@html_of.register
def _query(query: Query) -> str:
    return _table({name.replace("_", " "): _setting(value) for name, value in _chosen(query).items()})


@html_of.register
def _match(match: Match) -> str:
    rest = match.text[len(match.prefix_text) :]
    text = f'<span style="opacity:.6">{_visible(match.prefix_text)}</span><b>{_visible(rest)}</b>'
    return _table(_scores(match) | {name: visible(value or "") for name, value in match.groups.items()}, first=text)


@html_of.register
def _run(run: SearchRun) -> str:
    progress = run.progress
    low, high = progress.found_mass, progress.found_mass + progress.remaining_mass
    account = {
        "matches": f"{progress.matches:,}",
        "expansions": f"{progress.expansions:,} in {progress.forwards:,} forwards",
        "seconds": f"{progress.seconds_total:.1f}, {progress.seconds_model:.1f} of them in the model",
        "output begins with a match": f"probability {low:.3g} to {min(high, 1.0):.3g}",
        "ended": progress.ended or "not yet: iterate over the run",
    }
    return html_of(run.compiled.query) + _table(account)


@html_of.register
def _compiled(compiled: CompiledQuery) -> str:
    sizes = compiled.sizes
    strings = "no end of them, or not counted" if sizes.strings is None else f"{sizes.strings:,}"
    states = "made as a search reaches them" if sizes.token_states is None else f"{sizes.token_states:,}"
    language = join_chains(language_graph(compiled.language.whole, _STATES))
    tokens = join_chains(token_graph(compiled.automaton, compiled.tokenizer, _STATES), " ")
    return "".join(
        [
            _table(
                {"strings": strings, "states over bytes": f"{sizes.language_states:,}", "states over tokens": states}
            ),
            _drawing(language, "Over characters"),
            _drawing(tokens, "Over tokens"),
            *(f"<p>{html.escape(note)}</p>" for note in compiled.notes),
        ]
    )


def table(matches: Iterable[Match]) -> pd.DataFrame:
    """The matches as a table of pandas, one a row: text, scores in nats, whether it is canonical, and its groups.

    A run is consumed by it; a list is not.
    """
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "text": match.text,
                "probability": math.exp(match.log_prob),
                "log_prob": match.log_prob,
                "decoder_log_prob": match.decoder_log_prob,
                "prefix_log_prob": match.prefix_log_prob,
                "is_canonical": match.is_canonical,
                "count": match.count,
                "weight": match.weight,
                **match.groups,
            }
            for match in matches
        ]
    )


def _scores(match: Match) -> dict[str, str]:
    scores = {
        "P": f"{math.exp(match.log_prob):.3g}",
        "log P": f"{match.log_prob:.3f}",
        "encoding": "canonical" if match.is_canonical else "not canonical",
    }
    if match.decoder_log_prob != match.log_prob:
        scores["log P of the decoder"] = f"{match.decoder_log_prob:.3f}"
    if match.count > 1:
        scores["draws"] = f"{match.count:,}"
    if match.edits:
        scores["edits"] = ", ".join(f"{edit.operation} at {edit.position}" for edit in match.edits)
    return scores


def _chosen(record: Record) -> dict[str, Any]:
    """The fields that differ from their defaults."""
    values = {field: getattr(record, field.name) for field in dataclasses.fields(record)}  # type: ignore[arg-type]
    return {field.name: value for field, value in values.items() if value != _default(field)}


def _default(field: dataclasses.Field[Any]) -> Any:
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default


def _setting(value: Any) -> str:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Record):
        return ", ".join(f"{name} {_setting(chosen)}" for name, chosen in _chosen(value).items())
    return str(plain(value))


def _visible(text: str) -> str:
    return html.escape(visible(text))


def _table(rows: Mapping[str, str], first: str = "") -> str:
    """Names and values, a row each; `first`: HTML of a row before them."""
    head = f'<tr><td colspan="2" style="text-align:left"><code>{first}</code></td></tr>' if first else ""
    body = "".join(
        f'<tr><th style="text-align:left">{html.escape(name)}</th>'
        f'<td style="text-align:left"><code>{html.escape(value)}</code></td></tr>'
        for name, value in rows.items()
    )
    return f"<table>{head}{body}</table>"


def _drawing(graph: Graph, title: str) -> str:
    drawn = nearest(graph, _STATES)
    svg = standalone_svg(drawn)
    if svg is None:
        return f"<p>{html.escape(title)}: not drawn, because Graphviz is not installed.</p>"
    data = base64.b64encode(svg.encode()).decode()
    note = f" {drawn.note}" if drawn.note else ""
    return (
        f"<figure><figcaption>{html.escape(title + '.' + note)}</figcaption>"
        f'<img alt="{html.escape(title)}: an automaton of {len(drawn.arcs)} arcs" style="max-width:100%" '
        f'src="data:image/svg+xml;base64,{data}"></figure>'
    )
