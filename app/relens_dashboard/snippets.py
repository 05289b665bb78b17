"""The same question in Python and in a terminal.

A query made on the page can be continued elsewhere. Each snippet is complete, has only values that differ from the
defaults, and looks hand-written. Tests run the Python one and parse the other.
"""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Sequence

from relens.command_line.parser import BEST_MATCHES
from relens.language.group_names import group_names
from relens.query import Boundary, Distribution, Encoding, Limits, Query, Sampling, ShortestPath
from relens.record import Record
from relens.runs.specification import SearchSpecification


def as_python(specification: SearchSpecification) -> str:
    """A script that prints the matches; of a sample or a distribution, the shares of groups too."""
    query, traversal, limits = specification.query, specification.traversal, specification.limits
    names = {"Query", "load_model", "search", type(traversal).__name__}
    arguments = [f"prefix={_literal(query.prefix)}"] if query.prefix else []
    arguments.append(f"pattern={_literal(query.pattern)}")
    for name in ("encoding", "prefix_encoding", "boundary"):
        value = getattr(query, name)
        if value is not _default(Query, name):
            arguments.append(f"{name}={type(value).__name__}.{value.name}")
            names.add(type(value).__name__)
    for name in ("edits", "exclude", "decoding"):
        record = getattr(query, name)
        # Without edits, the other settings of edits have no effect.
        if record != type(record)() and (name == "decoding" or record):
            arguments.append(f"{name}={_built(record)}")
            names.add(type(record).__name__)
    for name in ("begin_of_text", "end_of_text", "max_tokens"):
        if getattr(query, name) != _default(Query, name):
            arguments.append(f"{name}={getattr(query, name)!r}")
    arguments_of_search = ["model", "query", _built(traversal)]
    if limits != Limits():
        arguments_of_search.append(_built(limits))
        names.add("Limits")
    groups = () if isinstance(traversal, ShortestPath) else group_names(query.prefix, query.pattern)
    modules = ["import math"] if isinstance(traversal, Distribution) else []
    modules += ["from collections import Counter"] if groups else []
    return "\n".join(
        [
            *modules,
            *([""] if modules else []),
            f"from relens import {', '.join(sorted(names))}",
            "",
            "query = Query(",
            *(f"    {argument}," for argument in arguments),
            ")",
            f"model = load_model({specification.model!r})",
            f"run = search({', '.join(arguments_of_search)})",
            *_loop(traversal, groups),
            "",
        ]
    )


def _loop(traversal: Record, groups: Sequence[str]) -> list[str]:
    """The lines that print the matches, with the numbers of this traversal."""
    shown = "match.text, match.decoder_log_prob"
    if isinstance(traversal, Sampling):
        shown = "match.text, match.count, match.weight"
    elif isinstance(traversal, Distribution):
        shown = "match.text, math.exp(match.decoder_log_prob)"
    lines = ["for match in run:", f"    print({shown})"]
    if not groups:
        return lines
    values = ", ".join(f"match.groups[{name!r}]" for name in groups)
    return [
        "shares = Counter()",
        *lines,
        f"    shares[{values}] += match.count * match.weight",
        "for values, share in shares.most_common():",
        "    print(values, share / shares.total())",
    ]


def as_command(specification: SearchSpecification) -> str:
    """A command line that prints the matches; of a sample or a distribution, the shares of groups too."""
    query = specification.query
    words = ["relens", "query"]
    words += [] if query.pattern.startswith("-") else [query.pattern]
    words += _option("prefix", query.prefix) if query.prefix else []
    words += _option("model", specification.model)
    words += _option("encoding", query.encoding.value) if query.encoding is not Encoding.ALL else []
    if query.prefix_encoding is not Encoding.CANONICAL or query.boundary is Boundary.FREE:
        words += _option("prefix-encoding", query.prefix_encoding.value)
    words += _option("boundary", query.boundary.value) if query.boundary is not Boundary.TOKEN else []
    words += _edit_options(query) + _exclude_options(query)
    if query.decoding.top_k is not None:
        words += _option("top-k", str(query.decoding.top_k))
    if query.decoding.top_p is not None:
        words += _option("top-p", repr(query.decoding.top_p))
    if query.decoding.temperature != 1.0:
        words += _option("temperature", repr(query.decoding.temperature))
    if query.begin_of_text is not None:
        words += [_switch("begin-of-text", query.begin_of_text)]
    words += ["--end-of-text"] if query.end_of_text else []
    if query.max_tokens != _default(Query, "max_tokens"):
        words += _option("max-tokens", str(query.max_tokens))
    words += _traversal_options(specification) + _limit_options(specification)
    words += ["--", query.pattern] if query.pattern.startswith("-") else []
    return shlex.join(words)


def _edit_options(query: Query) -> list[str]:
    words: list[str] = []
    if query.edits:
        for name, value in _differences(query.edits).items():
            option = {"distance": "edits", "where": "edit-where", "alphabet": "edit-alphabet"}.get(name, name)
            words += [_switch(option, value)] if isinstance(value, bool) else _option(option, str(value))
    return words


def _exclude_options(query: Query) -> list[str]:
    words = _option("exclude", query.exclude.regex) if query.exclude.regex else []
    for word in query.exclude.words:
        words += _option("exclude-word", word)
    return words + (["--exclude-stop-words"] if query.exclude.stop_words else [])


def _traversal_options(specification: SearchSpecification) -> list[str]:
    traversal = specification.traversal
    if isinstance(traversal, ShortestPath):
        return _option("rank", traversal.rank) if traversal != ShortestPath() else []
    words = _option("traversal", traversal.kind)
    for name, value in _differences(traversal).items():
        words += _option("samples" if name == "count" else name.replace("_", "-"), str(value))
    for group in group_names(specification.query.prefix, specification.query.pattern):
        words += _option("by", group)
    return words


def _limit_options(specification: SearchSpecification) -> list[str]:
    limits, words = specification.limits, []
    is_best_first = isinstance(specification.traversal, ShortestPath)
    # A terminal is given fewer matches than `Limits` allows.
    terminal = dataclasses.replace(Limits(), matches=BEST_MATCHES if is_best_first else None)
    names = ["seconds", "expansions"]
    names += ["matches"] if not isinstance(specification.traversal, Sampling) else []
    names += ["prefixes"] if isinstance(specification.traversal, Distribution) else []
    for name in names:
        value = getattr(limits, name)
        if value != getattr(terminal, name):
            words += _option(name, "none" if value is None else _number(value))
    return words


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


def _option(name: str, value: str) -> list[str]:
    # A value that begins with a dash would be taken for an option of its own.
    return [f"--{name}={value}"] if value.startswith("-") else [f"--{name}", value]


def _switch(name: str, is_on: bool) -> str:
    return f"--{name}" if is_on else f"--no-{name}"


def _literal(text: str) -> str:
    """A Python literal of `text`: raw and double-quoted where possible, since it is a regular expression."""
    plain = text.isprintable() and '"' not in text and not text.endswith("\\")
    return f'r"{text}"' if plain and "\\" in text else repr(text)


def _built(record: Record) -> str:
    """The Python expression of the record, with the values that differ from the defaults."""
    arguments = (
        f"{name}={_literal(value) if isinstance(value, str) else repr(value)}"
        for name, value in _differences(record).items()
    )
    return f"{type(record).__name__}({', '.join(arguments)})"


def _differences(record: Record) -> dict[str, object]:
    untouched = type(record)()
    return {
        item.name: getattr(record, item.name)
        for item in dataclasses.fields(record)  # type: ignore[arg-type]
        if getattr(record, item.name) != getattr(untouched, item.name)
    }


def _default(record: type, name: str) -> object:
    (default,) = (item.default for item in dataclasses.fields(record) if item.name == name)
    return default
