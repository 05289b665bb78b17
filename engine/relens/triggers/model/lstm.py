"""The step of an LSTM, with its products split so that shared terms are computed once.

    gates   =  W_x x  +  W_c c  +  W_h h  +  b         word x, context c, output h of the step before
    cell'   =  forget * cell  +  input * candidate     forget, input, output = sigmoid(gate), candidate = tanh(gate)
    output' =  output * tanh(cell')

A search reads the same few thousand words again and again, so W_x x + b is a table over the vocabulary. A hundred words
that are tried in one place share the state before them, so W_h h is one product for all. `nn.LSTM` reads whole
sentences; steps use its weights and `lstm_step`.

Source: S. Hochreiter and J. Schmidhuber, "Long Short-Term Memory", 1997, with forget gates (Gers et al. 2000).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import torch
from torch import nn
from torch.nn import functional


class State(NamedTuple):
    """The state between two steps, each (..., hidden)."""

    output: torch.Tensor
    cell: torch.Tensor


def lstm_step(gates: torch.Tensor, cell: torch.Tensor) -> State:
    """The state after gates (..., 4 hidden), in the order of PyTorch: input, forget, candidate, output."""
    input_gate, forget_gate, candidate, output_gate = gates.chunk(4, dim=-1)
    cell = torch.sigmoid(forget_gate) * cell + torch.sigmoid(input_gate) * torch.tanh(candidate)
    return State(torch.sigmoid(output_gate) * torch.tanh(cell), cell)


@dataclass(frozen=True)
class GateWeights:
    """The weights of an LSTM that reads a word, and maybe a context; each (4 hidden, width of its input).

    bias: (4 hidden,). context_and_output: both side by side, for one product.
    """

    word: torch.Tensor
    context_and_output: torch.Tensor
    bias: torch.Tensor
    context_width: int

    @classmethod
    def of(cls, lstm: nn.LSTM, word_width: int) -> Self:
        """The weights of a one-layer LSTM whose first `word_width` inputs are the word."""
        of_input, of_output, bias, more_bias = lstm.all_weights[0]
        behind = torch.cat([of_input[:, word_width:], of_output], dim=1)
        return cls(of_input[:, :word_width], behind, bias + more_bias, lstm.input_size - word_width)

    @property
    def context(self) -> torch.Tensor:
        """(4 hidden, context)."""
        return self.context_and_output[:, : self.context_width]

    @property
    def output(self) -> torch.Tensor:
        """(4 hidden, hidden)."""
        return self.context_and_output[:, self.context_width :]

    def of_words(self, embedded: torch.Tensor) -> torch.Tensor:
        """(..., 4 hidden): the terms of words in the gates, with the bias; embedded: (..., embedding)."""
        return functional.linear(embedded, self.word, self.bias)


class WordSteps:
    """The steps of an LSTM whose only input is words. Weights must not change meanwhile."""

    def __init__(self, lstm: nn.LSTM, embedding: nn.Embedding) -> None:
        weights = GateWeights.of(lstm, embedding.embedding_dim)
        #: (size, 4 hidden): the term of each word in the gates.
        self.table = weights.of_words(embedding.weight)
        self._of_output = weights.output.T
        self._hidden = lstm.hidden_size

    def start(self, rows: int) -> State:
        """Zeros, (rows, hidden)."""
        zeros = self.table.new_zeros(rows, self._hidden)
        return State(zeros, zeros)

    def step(self, words: torch.Tensor, state: State) -> State:
        """After one word each, int64 (rows,)."""
        return lstm_step(torch.addmm(self.table[words], state.output, self._of_output), state.cell)

    def several(self, words: torch.Tensor, state: State) -> State:
        """After each of the words int64 (rows, count) instead: (rows, count, hidden), from states (rows, hidden)."""
        gates = self.table[words].add_((state.output @ self._of_output)[:, None])
        return lstm_step(gates, state.cell[:, None])

    def shared(self, words: torch.Tensor, state: State) -> State:
        """After one word each, int64 (rows,), from several states a row, (rows, count, hidden)."""
        gates = (state.output @ self._of_output).add_(self.table[words][:, None])
        return lstm_step(gates, state.cell)
