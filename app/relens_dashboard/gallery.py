"""The example gallery: queries from `assets/gallery.json`, checked as they are read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from relens.assets import ASSETS
from relens.errors import QueryError
from relens.query import Limits, Query, Traversal
from relens.runs.specification import SearchSpecification

GALLERY_FILE = ASSETS / "gallery.json"


@dataclass(frozen=True)
class Example:
    """One card: the question in plain words, why it is interesting, and the query.

    matches: the limit of a best-first search; None for a sample or a distribution, which end by themselves.
    """

    id: str
    title: str
    question: str
    why: str
    topic: str
    query: Query
    traversal: Traversal
    matches: int | None

    def specification(self, model: str) -> SearchSpecification:
        """The example as a run of `model`."""
        return SearchSpecification(model, self.query, self.traversal, Limits(matches=self.matches))


def load_gallery(path: Path = GALLERY_FILE) -> tuple[Example, ...]:
    """The examples in the order of the file. Raises `QueryError` with the id of a wrong example."""
    examples = []
    for entry in json.loads(path.read_text(encoding="utf-8")):
        try:
            specification = SearchSpecification.from_json(
                {
                    "model": "any",
                    "query": entry["query"],
                    "traversal": entry["traversal"],
                    "limits": {"matches": entry.get("matches")},
                }
            )
            examples.append(
                Example(
                    id=entry["id"],
                    title=entry["title"],
                    question=entry["question"],
                    why=entry["why"],
                    topic=entry["topic"],
                    query=specification.query,
                    traversal=specification.traversal,
                    matches=specification.limits.matches,
                )
            )
        except (QueryError, KeyError) as error:
            raise QueryError(f"The example {entry.get('id', '?')!r} of {path.name} is wrong: {error}") from error
    return tuple(examples)
