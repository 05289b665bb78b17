"""A lower bound on the cost of a word by a few dozen logits in place of all.

A word's cost is logsumexp(W h + b) less its own logit. The own logit is one product; the logsumexp needs all ten
thousand. But the inputs that a search tries differ from one that is known, h_0, by a single word. So split it there:

    log( sum of exp over the word itself and the K largest others at h_0   +   sum of exp over the tail )
         computed anew, exactly                                                a convex function of h, so never below
                                                                               its tangent at h_0

    tail(h)  >=  tail(h_0) + mu . (h - h_0)       mu: the mean row of W over the tail, weighed by its softmax at h_0

The bound is exact at h_0 and off by second order around it, and the tail has little of the probability to begin with.
Cost: all logits once for h_0, then K + 2 products a state in place of the whole vocabulary: one for the word, K for the
others, and one for the tangent, which is a row of weights like them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import torch
from torch import nn

from relens.triggers.row_batch import RowBatch


@dataclass
class TangentBound(RowBatch):
    """Around known states, of several positions a row, each with one word.

    weight: (rows, positions, K + 2, hidden), bias: (rows, positions, K + 2): the word, K others, the tangent.
    """

    weight: torch.Tensor
    bias: torch.Tensor

    @classmethod
    def around(cls, output: nn.Linear, states: torch.Tensor, words: torch.Tensor, exact: int) -> Self:
        """Of states (rows, positions, hidden) under a linear layer, for words int64 (rows, positions).

        exact: K; all the other words where there are not so many.
        """
        logits = output(states)  # (rows, positions, size)
        logits.scatter_(2, words[:, :, None], -torch.inf)
        top = logits.topk(min(exact, logits.shape[2] - 1), dim=2).indices
        logits.scatter_(2, top, -torch.inf)
        tail = torch.logsumexp(logits, dim=2)  # minus infinity where there is no tail
        slope = torch.softmax(logits, dim=2).nan_to_num_(0.0) @ output.weight  # (rows, positions, hidden)
        # tail(h_0) - mu . h_0, so that a state needs one product alone
        tail -= (slope * states).sum(dim=2)
        kept = torch.cat([words[:, :, None], top], dim=2)
        return cls(
            torch.cat([output.weight[kept], slope[:, :, None]], dim=2),
            torch.cat([output.bias[kept], tail[:, :, None]], dim=2),
        )

    def at(self, position: int, states: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """For states (rows, count, hidden) at a position: bounds on the word's cost, and on its lead; (rows, count).

        The cost, nats, is not below its bound, which is at least 0. The lead, the word's logit less the largest
        other one, is not above its bound.
        """
        logits = torch.baddbmm(self.bias[:, position, None], states, self.weight[:, position].transpose(1, 2))
        costs = (torch.logsumexp(logits, dim=2) - logits[:, :, 0]).clamp_min_(0.0)
        return costs, logits[:, :, 0] - logits[:, :, 1:-1].amax(dim=2)
