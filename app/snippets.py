"""The same question in Python and in a terminal.

What somebody set up by clicking should be easy to carry on with elsewhere, so each snippet is complete, says only
what differs from the defaults, and is what one would write by hand. Tests run the Python one and parse the other.
"""

from __future__ import annotations

import dataclasses
import shlex

from engine.query import Boundary, Decoding, Encoding, Limits, Query
from engine.runs.specification import SearchSpecification


def as_python(specification: SearchSpecification) -> str:
    """A script that prints the matches of `specification`."""
    query, traversal = specification.query, specification.traversal
    names = ["Limits", "Query", "ShortestPath", "load_model", "search"]
    arguments = [f"prefix={_literal(query.prefix)}"] if query.prefix else []
    arguments.append(f"pattern={_literal(query.pattern)}")
    for name, kind in (("encoding", Encoding), ("prefix_encoding", Encoding), ("boundary", Boundary)):
        value = getattr(query, name)
        if value is not _default(Query, name):
            arguments.append(f"{name}={kind.__name__}.{value.name}")
            names.append(kind.__name__)
    if query.decoding != Decoding():
        arguments.append(f"decoding=Decoding({_differences(query.decoding)})")
        names.append("Decoding")
    for name in ("begin_of_text", "end_of_text", "max_tokens"):
        if getattr(query, name) != _default(Query, name):
            arguments.append(f"{name}={getattr(query, name)!r}")
    body = "".join(f"    {argument},\n" for argument in arguments)
    limits = _differences(specification.limits)
    return (
        f"from engine import {', '.join(sorted(set(names)))}\n\n"
        f"query = Query(\n{body})\n"
        f"model = load_model({specification.model!r})\n"
        f"run = search(model, query, ShortestPath(rank={traversal.rank!r}), Limits({limits}))\n"
        "for match in run:\n"
        "    print(match.text, match.decoder_log_prob)\n"
    )


def as_command(specification: SearchSpecification) -> str:
    """A command line that prints the matches of `specification`."""
    query, limits = specification.query, specification.limits
    words = ["python", "-m", "engine", query.pattern]
    if query.pattern.startswith("-"):
        words = ["python", "-m", "engine"]
    if query.prefix:
        words += _option("prefix", query.prefix)
    if specification.model:
        words += _option("model", specification.model)
    words += _option("encoding", query.encoding.value) if query.encoding is not Encoding.ALL else []
    if query.prefix_encoding is not Encoding.CANONICAL or query.boundary is Boundary.FREE:
        words += _option("prefix-encoding", query.prefix_encoding.value)
    words += _option("boundary", query.boundary.value) if query.boundary is not Boundary.TOKEN else []
    if query.decoding.top_k is not None:
        words += _option("top-k", str(query.decoding.top_k))
    if query.decoding.top_p is not None:
        words += _option("top-p", repr(query.decoding.top_p))
    if query.decoding.temperature != 1.0:
        words += _option("temperature", repr(query.decoding.temperature))
    if query.begin_of_text is not None:
        words += ["--begin-of-text" if query.begin_of_text else "--no-begin-of-text"]
    words += ["--end-of-text"] if query.end_of_text else []
    if query.max_tokens != _default(Query, "max_tokens"):
        words += _option("max-tokens", str(query.max_tokens))
    words += _option("rank", specification.traversal.rank)
    for name in ("matches", "seconds", "expansions"):
        value = getattr(limits, name)
        # A terminal is given fewer matches than `Limits` allows, so their number is always said.
        if value is not None and (name == "matches" or value != _default(Limits, name)):
            words += _option(name, f"{value:g}" if isinstance(value, float) else str(value))
    if query.pattern.startswith("-"):
        words += ["--", query.pattern]
    return shlex.join(words)


def _option(name: str, value: str) -> list[str]:
    # A value that begins with a dash would be taken for an option of its own.
    return [f"--{name}={value}"] if value.startswith("-") else [f"--{name}", value]


def _literal(text: str) -> str:
    """A Python literal of `text`: raw and double-quoted where that is possible, since it is a regular expression."""
    plain = text.isprintable() and '"' not in text and not text.endswith("\\")
    return f'r"{text}"' if plain and "\\" in text else repr(text)


def _differences(record: Decoding | Limits) -> str:
    untouched = type(record)()
    return ", ".join(
        f"{item.name}={getattr(record, item.name)!r}"
        for item in dataclasses.fields(record)
        if getattr(record, item.name) != getattr(untouched, item.name)
    )


def _default(record: type, name: str) -> object:
    (found,) = (item.default for item in dataclasses.fields(record) if item.name == name)
    return found
