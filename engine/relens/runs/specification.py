"""The specification of a run, as data: everything needed to repeat it, and nothing about how it went.

    SearchSpecification(model="smollm2-135m", query=Query(prefix="The", pattern=" ((cat)|(dog))"))

becomes a JSON object with a `kind`, is kept with its run, and comes back equal:

    {"kind": "search", "model": "smollm2-135m", "query": {...}, "traversal": {"kind": "sampling", ...}, "limits": {...}}

A page writes it, a worker in another process reads it, and years later `repeat` submits it once more. So every reading
checks it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from relens.errors import QueryError
from relens.query import Decoding, Limits, Query, ShortestPath, Traversal
from relens.record import Record
from relens.runs.sizes import check_sizes
from relens.studies.study import Study


@dataclass(frozen=True)
class SearchSpecification(Record):
    """A search of `query` by `traversal`, within `limits`.

    Its rows are `relens.traversal.results.Match` as JSON, each written once and final; a sample has one row for each
    distinct token sequence, with its number of draws. Its progress is `Progress` as JSON. A traversal without a kind is
    a `ShortestPath`, as in the oldest runs.
    """

    kind: ClassVar[str] = "search"

    model: str
    query: Query
    traversal: Traversal = field(default_factory=ShortestPath)
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        _check_model(self.model)


@dataclass(frozen=True)
class InspectSpecification(Record):
    """The probabilities of each token of one sequence (begin and end of text not included).

    Its rows are the readings of `relens.models.inspect`, one a token, in order. A worker carries it out between the
    batches of a long search with the same model, so that opening a match does not wait.
    """

    kind: ClassVar[str] = "inspect"

    model: str
    token_ids: tuple[int, ...]
    begin_of_text: bool | None = None
    decoding: Decoding = field(default_factory=Decoding)

    def __post_init__(self) -> None:
        _check_model(self.model)
        if not self.token_ids:
            raise QueryError("There is no token to inspect.")
        if min(self.token_ids) < 0:
            raise QueryError(f"A token id is at least 0, not {min(self.token_ids)}.")


@dataclass(frozen=True)
class StudySpecification(Record):
    """A study of `model`: its units of work, one after the other.

    Its rows are those of `relens.studies.study`; its progress is `StudyProgress` as JSON. A run that was cut short can
    be resumed: finished units are not done again.
    """

    kind: ClassVar[str] = "study"

    model: str
    study: Study

    def __post_init__(self) -> None:
        _check_model(self.model)


Specification = SearchSpecification | InspectSpecification | StudySpecification

_KINDS: dict[str, type[Specification]] = {
    SearchSpecification.kind: SearchSpecification,
    InspectSpecification.kind: InspectSpecification,
    StudySpecification.kind: StudySpecification,
}


def specification_to_json(specification: Specification) -> dict[str, Any]:
    """The specification as a JSON object: its `kind`, then its fields."""
    return specification.to_json()


def specification_from_json(data: Mapping[str, Any]) -> Specification:
    """The specification back from `specification_to_json`.

    Raises `LimitError` for one that is too large (`relens.runs.sizes`), before anything is made of it, and `QueryError`
    for an unknown kind, an unknown field, or a value without meaning.
    """
    if not isinstance(data, Mapping):
        raise QueryError(f"A run is described by a JSON object, not by {type(data).__name__}.")
    check_sizes(data)
    kind = data.get("kind")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise QueryError(f"A run is one of {', '.join(map(repr, _KINDS))}, not {repr(kind)[:40]}.")
    return _KINDS[kind].from_json(data)


def _check_model(name: str) -> None:
    if not name.strip():
        raise QueryError("A run needs the name of a model.")
