"""The cheapest ways from the strings of a language to one text, all at once.

The language is `The (cat|dog)` and the text "The dig". A string and the text are read side by side, and what matters of
the past is only a node (state, position): the automaton has read a string up to `state`, while `position` characters of
the text are accounted for. A character of both costs nothing, and an edit costs 1:

    (The d, 5) --o, deletion--> (The do, 5)             a character of the string alone
    (The d, 5) --o for i, substitution--> (The do, 6)   one against another
    (The d, 5) --i, insertion--> (The d, 6)             one of the text alone
    (The do, 6) --g--> (The dog, 7)                     and the end

Nearest strings are cheapest paths. Few edits are allowed, so a breadth-first search with one level an edit stays near
the diagonal, and the nodes on any cheapest path are a thin lattice, whose paths spell the nearest strings and
no others. Prefix and pattern are two automata in a row: where the first may end, the second begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from engine.language.alignment import EditRules
from engine.language.character_steps import CharacterSteps

#: Nodes of one search, at most (a second or two); some thousands are usual.
MOST_NODES = 500_000

_PREFIX, _PATTERN = 0, 1


class Node(NamedTuple):
    """A string read up to `state` of one part, with `position` characters of the text accounted for."""

    part: int
    state: int
    position: int


Nodes = frozenset[Node]


class Lattice:
    """The nodes on cheapest paths between a language and one text.

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
        self.parts, self.characters, self.rules = parts, characters, rules
        self.writable, self.editable = writable, editable
        self.costs: dict[Node, int] = {}
        self.useful: set[Node] = set()
        self.distance = 0

    def explore(self, most: int) -> bool:
        """Find the cheapest paths, of at most `most` edits; whether there are any."""
        start = Node(_PREFIX, 0, 0)
        self.costs[start] = 0
        before: dict[Node, list[Node]] = {start: []}
        level = [start]
        for self.distance in range(most + 1):
            for node in level:  # grows while it is gone through
                level += self._reached(node, self._free(node), before)
            ends = [node for node in level if self._is_end(node)]
            if ends:
                self.useful = _behind(ends, before)
                return True
            if self.distance == most:
                break
            further: list[Node] = []
            for node in level:
                further += self._reached(node, self._edited(node), before, cost=1)
                if len(self.costs) > MOST_NODES:
                    return False
            level = further
        return False

    def first_string(self) -> tuple[str, list[tuple[int, int]]]:
        """The first string in byte order, and where it may go from prefix to pattern: (of the string, of the text)."""
        spelled: list[bytes] = []
        crossings: list[tuple[int, int]] = []
        nodes = self._start()
        while True:
            crossings += sorted(
                (len(spelled), node.position)
                for node in nodes
                if node.part == _PREFIX and self._leads(node, self._crossed(node), 0)
            )
            if any(map(self._is_end, nodes)):
                return b"".join(spelled).decode(), crossings
            character = self._characters(nodes, 1, None)[0]
            spelled.append(character)
            nodes = self._after(nodes, character)

    def strings(self, most: int, representatives: list[bytes] | None) -> Iterator[str]:
        """The strings in byte order, the first `most` at least; see `NearestStrings.all` for representatives."""
        known: dict[Nodes, list[tuple[bytes, Nodes]]] = {}

        def steps(nodes: Nodes) -> Iterator[tuple[bytes, Nodes]]:
            if nodes not in known:  # strings that differ early go on alike
                characters = self._characters(nodes, most, representatives)
                known[nodes] = [(character, self._after(nodes, character)) for character in characters]
            return iter(known[nodes])

        begin = self._start()
        if any(map(self._is_end, begin)):
            yield ""
        spelled: list[bytes] = []
        waiting = [steps(begin)]
        while waiting:
            step = next(waiting[-1], None)
            if step is None:
                waiting.pop()
                del spelled[-1:]
                continue
            character, nodes = step
            spelled.append(character)
            waiting.append(steps(nodes))
            if any(map(self._is_end, nodes)):
                yield b"".join(spelled).decode()

    # Arcs, forwards.

    def _free(self, node: Node) -> Iterator[Node]:
        if node.position < len(self.characters):
            state = self.parts[node.part].step(node.state, self.characters[node.position])
            if state >= 0:
                yield Node(node.part, state, node.position + 1)
        if (crossed := self._crossed(node)) is not None:
            yield crossed

    def _edited(self, node: Node) -> Iterator[Node]:
        if not self.editable[node.part]:
            return
        part, state, position = node
        writable = self._may_write(position)
        if writable and self.rules.insertions:
            yield Node(part, state, position + 1)
        if self.rules.deletions:
            for destination in self.parts[part].destinations(state):
                yield Node(part, destination, position)
        if writable and self.rules.substitutions:
            for destination in self.parts[part].destinations(state):
                yield Node(part, destination, position + 1)

    def _may_write(self, position: int) -> bool:
        """Whether the text goes on with a character that an edit may write."""
        return position < len(self.characters) and self.writable[position]

    def _crossed(self, node: Node) -> Node | None:
        """The beginning of the pattern, where the prefix may end."""
        if node.part == _PREFIX and self.parts[_PREFIX].automaton.final[node.state]:
            return Node(_PATTERN, 0, node.position)
        return None

    def _is_end(self, node: Node) -> bool:
        return (
            node.part == _PATTERN
            and node.position == len(self.characters)
            and bool(self.parts[_PATTERN].automaton.final[node.state])
        )

    def _reached(
        self, node: Node, successors: Iterable[Node], before: dict[Node, list[Node]], cost: int = 0
    ) -> list[Node]:
        """Those of `successors` that are new; `before` learns of every cheapest arc."""
        new = []
        total = self.costs[node] + cost
        for successor in successors:
            known = self.costs.get(successor)
            if known is None:
                self.costs[successor] = total
                before[successor] = [node]
                new.append(successor)
            elif known == total:
                before[successor].append(node)
        return new

    # The strings of the lattice. Nodes that one string may be at are taken together, so that no string comes twice.

    def _leads(self, node: Node, successor: Node | None, cost: int) -> bool:
        """Whether the arc from `node` to `successor` lies on a cheapest path."""
        return successor in self.useful and self.costs[successor] == self.costs[node] + cost

    def _start(self) -> Nodes:
        return self._closed([Node(_PREFIX, 0, 0)])

    def _closed(self, nodes: Iterable[Node]) -> Nodes:
        """`nodes` and those to which they lead without a character of the string."""
        found = set(nodes)
        waiting = list(found)
        for node in waiting:
            options: list[tuple[Node | None, int]] = [(self._crossed(node), 0)]
            if self.editable[node.part] and self.rules.insertions and self._may_write(node.position):
                options.append((node._replace(position=node.position + 1), 1))
            for successor, cost in options:
                if successor is not None and self._leads(node, successor, cost) and successor not in found:
                    found.add(successor)
                    waiting.append(successor)
        return frozenset(found)

    def _characters(self, nodes: Nodes, most: int, representatives: list[bytes] | None) -> list[bytes]:
        """The characters that may come next, in byte order, the first `most` at least."""
        found: set[bytes] = set()
        for node in nodes:
            part, state, position = node
            steps = self.parts[part]
            if position < len(self.characters):
                character = self.characters[position]
                if self._leads(node, Node(part, steps.step(state, character), position + 1), 0):
                    found.add(character)
            if not self.editable[part]:
                continue
            targets = frozenset(
                destination
                for destination in steps.destinations(state)
                for after in self._positions_after_edit(position)
                if self._leads(node, Node(part, destination, after), 1)
            )
            if not targets:
                continue
            if representatives is None:
                found.update(islice(steps.characters(state, targets), most))
            else:
                found.update(character for character in representatives if steps.step(state, character) in targets)
        return sorted(found)[:most]

    def _after(self, nodes: Nodes, character: bytes) -> Nodes:
        found = []
        for node in nodes:
            part, state, position = node
            destination = self.parts[part].step(state, character)
            if destination < 0:
                continue
            stays = position < len(self.characters) and self.characters[position] == character
            options = [(position + 1, 0)] if stays else []
            if self.editable[part]:
                options += [(after, 1) for after in self._positions_after_edit(position)]
            found += [
                successor
                for after, cost in options
                if self._leads(node, successor := Node(part, destination, after), cost)
            ]
        return self._closed(found)

    def _positions_after_edit(self, position: int) -> list[int]:
        """Where the text may stand after a character of the string that is deleted, or replaced."""
        positions = [position] if self.rules.deletions else []
        if self.rules.substitutions and self._may_write(position):
            positions.append(position + 1)
        return positions


def _behind(ends: list[Node], before: dict[Node, list[Node]]) -> set[Node]:
    """The nodes from which `ends` were reached."""
    found = set(ends)
    waiting = list(ends)
    for node in waiting:
        for earlier in before[node]:
            if earlier not in found:
                found.add(earlier)
                waiting.append(earlier)
    return found
