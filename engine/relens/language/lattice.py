"""The cheapest ways from the strings of a language to one text, all at once.

The language is `The (cat|dog)` and the text "The dig". A string and the text are read side by side, and what matters of
the past is only a node (state, position): the automaton has read a string up to `state`, while `position` characters of
the text are accounted for. A character of both costs nothing, and an edit costs 1:

    (The d, 5) --o, deletion--> (The do, 5)             a character of the string alone
    (The d, 5) --o for i, substitution--> (The do, 6)   one against another
    (The d, 5) --i, insertion--> (The d, 6)             one of the text alone
    (The do, 6) --g--> (The dog, 7)                     and the end

Nearest strings are cheapest paths. Few edits are allowed, so a breadth-first search with one level an edit stays near
the diagonal, and the arcs on any cheapest path are a thin lattice, whose paths spell the nearest strings and
no others. Prefix and pattern are two automata in a row: where the first may end, the second begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Literal, NamedTuple

from relens.language.alignment import EditRules
from relens.language.character_steps import CharacterSteps

#: Nodes of one search, at most (a second or two); some thousands are usual.
MOST_NODES = 500_000

_PREFIX, _PATTERN = 0, 1

#: (part, state, position): a string read up to `state` of one part, and so many characters of the text.
Node = tuple[int, int, int]
#: Nodes that one string may be at; taken together, so that no string is spelled twice.
Nodes = frozenset[Node]


class _Arc(NamedTuple):
    """An arc of the lattice. same: a character of both. crossing: from prefix to pattern, without a character."""

    kind: Literal["same", "crossing", "insertion", "deletion", "substitution"]
    node: Node


class Lattice:
    """The arcs on cheapest paths between a language and one text.

    parts: prefix and pattern; editable: whether each may be edited. characters: those of the text, in UTF-8; writable:
    whether an edit may write each of them. Empty until `explore` has found a path.
    """

    def __init__(
        self,
        parts: tuple[CharacterSteps, CharacterSteps],
        characters: list[bytes],
        writable: list[bool],
        editable: tuple[bool, bool],
        rules: EditRules,
    ) -> None:
        self.distance = 0
        self._parts, self._characters, self._rules = parts, characters, rules
        self._writable, self._editable = writable, editable
        self._start: Node = (_PREFIX, 0, 0)
        self._ends: set[Node] = set()
        self._arcs: dict[Node, list[_Arc]] = {}

    def explore(self, most: int) -> bool:
        """Find the cheapest paths, of at most `most` edits; whether `MOST_NODES` nodes were enough to find any."""
        costs = {self._start: 0}
        before: dict[Node, list[_Arc]] = {self._start: []}
        level = [self._start]

        def reach(node: Node, arcs: Iterable[_Arc], cost: int, reached: list[Node]) -> None:
            """Go along `arcs`: new nodes into `reached`, every cheapest arc into `before`, backwards."""
            for kind, successor in arcs:
                known = costs.get(successor)
                if known is None:
                    costs[successor] = cost
                    before[successor] = [_Arc(kind, node)]
                    reached.append(successor)
                elif known == cost:
                    before[successor].append(_Arc(kind, node))

        for self.distance in range(most + 1):
            for node in level:  # grows while it is gone through
                reach(node, self._free(node), self.distance, level)
            self._ends = {node for node in level if self._is_end(node)}
            if self._ends:
                self._arcs = _forwards(self._ends, before)
                return True
            if self.distance == most:
                break
            further: list[Node] = []
            for node in level:
                reach(node, self._edited(node), self.distance + 1, further)
                if len(costs) > MOST_NODES:
                    return False
            level = further
        return False

    def _free(self, node: Node) -> Iterator[_Arc]:
        part, state, position = node
        if position < len(self._characters):
            destination = self._parts[part].step(state, self._characters[position])
            if destination >= 0:
                yield _Arc("same", (part, destination, position + 1))
        if part == _PREFIX and self._parts[_PREFIX].final[state]:
            yield _Arc("crossing", (_PATTERN, 0, position))

    def _edited(self, node: Node) -> Iterator[_Arc]:
        part, state, position = node
        if not self._editable[part]:
            return
        writable = position < len(self._characters) and self._writable[position]
        if writable and self._rules.insertions:
            yield _Arc("insertion", (part, state, position + 1))
        if self._rules.deletions:
            for destination in self._parts[part].destinations(state):
                yield _Arc("deletion", (part, destination, position))
        if writable and self._rules.substitutions:
            for destination in self._parts[part].destinations(state):
                yield _Arc("substitution", (part, destination, position + 1))

    def _is_end(self, node: Node) -> bool:
        part, state, position = node
        return part == _PATTERN and position == len(self._characters) and self._parts[_PATTERN].final[state]

    def strings(self, most: int, representatives: list[bytes] | None = None) -> Iterator[str]:
        """The strings in byte order, the first `most` at least; see `NearestStrings.all` for representatives."""
        known: dict[Nodes, list[tuple[bytes, Nodes]]] = {}

        def steps(nodes: Nodes) -> Iterator[tuple[bytes, Nodes]]:
            if nodes not in known:  # strings that differ early go on alike
                known[nodes] = self._steps(nodes, most, representatives)
            return iter(known[nodes])

        begin = self._closed([self._start])
        if not self._ends.isdisjoint(begin):
            yield ""
        spelled: list[bytes] = []
        waiting = [steps(begin)]
        while waiting:
            step = next(waiting[-1], None)
            if step is None:
                waiting.pop()
                del spelled[-1:]
                continue
            characters, nodes = step
            spelled.append(characters)
            waiting.append(steps(nodes))
            if not self._ends.isdisjoint(nodes):
                yield b"".join(spelled).decode()

    def _steps(self, nodes: Nodes, most: int, representatives: list[bytes] | None) -> list[tuple[bytes, Nodes]]:
        """The characters that may come next, in byte order, each with where it leads."""
        if len(nodes) == 1 and (run := self._run(*nodes)):
            return [run]
        characters: set[bytes] = set()
        for node in nodes:
            part, state, position = node
            targets = {arc.node[1] for arc in self._arcs[node] if arc.kind in ("deletion", "substitution")}
            if targets and representatives is not None:
                step = self._parts[part].step
                characters.update(one for one in representatives if step(state, one) in targets)
            elif targets:
                characters.update(islice(self._parts[part].characters(state, frozenset(targets)), most))
            if any(arc.kind == "same" for arc in self._arcs[node]):
                characters.add(self._characters[position])
        return [(character, self._after(nodes, character)) for character in sorted(characters)[:most]]

    def _run(self, node: Node) -> tuple[bytes, Nodes] | None:
        """The characters up to the next choice, of several at once; None where the next is one, or the end."""
        run = []
        while node not in self._ends and len(self._arcs[node]) == 1 and self._arcs[node][0].kind == "same":
            run.append(self._characters[node[2]])
            node = self._arcs[node][0].node
        return (b"".join(run), self._closed([node])) if run else None

    def _after(self, nodes: Nodes, character: bytes) -> Nodes:
        successors = []
        for node in nodes:
            part, state, position = node
            destination = self._parts[part].step(state, character)
            for kind, successor in self._arcs[node]:
                if kind == "same" and self._characters[position] == character:
                    successors.append(successor)
                elif kind in ("deletion", "substitution") and successor[1] == destination:
                    # On a cheapest path, nothing is replaced by itself.
                    successors.append(successor)
        return self._closed(successors)

    def _closed(self, nodes: list[Node]) -> Nodes:
        """`nodes` and those to which they lead without a character of the string."""
        waiting = list(dict.fromkeys(nodes))
        members = set(waiting)
        for node in waiting:
            for kind, successor in self._arcs[node]:
                if kind in ("crossing", "insertion") and successor not in members:
                    members.add(successor)
                    waiting.append(successor)
        return frozenset(members)


def _forwards(ends: set[Node], before: dict[Node, list[_Arc]]) -> dict[Node, list[_Arc]]:
    """The arcs of all nodes from which `ends` were reached."""
    arcs: dict[Node, list[_Arc]] = {node: [] for node in ends}
    waiting = list(ends)
    for node in waiting:
        for kind, earlier in before[node]:
            if earlier not in arcs:
                arcs[earlier] = []
                waiting.append(earlier)
            arcs[earlier].append(_Arc(kind, node))
    return arcs
