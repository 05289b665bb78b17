"""One LSTM, step by step, from tables: what a word adds to the gates is looked up and not computed.

An LSTM reads the embedding E_v of a word by a product, W E_v + b. A search reads the same few thousand words again and
again, so this is done once for the whole vocabulary; what is left of a step is the product with the state before it.
"""

from __future__ import annotations

import torch
from torch import nn

#: Output and cell, each (..., hidden).
State = tuple[torch.Tensor, torch.Tensor]


def advanced(gates: torch.Tensor, cell: torch.Tensor) -> State:
    """Output and cell after gates (..., 4 hidden), which PyTorch orders as input, forget, cell, output.

    The gates are overwritten: they are four times as large as the state, and memory is what a step waits for. On a CPU
    a tanh takes as long as ten sigmoids, so it is computed as one: tanh x = 2 sigmoid 2x - 1, within 2e-7.
    """
    admit, forget, new, show = gates.chunk(4, dim=-1)
    new.mul_(2.0)
    gates.sigmoid_()
    new.mul_(2.0).sub_(1.0)
    cell = (forget * cell).addcmul_(admit, new)
    return (2.0 * cell).sigmoid_().mul_(2.0).sub_(1.0).mul_(show), cell


class WordSteps:
    """The steps of an LSTM whose only input is words. Weights must not change meanwhile."""

    def __init__(self, lstm: nn.LSTM, embedding: nn.Embedding) -> None:
        of_word, of_state, bias, more_bias = lstm.all_weights[0]
        #: (size, 4 hidden): what a word adds to the gates.
        self.table = torch.addmm(bias + more_bias, embedding.weight, of_word.T)
        self._of_state = of_state.T.contiguous()
        self._hidden = lstm.hidden_size

    def start(self, rows: int) -> State:
        """Zeros, (rows, hidden)."""
        zeros = self.table.new_zeros(rows, self._hidden)
        return zeros, zeros

    def step(self, words: torch.Tensor, state: State) -> State:
        """After one word each, int64 (rows,)."""
        output, cell = state
        return advanced(torch.addmm(self.table[words], output, self._of_state), cell)

    def several(self, words: torch.Tensor, state: State) -> State:
        """After each of the words int64 (rows, count) instead: (rows, count, hidden), from states (rows, hidden)."""
        output, cell = state
        return advanced(self.table[words].add_((output @ self._of_state)[:, None]), cell[:, None])

    def shared(self, words: torch.Tensor, state: State) -> State:
        """After one word each, int64 (rows,), from several states a row, (rows, count, hidden)."""
        output, cell = state
        return advanced((output @ self._of_state).add_(self.table[words][:, None]), cell)
