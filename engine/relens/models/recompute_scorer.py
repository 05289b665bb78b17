"""Scoring by brute force: every path through the model from its first token.

Some models cannot share keys and values between paths: recurrent ones (Mamba, RWKV) carry a state that has all of the
past folded in, sliding windows forget by place in the cache, and some architectures place tokens by counting them.
They get the plain computation, which is right for anything that continues text, and slower by the length of the text.

Paths of one length form a batch, so nothing is padded: padding is one more thing that architectures treat differently.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import torch

from relens.errors import ModelError
from relens.models.forward import Forward
from relens.models.scoring import ROOT, Scorer, ScoringCounts, TokenTree

#: Most tokens of one forward.
TOKENS_AT_ONCE = 1 << 14


class RecomputeScorer(Scorer):
    """Scores the nodes of its own new `tree`, keeping nothing between calls."""

    def __init__(self, forward: Forward, *, begin_of_text: int | None, tokens_at_once: int = TOKENS_AT_ONCE) -> None:
        self.tree = TokenTree()
        self.counts = ScoringCounts()
        self.vocabulary_size = forward.vocabulary_size
        self.context_length = forward.context_length - (begin_of_text is not None)
        self.scores_root = begin_of_text is not None
        self._forward = forward
        self._begin = [] if begin_of_text is None else [begin_of_text]
        self._tokens_at_once = tokens_at_once

    def log_probs(self, nodes: Sequence[int]) -> torch.Tensor:
        """See `Scorer.log_probs`. Also raises `ModelError` for a path beyond the context."""
        targets = np.asarray(nodes, np.int64)
        result = torch.empty((len(targets), self.vocabulary_size), dtype=torch.float32, device=self._forward.device)
        if not self._begin and (targets == ROOT).any():
            raise ModelError("Without a begin-of-text token the model has no distribution at the start of a text.")
        depths = self.tree.depths[targets]
        for depth in np.unique(depths):
            if depth > self.context_length:
                raise ModelError(
                    f"A text of {depth} tokens is longer than the model's context of {self.context_length}."
                )
            alike = np.flatnonzero(depths == depth)
            batch = max(1, self._tokens_at_once // (int(depth) + len(self._begin)))
            for start in range(0, len(alike), batch):
                self._compute(targets, alike[start : start + batch], result)
        return result

    def release(self, nodes: Sequence[int]) -> None:
        """See `Scorer.release`; there is nothing to give back."""

    def _compute(
        self,
        targets: np.typing.NDArray[np.int64],
        rows: np.typing.NDArray[np.int64],
        result: torch.Tensor,
    ) -> None:
        started = time.perf_counter()
        paths = [self._begin + self.tree.path(int(node)) for node in targets[rows]]
        token_ids = torch.tensor(paths, dtype=torch.long, device=self._forward.device)
        with torch.inference_mode():
            logits = self._forward.last_logits(token_ids)
            result[torch.from_numpy(rows).to(result.device)] = torch.log_softmax(logits.float(), dim=-1)
            self._forward.synchronize()
        self.counts.forwards += 1
        self.counts.tokens_computed += token_ids.numel()
        self.counts.seconds += time.perf_counter() - started
