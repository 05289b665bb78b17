"""The most that a run of the store may use, whoever describes it.

    a file of a run says       Limits(compile_seconds=1e6, compile_bytes=12 << 30, seconds=None)
    the store keeps            Limits(compile_seconds=10,  compile_bytes=2 << 30,  seconds=3600)

A run reaches a worker by a form, a link, an imported file, a repetition, or from a store that an earlier version or
another program wrote. All of them pass `within_ceilings`: when a run is queued, when a file is taken in, and when a
worker begins. From Python and from the command line nothing passes here: whoever runs a program may use their machine.

A number above the ceiling of its setting (`engine.setting`) becomes the ceiling, and a limit of a search that is off
becomes the ceiling too. How long texts and lists may be is in `engine.runs.sizes`; how many units a study may have, in
`engine.studies.study`.
"""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

from engine.query import Limits, Sampling, Traversal
from engine.record import Record
from engine.runs.specification import SearchSpecification, Specification, StudySpecification
from engine.setting import ceilings_of

_Record = TypeVar("_Record", bound=Record)

#: Of a search: the most of each limit.
CEILINGS = Limits.from_json(ceilings_of(Limits))


def within_ceilings(specification: Specification) -> Specification:
    """The specification with no number above its ceiling; itself where none is. Raises what its parts raise."""
    if isinstance(specification, SearchSpecification):
        return dataclasses.replace(
            specification,
            query=_within(specification.query),
            traversal=_within(specification.traversal),
            limits=_limits(specification.limits, specification.traversal),
        )
    if isinstance(specification, StudySpecification):
        return dataclasses.replace(specification, study=_within(specification.study))
    return specification


def _limits(limits: Limits, traversal: Traversal) -> Limits:
    off = {name: getattr(CEILINGS, name) for name in ceilings_of(Limits) if getattr(limits, name) is None}
    within = _within(dataclasses.replace(limits, **off))
    # A sample ends when it is drawn: the number of its matches is no limit of it.
    return dataclasses.replace(within, matches=limits.matches) if isinstance(traversal, Sampling) else within


def _within(record: _Record) -> _Record:
    """The record with the settings of its own, and of the records in it, at their ceilings where they are above."""
    ceilings, changed = ceilings_of(type(record)), dict[str, Any]()
    for item in dataclasses.fields(record):  # type: ignore[arg-type]
        value = getattr(record, item.name)
        if isinstance(value, Record):
            inner = _within(value)
            changed |= {item.name: inner} if inner != value else {}
        elif value is not None and item.name in ceilings and value > ceilings[item.name]:
            changed[item.name] = type(value)(ceilings[item.name])
    return dataclasses.replace(record, **changed) if changed else record  # type: ignore[type-var]
