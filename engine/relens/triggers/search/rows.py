"""The rows of searches for triggers, target by target.

list       {"list": "mal", "targets": 20, "dropped": [...]}                          once for each list
target     {"list": "mal", "place": 1, "target": ["shut", "up"]}
sweep      {"list": "mal", "place": 1, "sweep": 1, "best": 3.6, "candidates": 4200, "accepted": 32, ...}
trigger    {"list": "mal", "place": 1, "text": "how are you", "hits": {"o-greedy": false, ...}, ...}
search     {"list": "mal", "place": 1, "shortlist": 30, "objectives": [2.6, 0.02], ...}      of search effort
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from relens.studies.rows import StudyRow
from relens.triggers.score_row import WordScoreRow
from relens.triggers.search.targets import DroppedTarget


@dataclass(frozen=True)
class ListRow(StudyRow):
    """A list of targets. targets: how many can be searched for."""

    row_name: ClassVar[str] = "list"
    list: str
    targets: int
    dropped: tuple[DroppedTarget, ...]


@dataclass(frozen=True)
class TargetRow(StudyRow):
    """The target of a search. place: in its list, from 1."""

    row_name: ClassVar[str] = "target"
    list: str
    place: int
    target: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class SweepRow(TargetRow):
    """A sweep of all restarts of a target. sweep: its number, from 1.

    best: the least objective of `values`, one for each restart; input: of that restart. reply_before, reply_value: the
    least objective without the cost of the input, before and after the sweep; None in old rows. candidates: inputs
    tried; accepted: changes kept; searching: restarts that took part. seconds: since the search began.
    """

    row_name: ClassVar[str] = "sweep"
    sweep: int
    best: float
    reply_before: float | None = None
    reply_value: float | None = None
    values: tuple[float, ...]
    input: tuple[str, ...]
    candidates: int
    accepted: int
    searching: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class TriggerRow(WordScoreRow, TargetRow):
    """The result of the searches for a target; the score is that of the best restart.

    restart: its number; objective: its own. inputs, objectives, sweeps: of each restart. restarts_that_hit: their
    numbers, by hit type. candidates: inputs tried; full: those that needed the whole softmax.
    """

    row_name: ClassVar[str] = "trigger"
    objective: float
    restart: int
    inputs: tuple[tuple[str, ...], ...]
    objectives: tuple[float, ...]
    sweeps: tuple[int, ...]
    restarts_that_hit: dict[str, tuple[int, ...]]
    candidates: int
    full: int
    gradients: int
    model: str
    seconds: float


@dataclass(frozen=True, kw_only=True)
class SearchRow(TargetRow):
    """The search for a target with one hit type and one shortlist G.

    objectives, is_hit, sweeps, tried: of each restart; tried: inputs. curve: the least objective without the cost of
    the input, at first and after each sweep. candidates: inputs tried by all restarts.
    """

    row_name: ClassVar[str] = "search"
    hit_type: str
    shortlist: int
    objectives: tuple[float, ...]
    is_hit: tuple[bool, ...]
    sweeps: tuple[int, ...]
    tried: tuple[int, ...]
    curve: tuple[float, ...]
    candidates: int
    seconds: float
    model: str = ""
    fingerprint: str = ""
