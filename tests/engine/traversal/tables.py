"""A model and an automaton that are small tables, so that the truth is computable."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from relens.models.scoring import Scorer, ScoringCounts, TokenTree
from relens.tokens.automaton import Arcs, TokenAutomaton
from relens.traversal.scheduler import Scheduler
from relens.traversal.search import Search, TokenMatch


class TableScorer(Scorer):
    """Next-token log-probabilities that are a fixed pseudo-random function of the path (and of nothing else)."""

    def __init__(self, vocabulary_size: int, *, seed: int = 0, context_length: int = 64, scores_root: bool = True):
        self.tree = TokenTree()
        self.counts = ScoringCounts()
        self.vocabulary_size = vocabulary_size
        self.context_length = context_length
        self.scores_root = scores_root
        self.seed = seed
        self.calls: list[list[int]] = []
        self.released: list[int] = []

    def row(self, path: Sequence[int]) -> torch.Tensor:
        key = zlib.crc32(repr((self.seed, list(path))).encode())
        logits = np.random.default_rng(key).normal(scale=2.0, size=self.vocabulary_size)
        # A few ties, as the coarse numbers of a real model have them.
        logits = np.round(logits, 1)
        return torch.log_softmax(torch.tensor(logits, dtype=torch.float32), dim=0)

    def log_probs(self, nodes: Sequence[int]) -> torch.Tensor:
        assert self.scores_root or 0 not in nodes
        assert not set(nodes) & set(self.released), "asked again after release"
        self.calls.append(list(nodes))
        self.counts.forwards += 1
        self.counts.tokens_computed += len(nodes)
        return torch.stack([self.row(self.tree.path(node)) for node in nodes])

    def release(self, nodes: Sequence[int]) -> None:
        self.released.extend(nodes)


class TableAutomaton(TokenAutomaton):
    """A token automaton written down as {state: {token: state}}, with final states and states inside the prefix."""

    def __init__(self, table: dict[int, dict[int, int]], finals: set[int], in_prefix: set[int] | None = None):
        self.table = table
        self.finals = finals
        self.in_prefix = in_prefix or set()

    def arcs(self, state: int) -> Arcs:
        row = self.table.get(state, {})
        tokens = sorted(row)
        return Arcs(np.array(tokens, np.int32), np.array([row[token] in self.in_prefix for token in tokens], np.bool_))

    def step(self, state: int, token: int) -> int:
        return self.table.get(state, {}).get(token, -1)

    def is_final(self, state: int) -> bool:
        return state in self.finals

    def paths(self, longest: int) -> Iterator[tuple[int, ...]]:
        """Every accepted token sequence of at most `longest` tokens, by exhaustive enumeration."""
        stack: list[tuple[int, tuple[int, ...]]] = [(self.start, ())]
        while stack:
            state, path = stack.pop()
            if state in self.finals:
                yield path
            if len(path) < longest:
                stack.extend((target, (*path, token)) for token, target in self.table.get(state, {}).items())


class FixedBatch:
    """A batch size that never changes."""

    def __init__(self, size: int) -> None:
        self.size = size

    def observe(self, size: int, seconds: float) -> None:
        pass


class Driven:
    """One search, driven as the engine drives it; everything it does not have itself is the search's."""

    def __init__(self, begin: Callable[[Scorer], Search], scorer: Scorer, batch: int) -> None:
        def remembered(view: Scorer) -> Search:
            self.search = begin(view)
            return self.search

        self._scheduler = Scheduler([("only", remembered)], scorer, FixedBatch(batch))
        for _, error in self._scheduler.take_refused():
            raise error

    def __getattr__(self, name: str) -> Any:
        return getattr(self.search, name)

    @property
    def finished(self) -> bool:
        return self._scheduler.finished

    def step(self, limit: int | None = None) -> list[TokenMatch]:
        return [match for _, match in self._scheduler.step(lambda _: limit).matches]

    def run(self) -> list[TokenMatch]:
        matches = []
        while not self.finished:
            matches += self.step()
        return matches
