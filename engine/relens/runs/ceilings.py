"""The most that a run of the store may use.

    a file of a run says       Limits(compile_seconds=1e6, compile_bytes=12 << 30, seconds=None)
    the store keeps            Limits(compile_seconds=10,  compile_bytes=2 << 30,  seconds=3600)

A run comes from a form, a link, an imported file, a repetition, or a store that an earlier version or another program
wrote. Each passes `within_ceilings` when it is queued, when a file is imported, and when a worker begins. Python and
the command line have no ceilings: people may use their own machine.

A number above the ceiling of its setting (`relens.setting`) becomes the ceiling, and so does a limit that is off. The
lengths of texts and lists are bounded in `relens.runs.sizes`, the units of a study in `relens.studies.study`.
"""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

from relens.query import Limits, Sampling, Traversal
from relens.record import Record
from relens.runs.specification import SearchSpecification, Specification, StudySpecification
from relens.setting import ceilings_of

_Record = TypeVar("_Record", bound=Record)

#: The ceilings of a search's limits.
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
    # A sample ends with its last draw: a number of matches does not limit it.
    return dataclasses.replace(within, matches=limits.matches) if isinstance(traversal, Sampling) else within


def _within(record: _Record) -> _Record:
    """The record with its settings, and those of the records in it, clamped to their ceilings."""
    ceilings, changed = ceilings_of(type(record)), dict[str, Any]()
    for item in dataclasses.fields(record):  # type: ignore[arg-type]
        value = getattr(record, item.name)
        if isinstance(value, Record):
            inner = _within(value)
            changed |= {item.name: inner} if inner != value else {}
        elif value is not None and item.name in ceilings and value > ceilings[item.name]:
            changed[item.name] = type(value)(ceilings[item.name])
    return dataclasses.replace(record, **changed) if changed else record  # type: ignore[type-var]
