"""The rows of a recorded search: its automaton, a row for each round, its end.

    SearchAutomaton   graph, rule "top-k 40"
    SearchRound 0     before the first forward: one open path, "The"
    SearchRound 1     expanded "The": children " dog" 2.1, " cat" 3.0; cut " do"; open: two paths
    SearchRound 2     shown "The dog" 2.1
    SearchEnd         2 matches, 1 forward

A cost is a negative log-probability in nats. `path` is always the labels of the tokens from the start, and `state` the
number of a state in the drawn graph, None for one that is not drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from relens.pictures.graphs import Graph
from relens.record import Record
from relens.studies.rows import StudyRow

Path = tuple[str, ...]


@dataclass(frozen=True)
class SearchAutomaton(StudyRow):
    """The automaton of tokens. rule: the decoding rule in words, "" for none; strings: None without end."""

    row_name: ClassVar[str] = "automaton"
    graph: Graph
    rule: str
    strings: int | None


@dataclass(frozen=True)
class ShownMatch(Record):
    """A match that the search showed. place: 1 for the first; node: of the search tree."""

    place: int
    node: int
    text: str
    path: Path
    state: int | None
    cost: float
    prefix_log_prob: float
    decoder_log_prob: float
    is_canonical: bool


@dataclass(frozen=True)
class ChildToken(Record):
    """A token that may follow a path. in_prefix: given by the prefix, so no rule applies."""

    token: str
    log_prob: float
    decoder_log_prob: float
    in_prefix: bool


@dataclass(frozen=True)
class CutToken(Record):
    """A legal token that the rule cut. rank: among all tokens, from 1."""

    token: str
    rank: int
    log_prob: float


@dataclass(frozen=True)
class ExpandedPath(Record):
    """A path that the model scored, and its result: the likeliest children and cut tokens, and how many there are.

    why: as in `relens.traversal.recording`. cost: None where the rule cut the path itself. legal: tokens that the
    automaton allows. more: whether there are children beyond those counted.
    """

    node: int
    path: Path
    state: int | None
    cost: float | None
    why: Literal["cheapest", "ahead", "chain", "more"]
    legal: int
    children: tuple[ChildToken, ...]
    children_count: int
    more: bool
    cut: tuple[CutToken, ...]
    cut_count: int


@dataclass(frozen=True)
class TreeNode(Record):
    """A new node of the search tree. cost: None where the rule cut it."""

    node: int
    parent: int
    token: str
    state: int | None
    cost: float | None
    in_prefix: bool
    is_match: bool


@dataclass(frozen=True)
class OpenPath(Record):
    """An entry of the frontier: a match to show, the best remaining child of a node, or a node to expand.

    token: the child's; behind: how many more children the node keeps.
    """

    kind: Literal["match", "child", "node"] = field()  # type: ignore[misc]  # of the entry, not of the record
    node: int
    token: str | None
    path: Path
    state: int | None
    cost: float
    behind: int


@dataclass(frozen=True)
class WaitingMatch(Record):
    """A match that is not shown yet. rival: the cheapest open path that may lead to a cheaper one, None without."""

    node: int
    path: Path
    cost: float
    rival: OpenPath | None


@dataclass(frozen=True)
class SearchRound(StudyRow):
    """One round: how the search begins, a forward of the model, or matches shown.

    frontier: the cheapest of the `open` paths, afterwards; next_cost: of the first. forwards, expansions, found_mass,
    remaining_mass: of the search so far.
    """

    row_name: ClassVar[str] = "round"
    round: int
    kind: Literal["begin", "ask", "show"] = field()  # type: ignore[misc]  # of the round, not of the record
    shown: tuple[ShownMatch, ...]
    asked: tuple[ExpandedPath, ...]
    made: tuple[TreeNode, ...]
    frontier: tuple[OpenPath, ...]
    open: int
    next_cost: float | None
    waiting: tuple[WaitingMatch, ...]
    forwards: int
    expansions: int
    found_mass: float
    remaining_mass: float


@dataclass(frozen=True)
class SearchEnd(StudyRow):
    """The end of the search. needed: expansions that every exact search of these matches makes."""

    row_name: ClassVar[str] = "end"
    ended: str
    matches: int
    forwards: int
    tokens_computed: int
    expansions: int
    needed: int
