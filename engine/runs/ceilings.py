"""The most that a run of the store may use, whoever describes it.

    a file of a run says       Limits(compile_seconds=1e6, compile_bytes=12 << 30, seconds=None)
    the store keeps            Limits(compile_seconds=10,  compile_bytes=2 << 30,  seconds=3600)

A run reaches a worker by a form, a link, an imported file, a repetition, or from a store that an earlier version or
another program wrote. All of them pass `within_ceilings`: when a run is queued, when a file is taken in, and when a
worker begins. From Python and from the command line nothing passes here: whoever runs a program may use their machine.

A number above its ceiling becomes the ceiling, and a limit that is off becomes the ceiling too. How long texts and
lists may be is in `engine.runs.sizes`; how many units a study may have, in `engine.studies.study`.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from engine.query import Limits, Query, Sampling, Traversal
from engine.runs.specification import SearchSpecification, Specification, StudySpecification
from engine.studies.study import Study

#: Of a search. What bounds compilation is what `Limits` says anyway: no form offers more.
CEILINGS = Limits(matches=100_000, expansions=1_000_000, seconds=3_600.0)

#: Tokens of the longest match, and draws of a sample.
MOST_TOKENS, MOST_DRAWS = 2_048, 100_000


def within_ceilings(specification: Specification) -> Specification:
    """The specification with no number above its ceiling; itself where none is. Raises what its parts raise."""
    if isinstance(specification, SearchSpecification):
        return dataclasses.replace(
            specification,
            query=_query(specification.query),
            traversal=_traversal(specification.traversal),
            limits=_limits(specification.limits, specification.traversal),
        )
    if isinstance(specification, StudySpecification):
        return dataclasses.replace(specification, study=_study(specification.study))
    return specification


def _limits(limits: Limits, traversal: Traversal) -> Limits:
    values: dict[str, Any] = {}
    for item in dataclasses.fields(Limits):
        ceiling, value = getattr(CEILINGS, item.name), getattr(limits, item.name)
        # A sample ends when it is drawn: the number of its matches is no limit of it.
        is_idle = item.name == "matches" and isinstance(traversal, Sampling)
        values[item.name] = value if is_idle else ceiling if value is None else min(value, ceiling)
    return Limits(**values)


def _query(query: Query) -> Query:
    return dataclasses.replace(query, max_tokens=min(query.max_tokens, MOST_TOKENS))


def _traversal(traversal: Traversal) -> Traversal:
    if isinstance(traversal, Sampling):
        return dataclasses.replace(traversal, count=min(traversal.count, MOST_DRAWS))
    return traversal


def _study(study: Study) -> Study:
    above: dict[str, Any] = {}
    for name, ceiling in study.ceilings.items():
        value = getattr(study, name)
        if value is not None and value > ceiling:
            above[name] = type(value)(ceiling)
    changed: Study = dataclasses.replace(study, **above) if above else study  # type: ignore[type-var]
    return changed
