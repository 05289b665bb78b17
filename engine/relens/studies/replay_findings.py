"""A recorded search put together: its graph, its rounds with the tree as it stands after each, a verdict in sentences.

rounds          0 begin     1 ask "The"       2 show "The dog"
nodes_by(1)     The         The · ␣dog        The · ␣cat
shown_by(2)     "The dog"
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from relens.counted import counted
from relens.pictures.graphs import Graph
from relens.studies.replay import ReplayStudy
from relens.studies.replay_rows import SearchAutomaton, SearchEnd, SearchRound, ShownMatch, TreeNode
from relens.studies.rows import Rows

_NO_GRAPH = Graph(0, (), 0, (), (), 0, 0, "")


@dataclass(frozen=True)
class ReplayFindings:
    """graph: without states until its row is there. rule: in words, "" for none. end: None while the search goes on."""

    graph: Graph
    rule: str
    rounds: tuple[SearchRound, ...]
    end: SearchEnd | None

    @property
    def has_steps(self) -> bool:
        """Whether there is a step to show."""
        return bool(self.graph.shown_states and self.rounds)

    @property
    def last(self) -> int:
        """The last step."""
        return len(self.rounds) - 1

    @cached_property
    def nodes(self) -> dict[int, TreeNode]:
        """The nodes of the whole tree by number, without its root."""
        return {node.node: node for entry in self.rounds for node in entry.made}

    def nodes_by(self, step: int) -> list[TreeNode]:
        """The nodes of the tree after a step, parents before children."""
        return [node for entry in self.rounds[: step + 1] for node in entry.made]

    def shown_by(self, step: int) -> list[ShownMatch]:
        """The matches shown after a step, in their order."""
        return [match for entry in self.rounds[: step + 1] for match in entry.shown]

    def way_to(self, node: int) -> list[TreeNode]:
        """The nodes on the way from the root, without the root."""
        way = []
        while node in self.nodes:
            way.append(self.nodes[node])
            node = self.nodes[node].parent
        return way[::-1]

    @property
    def verdict(self) -> tuple[str, ...]:
        """What the search cost, and why it ended."""
        if not self.rounds or not self.end:
            return ("The search has not ended yet.",)
        return tuple(_sentences(self, self.end))


def replay_findings(rows: Rows, study: ReplayStudy) -> ReplayFindings:
    """The findings of these rows, which may be those of a search that goes on."""
    rows = list(rows)
    automaton = next(iter(SearchAutomaton.all_in(rows)), SearchAutomaton(_NO_GRAPH, study.rule, None))
    end = next(iter(SearchEnd.all_in(rows)), None)
    return ReplayFindings(automaton.graph, automaton.rule, tuple(SearchRound.all_in(rows)), end)


def _sentences(findings: ReplayFindings, end: SearchEnd) -> Iterator[str]:
    yield (
        f"The search showed {counted(end.matches, 'match', 'matches')} after {counted(end.forwards, 'forward')} of the"
        f" model, which expanded {counted(end.expansions, 'path')}."
    )
    if end.matches and (ahead := end.expansions - end.needed):
        yield (
            f"Every exact search expands {end.needed:,} of these paths; the other {ahead:,} were expanded ahead of"
            " need, because more paths in one forward cost hardly more."
        )
    elif end.matches:
        yield "Every exact search expands all of these paths."
    yield _end_sentence(end, findings.rounds[-1].next_cost)
    if findings.rule:
        cut = sum(path.cut_count for entry in findings.rounds for path in entry.asked)
        yield (
            f"The decoding rule, {findings.rule}, cut {counted(cut, 'token')} that the automaton allows, and all paths"
            " below."
        )


def _end_sentence(end: SearchEnd, next_cost: float | None) -> str:
    if end.ended == "exhausted":
        if not end.matches:
            return "No path was left open: under this rule the model cannot write any string of the query."
        return "No path was left open: these are all matches."
    if end.ended == "expansions":
        return "It stopped at its limit of paths; those still open may hold further matches."
    if next_cost is None:
        return "It stopped at its number of matches."
    return (
        f"It stopped at its number of matches: the cheapest open path costs {next_cost:.2f}, so no string below it is"
        " likelier than those shown."
    )
