"""How runs differ in their settings, and in the circumstances of their answers.

    {"query": {"prefix": "The man", "decoding": {"top_k": 40}}, ...}      query.prefix             The man | The woman
    {"query": {"prefix": "The woman", "decoding": {"top_k": None}}, ...}  query.decoding.top_k          40 | None

A specification is a tree, and two trees are mostly alike. So each is laid flat, one line a leaf, and equal lines are
put aside. A setting of one run alone (the seed of a sample, next to a distribution) differs too; `ABSENT` fills its
gaps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from relens.runs.records import RunRecord


class Absent:
    """The value of a setting that a run does not have."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent()


@dataclass(frozen=True)
class Setting:
    """One leaf of several specifications: its path, "query.decoding.top_k", and its value in each, in order."""

    path: str
    values: tuple[Any, ...]

    @property
    def differs(self) -> bool:
        """Whether it is not the same for all."""
        return any(_unlike(self.values[0], value) for value in self.values[1:])


def flattened(specification: Mapping[str, Any]) -> dict[str, Any]:
    """The leaves by their paths, in order; a list of plain values is one leaf, and so is an empty object."""
    leaves: dict[str, Any] = {}
    _flatten(specification, "", leaves)
    return leaves


def settings_of(specifications: Sequence[Mapping[str, Any]]) -> list[Setting]:
    """Every setting of these specifications, equal or not, in order of first appearance."""
    flat = [flattened(specification) for specification in specifications]
    paths = dict.fromkeys(path for leaves in flat for path in leaves)
    return [Setting(path, tuple(leaves.get(path, ABSENT) for leaves in flat)) for path in paths]


@dataclass(frozen=True)
class Circumstances:
    """Whether runs had the same model and program; False where they are known to differ.

    models: their names. fingerprints: weights, configuration and tokenizer under the same name. versions: programs
    (relens, torch, ...) of different versions. unfinished: places of runs that are not done. imported: places of runs
    from elsewhere.
    """

    models: bool
    fingerprints: bool
    versions: tuple[str, ...]
    unfinished: tuple[int, ...]
    imported: tuple[int, ...]


def circumstances(runs: Sequence[RunRecord]) -> Circumstances:
    """The circumstances of these runs."""
    by_model: dict[str, set[str]] = {}
    for run in runs:
        if run.model_fingerprint:
            by_model.setdefault(run.model, set()).add(run.model_fingerprint)
    names = dict.fromkeys(name for run in runs for name in run.versions)
    return Circumstances(
        models=len({run.model for run in runs}) <= 1,
        fingerprints=all(len(fingerprints) <= 1 for fingerprints in by_model.values()),
        versions=tuple(name for name in names if len({run.versions[name] for run in runs if name in run.versions}) > 1),
        unfinished=tuple(place for place, run in enumerate(runs) if run.status != "done"),
        imported=tuple(place for place, run in enumerate(runs) if run.origin is not None),
    )


def _flatten(value: Mapping[str, Any], path: str, leaves: dict[str, Any]) -> None:
    for name, item in value.items():
        here = f"{path}.{name}" if path else str(name)
        if isinstance(item, Mapping) and item:
            _flatten(item, here, leaves)
        elif isinstance(item, (list, tuple)) and any(isinstance(part, Mapping) for part in item):
            _flatten({str(place): part for place, part in enumerate(item, 1)}, here, leaves)
        else:
            leaves[here] = item


def _unlike(first: Any, second: Any) -> bool:
    # True and 1 are equal in Python, and are different settings.
    return type(first) is not type(second) or bool(first != second)
