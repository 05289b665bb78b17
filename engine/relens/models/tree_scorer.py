"""Next-token distributions for the nodes of a tree, each token computed once and all new ones in one forward.

Say a search has computed `The cat`, and now needs `The cat sat`, `The cat ran` and `The dog barked`. New are the
tokens sat, ran, dog and barked. They go through the model as one sequence of four, each at the position it has on its
own path, under an attention mask in which a token sees its ancestors and itself:

                    The  cat | sat  ran  dog  barked
    sat     (at 2)   x    x  |  x
    ran     (at 2)   x    x  |       x
    dog     (at 1)   x       |            x
    barked  (at 2)   x       |            x     x

The columns left of the bar are keys and values from the pool. dog is no target, but barked needs it; a literal
prefix, a forced chain of tokens, and nodes evicted for want of memory are all just more rows of the same forward. The
order of the columns means nothing. They run from the newest node to the oldest, so that a model which takes them for
positions is found out at once. Attention within a tree is due to SpecInfer (Miao et al. 2024, section 4.2).

Needs a model whose attention depends on mask and position alone, which `check.py` finds out at load.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch

from relens.errors import ModelError
from relens.models.forward import Forward
from relens.models.lineage import lineage
from relens.models.pool import KeyValuePool, SlotShape, TreeCache
from relens.models.residency import ABSENT, Residency
from relens.models.scoring import ROOT, Scorer, ScoringCounts, TokenTree

IntArray = npt.NDArray[np.int64]

#: Most entries of one attention mask: 64 MiB in float32. A larger forward is cut into chunks of rows.
MASK_ENTRIES = 1 << 24

#: The length that attention kernels like a mask's rows to be a multiple of.
ALIGNMENT = 8


class TreeScorer(Scorer):
    """Scores the nodes of its own new `tree` with the keys and values of at most `pool_bytes` of memory kept.

    begin_of_text: the token put at position 0 before every path, or None for none. context_length: the most tokens
    of a path with that token, where it is less than the model's own.
    """

    def __init__(
        self,
        forward: Forward,
        shape: SlotShape,
        *,
        begin_of_text: int | None,
        pool_bytes: int,
        context_length: int | None = None,
        mask_entries: int = MASK_ENTRIES,
    ) -> None:
        self.tree = TokenTree()
        self.counts = ScoringCounts()
        self.vocabulary_size = forward.vocabulary_size
        self.context_length = (context_length or forward.context_length) - (begin_of_text is not None)
        self.scores_root = begin_of_text is not None
        self._forward = forward
        self._begin_of_text = begin_of_text
        self._pool_bytes = pool_bytes
        self._pool = KeyValuePool(shape, forward.device, pool_bytes)
        self._residency = Residency(self._pool.limit)
        self._mask_entries = mask_entries

    def log_probs(self, nodes: Sequence[int]) -> torch.Tensor:
        """See `Scorer.log_probs`. Also raises `ModelError` for a path beyond the context or the pool."""
        targets = np.asarray(nodes, np.int64)
        result = torch.empty((len(targets), self.vocabulary_size), dtype=torch.float32, device=self._forward.device)
        if len(targets):
            self._check(targets)
            order = np.argsort(targets, kind="stable")
            self._score(targets[order], order, result)
        return result

    def release(self, nodes: Sequence[int]) -> None:
        """See `Scorer.release`."""
        given = np.asarray(nodes, np.int64)
        self._residency.drop(given[given != ROOT])

    @property
    def resident_tokens(self) -> int:
        """How many tokens have their keys and values in memory."""
        return len(self._residency)

    def _check(self, targets: IntArray) -> None:
        if self._begin_of_text is None and (targets == ROOT).any():
            raise ModelError("Without a begin-of-text token the model has no distribution at the start of a text.")
        if (longest := int(self.tree.depths[targets].max())) > self.context_length:
            raise ModelError(f"A text of {longest} tokens is longer than the model's context of {self.context_length}.")

    def _score(self, targets: IntArray, rows: IntArray, result: torch.Tensor) -> None:
        """Write the distribution after `targets[i]`, ascending with repetitions, to `result[rows[i]]`."""
        include_root = self._begin_of_text is not None
        needed = lineage(self.tree, np.unique(targets), include_root).members()
        if len(needed) > self._residency.limit:
            middle = len(targets) // 2
            if targets[0] == targets[-1]:
                raise ModelError(
                    f"A text of {len(needed)} tokens does not fit in the key/value pool of {self._pool_bytes} bytes."
                )
            self._score(targets[:middle], rows[:middle], result)
            self._score(targets[middle:], rows[middle:], result)
            return
        absent = needed[self._residency.slots(needed) == ABSENT]
        self._residency.place(needed, absent)
        self._pool.ensure(self._residency.used)
        # Ascending numbers: an ancestor comes before its descendants, so its keys are there when they are chunked.
        compute = np.union1d(absent, targets)
        chunk = max(1, self._mask_entries // (len(needed) + ALIGNMENT))
        try:
            for start in range(0, len(compute), chunk):
                new = compute[start : start + chunk]
                first, last = np.searchsorted(targets, [new[0], new[-1] + 1])
                self._compute(new, targets[first:last], rows[first:last], result)
        except BaseException:
            self._residency.drop(absent)
            raise

    def _compute(self, new: IntArray, targets: IntArray, rows: IntArray, result: torch.Tensor) -> None:
        """One forward over the nodes `new`, whose other ancestors are all resident."""
        tree = self.tree
        started = time.perf_counter()
        paths = lineage(tree, new, self._begin_of_text is not None)
        seen = paths.members()
        width = -(-len(seen) // ALIGNMENT) * ALIGNMENT
        slots = self._residency.slots(seen)[::-1]
        newest = len(seen) - 1
        tokens = tree.tokens[new].astype(np.int64)
        positions = tree.depths[new].astype(np.int64)
        if self._begin_of_text is None:
            positions -= 1
        else:
            tokens[new == ROOT] = self._begin_of_text
        # One transfer to the device for everything.
        parts = torch.from_numpy(
            np.concatenate(
                [
                    tokens,
                    positions,
                    self._residency.slots(new),
                    slots,
                    np.repeat(slots[:1], width - len(seen)),
                    np.searchsorted(new, targets),
                    rows,
                    newest - np.searchsorted(seen, paths.trunk),
                    paths.rows * width + newest - np.searchsorted(seen, paths.ancestors),
                ]
            )
        ).to(self._forward.device, non_blocking=True)
        count = len(new)
        sizes = [count, count, count, width, len(targets), len(targets), len(paths.trunk), len(paths.rows)]
        token_ids, places, write, read, target_rows, result_rows, trunk, pairs = torch.split(parts, sizes)
        with torch.inference_mode():
            dtype = self._forward.dtype
            mask = torch.full((count, width), torch.finfo(dtype).min, dtype=dtype, device=parts.device)
            mask.index_fill_(1, trunk, 0.0)
            mask.view(-1).index_fill_(0, pairs, 0.0)
            logits = self._forward.logits(
                token_ids[None],
                rows=target_rows,
                attention_mask=mask[None, None],
                position_ids=places[None],
                past_key_values=TreeCache(self._pool, write, read),
                use_cache=True,
            )
            if len(targets):
                result[result_rows] = torch.log_softmax(logits.float(), dim=-1)
            self._forward.synchronize()
        self.counts.forwards += 1
        self.counts.tokens_computed += count
        self.counts.seconds += time.perf_counter() - started
