"""The named groups that a query's regular expressions have."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from engine.errors import QueryError
from engine.language.syntax import parse_regex
from engine.language.tree import Group, Node
from engine.query import Limits, Query


def group_names(query: Query, limits: Limits | None = None) -> tuple[str, ...]:
    """The names in the order of prefix and pattern. Raises `RegexError` for an expression that is malformed."""
    names: list[str] = []
    waiting = [parse_regex(query.pattern, limits), parse_regex(query.prefix, limits, "prefix")]
    while waiting:
        node = waiting.pop()
        names += [node.name] if isinstance(node, Group) and node.name else []
        values = [getattr(node, item.name) for item in dataclasses.fields(node)]
        below = [part for value in values for part in (value if isinstance(value, tuple) else (value,))]
        waiting += [part for part in reversed(below) if isinstance(part, Node)]
    return tuple(names)


def check_groups(wanted: Sequence[str], query: Query, limits: Limits) -> None:
    """Raise `QueryError` for a name that is of none of the query's groups."""
    names = group_names(query, limits) if wanted else ()
    for name in wanted:
        if name not in names:
            there = f"its named groups are {', '.join(names)}" if names else "it has no named groups, as (?P<name>...)"
            raise QueryError(f"The query has no group called {name!r}; {there}.")
