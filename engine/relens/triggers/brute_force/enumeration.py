"""The reply to every input of a model of characters: with 33 symbols and a length of 6, of 1,291,467,969 inputs.

Inputs of one length are numbered, with their symbols as digits, and come in that order:

    number 0    <pad> <pad> a a a <eou>       the encoder's state after "a a" serves 33 inputs, that after "a" 1,089,
    number 1    <pad> <pad> a a b <eou>       so an input takes little more than two of the seven encoder steps
    ...
    number 33   <pad> <pad> a b a <eou>

The contribution of a symbol to the gates of an LSTM is looked up (`relens.triggers.model.lstm`), as is that of a
constant context. Inputs whose replies have ended leave the batch. The replies are those of `Seq2Seq.greedy`.

A reply is coded as one whole number: its ids are the digits, the first the most significant, in the base of the
vocabulary's size, and ids after `END`, which is 0, are zeros. So millions of replies are sorted and counted as fast as
numbers. Source: He and Glass 2019, appendix B.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from relens.errors import LimitError, QueryError
from relens.triggers.model.lstm import State, WordSteps, lstm_step
from relens.triggers.model.seq2seq import Encoded, Seq2Seq
from relens.triggers.model.vocabulary import BEGIN, END, END_OF_UTTERANCE, PAD

Codes = npt.NDArray[np.int64]

#: Inputs of a batch, on a CPU and on another device.
ROWS, DEVICE_ROWS = 2_048, 1 << 16

#: The most inputs of one length, and the largest code.
MOST_INPUTS = LARGEST_CODE = 2**63 - 1

#: Last symbols of an input that are tried together, each with each.
_TAIL = 2

#: The share of replies that have ended from which on the others are moved together.
_ENDED = 0.25


@dataclass(frozen=True)
class Replies:
    """The replies to the inputs `first`, `first` + 1, ...; codes: int64 (inputs,), see the module."""

    first: int
    codes: Codes


class BruteForce:
    """Answers all inputs made of `symbols`, filled up from the left to `source_length` ids, the last one <eou>.

    longest: ids of a reply, which is cut off there. Weights must not change meanwhile. Raises `LimitError` where a
    reply is too long to be coded as a number.
    """

    def __init__(self, seq2seq: Seq2Seq, symbols: Sequence[int], source_length: int, longest: int) -> None:
        size = seq2seq.configuration.vocabulary_size
        if size**longest > LARGEST_CODE:
            raise LimitError(f"Replies of {longest} among {size} symbols are too many to be numbered.", limit="symbols")
        self.seq2seq = seq2seq.eval()
        self.size, self.longest, self.source_length = size, longest, source_length
        device = seq2seq.output.weight.device
        self.symbols = torch.tensor(list(symbols), device=device)
        self._rows = ROWS if device.type == "cpu" else DEVICE_ROWS
        with torch.no_grad():
            self._encoder = WordSteps(seq2seq.encoder, seq2seq.source_embedding)
            weights = seq2seq.gate_weights()
            self._words = weights.of_words(seq2seq.target_embedding.weight)
            self._of_context, self._of_output = weights.context.T, weights.output.T

    def count(self, length: int) -> int:
        """How many inputs of that length there are. Raises `QueryError` for a length that no input has."""
        if not 1 <= length < self.source_length:
            raise QueryError(f"An input has between 1 and {self.source_length - 1} symbols, not {length}.")
        count: int = len(self.symbols) ** length
        if count > MOST_INPUTS:
            raise LimitError(f"There are too many inputs of {length} symbols to be numbered.", limit="inputs")
        return count

    def inputs(self, length: int, numbers: torch.Tensor) -> torch.Tensor:
        """int64 (inputs, source_length): the ids of the inputs with these numbers, int64 (inputs,)."""
        rows = torch.full((len(numbers), self.source_length), PAD, device=numbers.device)
        rows[:, -1] = END_OF_UTTERANCE
        for place in range(length):
            digits = torch.div(numbers, len(self.symbols) ** place, rounding_mode="floor") % len(self.symbols)
            rows[:, self.source_length - 2 - place] = self.symbols[digits]
        return rows

    @torch.inference_mode()
    def replies(self, length: int, first: int = 0, count: int | None = None) -> Iterator[Replies]:
        """The replies to `count` inputs from number `first` on, in blocks; None: to all inputs from there on.

        Both are whole multiples of the number of inputs that have all but their last two symbols in common.
        """
        together = len(self.symbols) ** min(_TAIL, length)
        count = self.count(length) - first if count is None else count
        if first % together or count % together or not 0 <= first <= first + count <= self.count(length):
            raise ValueError(f"Inputs of {length} symbols come {together} at a time, not {count} from {first} on.")
        step = max(1, self._rows // together) * together
        for begin in range(first, first + count, step):
            numbers = torch.arange(begin, min(begin + step, first + count), together, device=self.symbols.device)
            yield Replies(begin, self._codes(self._encode(length, numbers)).cpu().numpy())

    def _encode(self, length: int, numbers: torch.Tensor) -> Encoded:
        """All inputs that have all but their last two symbols in common with one of these; see `replies`."""
        tail = min(_TAIL, length)
        shared = self.inputs(length, numbers)[:, : self.source_length - 1 - tail]
        state, read = self._encoder.start(len(shared)), []
        for words in shared.T:
            state = self._encoder.step(words, state)
            read.append(state.output)
        count = len(self.symbols)
        for _ in range(tail):
            tried = self._encoder.several(self.symbols.expand(len(state.output), -1), state)
            state = State(tried.output.flatten(0, 1), tried.cell.flatten(0, 1))
            if self.seq2seq.query is not None:
                read = [before.repeat_interleave(count, dim=0) for before in read]
            read.append(state.output)
        end = torch.full_like(state.output[:, 0], END_OF_UTTERANCE, dtype=torch.int64)
        read.append(self._encoder.step(end, state).output)
        return Encoded(torch.stack(read, dim=1) if self.seq2seq.query is not None else read[-1][:, None])

    def _codes(self, encoded: Encoded) -> torch.Tensor:
        """int64 (rows,): the greedy replies."""
        states = encoded.states
        rows = torch.arange(len(states), device=states.device)
        codes = torch.zeros_like(rows)
        offered = encoded.last @ self._of_context if self.seq2seq.query is None else None
        output = cell = torch.zeros_like(encoded.last)
        previous = torch.full_like(rows, BEGIN)
        ended = torch.zeros_like(rows, dtype=torch.bool)
        for place in range(self.longest):
            given = offered
            if given is None:
                embedded = self.seq2seq.target_embedding(previous)
                shares = self.seq2seq.attention(Encoded(states), State(output, cell), embedded)
                given = torch.bmm(shares[:, None], states)[:, 0] @ self._of_context
            output, cell = lstm_step(torch.addmm(self._words[previous] + given, output, self._of_output), cell)
            previous = self.seq2seq.output(output).argmax(dim=1)
            ended |= previous == END
            codes[rows] += torch.where(ended, END, previous) * self.size ** (self.longest - 1 - place)
            if place + 1 == self.longest or float(ended.float().mean()) < _ENDED:
                continue
            going = (~ended).nonzero()[:, 0]
            if not len(going):
                break
            rows, output, cell, previous, ended = (kept[going] for kept in (rows, output, cell, previous, ended))
            if offered is None:
                states = states[going]
            else:
                offered = offered[going]
        return codes


def reply_code(ids: Sequence[int], size: int, longest: int) -> int:
    """The number of a reply of at most `longest` ids, without its `END`, in a vocabulary of that size."""
    return sum(number * size ** (longest - 1 - place) for place, number in enumerate(ids))
