"""Canonical encodings a second way: every merge of the list in turn, applied to the whole automaton.

Start from the language annotated with pre-token boundaries, its arcs single-byte tokens. A merge (left, right) of the
list is obligatory: wherever `left` can be followed by `right` inside a pre-token, the two must become their product.
So a state between them is split in two. Its copy takes over the arrivals by `left` and all departures but `right`; a
new arc for the product goes past both. What is left after the last merge are the encodings. (ReLM section 3.2;
Berglund and van der Merwe, "Formalizing BPE tokenization".) Slow, and it knows no pair test.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from relens.language.automaton import ByteAutomaton
from relens.tokens.annotated import annotate
from relens.tokens.byte_level import byte_level_tables
from relens.tokens.tokenizer import Tokenizer


class _Graph:
    """Arcs by source and by destination, and which states a token arrives at."""

    def __init__(self) -> None:
        self.leaving: list[dict[int, set[int]]] = []
        self.arriving: list[dict[int, set[int]]] = []
        self.final: list[bool] = []
        self.boundary: list[bool] = []
        self.reached_by: dict[int, set[int]] = defaultdict(set)

    def state(self, final: bool, boundary: bool) -> int:
        self.leaving.append({})
        self.arriving.append({})
        self.final.append(final)
        self.boundary.append(boundary)
        return len(self.final) - 1

    def add(self, source: int, token: int, target: int) -> None:
        self.leaving[source].setdefault(token, set()).add(target)
        self.arriving[target].setdefault(token, set()).add(source)
        self.reached_by[token].add(target)

    def remove(self, source: int, token: int, target: int) -> None:
        for table, state, other in ((self.leaving, source, target), (self.arriving, target, source)):
            table[state][token].discard(other)
            if not table[state][token]:
                del table[state][token]
        if token not in self.arriving[target]:
            self.reached_by[token].discard(target)


def merged_paths(automaton: ByteAutomaton, tokenizer: Tokenizer) -> list[tuple[int, ...]]:
    """The canonical encodings of every string of a finite language."""
    tables = byte_level_tables(tokenizer)
    assert tables is not None
    annotated = annotate(automaton, tables.boundaries, 10**6)
    assert annotated is not None
    single = {item[0]: token for token, item in enumerate(tokenizer.vocabulary.token_bytes) if item and len(item) == 1}
    graph = _Graph()
    for state in range(annotated.states):
        graph.state(bool(annotated.final[state]), bool(annotated.boundary[state]))
    for key in np.flatnonzero(np.diff(annotated.first)).tolist():
        for target in annotated.after[annotated.first[key] : annotated.first[key + 1]].tolist():
            if key % 256 in single:
                graph.add(key // 256, single[key % 256], target)
    model = tokenizer.configuration["model"]
    vocabulary = model["vocab"]
    for merge in model["merges"]:
        left, right = merge.split(" ") if isinstance(merge, str) else merge
        _apply(graph, vocabulary[left], vocabulary[right], vocabulary[left + right])
    return _paths(graph)


def _apply(graph: _Graph, left: int, right: int, product: int) -> None:
    between = [s for s in graph.reached_by.get(left, ()) if not graph.boundary[s] and right in graph.leaving[s]]
    copies = {state: graph.state(graph.final[state], False) for state in between}
    for state, copy in copies.items():
        for token, targets in list(graph.leaving[state].items()):
            for target in list(targets) if token != right else ():
                graph.add(copy, token, target)
    past = [
        (source, target)
        for state in between
        for source in graph.arriving[state][left]
        for target in graph.leaving[state][right]
    ]
    for state, copy in copies.items():
        for source in list(graph.arriving[state][left]):
            graph.remove(source, left, state)
            graph.add(source, left, copy)
    lone = set(copies.values())
    for source, target in past:
        # The leftmost pair goes first: after a `left` that stayed alone there is no such pair when both are the same.
        if left != right or source not in lone:
            graph.add(source, product, target)


def _paths(graph: _Graph) -> list[tuple[int, ...]]:
    accepted = []
    stack: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    while stack:
        state, tokens = stack.pop()
        if graph.final[state]:
            accepted.append(tokens)
        stack += [(target, (*tokens, token)) for token, targets in graph.leaving[state].items() for target in targets]
    return accepted
