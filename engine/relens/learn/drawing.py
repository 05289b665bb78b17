"""The graphs of a lesson: of syntax trees, of automata over characters and bytes, of token arcs.

The pictures of the Workbench (`relens.pictures.graphs`) leave out what is too large. A lesson is small and shows
everything: ε, single bytes, a token's shortcut beside the bytes that it spells.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from relens.language.automaton import ByteAutomaton
from relens.language.characters import Ranges
from relens.language.tree import Alternation, Characters, Concatenation, Group, Marker, Node, Repetition
from relens.language.utf8 import LAST_ASCII
from relens.learn.automata import SILENT, CharacterAutomaton
from relens.learn.steps import StateMark
from relens.pictures.graphs import Graph, GraphArc
from relens.pictures.labels import characters_label, count_characters, token_label, tokens_label, visible
from relens.tokens.tokenizer import Tokenizer

EPSILON = "ε"

#: (source, token, target)
TokenArc = tuple[int, int, int]


def label_of(characters: Ranges) -> str:
    """The label of an arc over characters."""
    return EPSILON if characters == SILENT else characters_label(characters)


def graph_of(finals: Iterable[int], states: int, arcs: Sequence[GraphArc]) -> Graph:
    """A graph with every state and arc."""
    return Graph(0, tuple(sorted(finals)), states, tuple(arcs), (), states, len(arcs), "")


def character_graph(automaton: CharacterAutomaton) -> Graph:
    """An automaton over characters as it is."""
    arcs = [
        GraphArc(arc.source, arc.target, label_of(arc.characters), max(1, count_characters(arc.characters)), False)
        for arc in automaton.arcs
    ]
    return graph_of(automaton.finals, automaton.states, arcs)


def byte_graph(automaton: ByteAutomaton) -> Graph:
    """An automaton over bytes; a byte that is no character is written in hexadecimal."""
    arcs = []
    for state in range(automaton.states):
        runs: dict[int, list[tuple[int, int]]] = {}
        row = automaton.transitions[state].tolist()
        for byte, target in enumerate(row):
            if target < 0:
                continue
            known = runs.setdefault(target, [])
            if known and known[-1][1] == byte - 1 and (byte <= LAST_ASCII or known[-1][0] > LAST_ASCII):
                known[-1] = (known[-1][0], byte)
            else:
                known.append((byte, byte))
        for target, ranges in runs.items():
            count = sum(high - low + 1 for low, high in ranges)
            arcs.append(GraphArc(state, target, _bytes_label(ranges), count, False))
    return graph_of([state for state in range(automaton.states) if automaton.final[state]], automaton.states, arcs)


def _bytes_label(runs: Sequence[tuple[int, int]]) -> str:
    short = tuple(run for run in runs if run[1] <= LAST_ASCII)
    parts = [characters_label(short)] if short else []
    parts += [f"{low:02X}" if low == high else f"{low:02X}–{high:02X}" for low, high in runs if low > LAST_ASCII]
    return ", ".join(parts)


def token_arcs_graph(
    arcs: Iterable[TokenArc], finals: Iterable[int], states: int, tokenizer: Tokenizer
) -> tuple[Graph, dict[TokenArc, GraphArc]]:
    """The graph of some token arcs, parallel ones under one label, and the drawn arc of each."""
    parallel: dict[tuple[int, int], list[int]] = {}
    for source, token, target in arcs:
        parallel.setdefault((source, target), []).append(token)
    drawn: list[GraphArc] = []
    place: dict[TokenArc, GraphArc] = {}
    for (source, target), tokens in parallel.items():
        tokens.sort()
        arc = GraphArc(source, target, tokens_label(tokens, tokenizer), len(tokens), False)
        drawn.append(arc)
        place.update({(source, token, target): arc for token in tokens})
    return graph_of(finals, states, drawn), place


def token_name(token: int, tokenizer: Tokenizer) -> str:
    """A token in a sentence: quoted, blanks visible."""
    return f"“{token_label(token, tokenizer)}”"


def tree_graph(tree: Node) -> tuple[Graph, tuple[StateMark, ...]]:
    """A syntax tree as a graph: its nodes are named states, in the order in which they are written."""
    arcs: list[GraphArc] = []
    marks: list[StateMark] = []

    def add(node: Node) -> int:
        number = len(marks)
        name, note = _described(node)
        marks.append(StateMark(number, name=name, note=note))
        for child in _children(node):
            arcs.append(GraphArc(number, add(child), "", 1, False))
        return number

    add(tree)
    return graph_of([], len(marks), arcs), tuple(marks)


def _children(node: Node) -> tuple[Node, ...]:
    match node:
        case Concatenation(items=items):
            return items
        case Alternation(branches=branches):
            return branches
        case Repetition(item=item) | Group(item=item):
            return (item,)
    return ()


def _described(node: Node) -> tuple[str, str]:
    """The name of a node in the picture, and its meaning."""
    match node:
        case Characters(ranges=ranges):
            label = characters_label(ranges) if ranges else "∅"
            count = count_characters(ranges)
            return label, "This character." if count == 1 else f"One of {count:,} characters."
        case Concatenation(items=items):
            return ("·", "Its parts one after the other.") if items else (EPSILON, "The empty string.")
        case Alternation(branches=branches):
            return "|", f"One of {len(branches)} branches."
        case Repetition(minimum=minimum, maximum=maximum):
            sign = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((minimum, maximum))
            if sign is None:
                most = "" if maximum is None else str(maximum)
                sign = f"{{{minimum}}}" if minimum == maximum else f"{{{minimum},{most}}}"
            often = f"at least {minimum}" if maximum is None else f"{minimum} to {maximum}"
            return sign, f"Its part again and again, {often} times."
        case Group(name=name):
            return ("( )", "Parentheses.") if name is None else (f"(?P<{visible(name)}>)", "A group with a name.")
        case Marker(kind=kind):
            return {"start": "^", "end": "$"}.get(kind, "(?)"), "Spells nothing."
    raise AssertionError(f"no such node: {node}")
