"""The dialogue model: one LSTM encodes the input, another decodes the reply.

    how are you <eou>  --encoder-->  h_1 h_2 h_3 h_4
                                           |
                                         c_t           the context of step t
                                           |
    <s>  i    am    fine  --decoder-->  i   am   fine </s>

At each step the decoder reads the embedding of the previous word and the context, and a linear layer on its state gives
the logits of the next word. It begins with a state of zeros, so it depends on the input through the context alone:

    "last"        c_t = h_n, the encoder's last state, the same at each step
    "general"     c_t = sum_i a_t(i) h_i, where a_t = softmax_i(h_i . W q_t) and q_t is the decoder's state before
    "mlp-query"   the same with a_t = softmax_i(h_i . relu(linear[embedding; state; cell])), as in the authors' code

Source: He and Glass 2019, section 2. Encoder and decoder have embeddings of their own. All tensors are batch first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import torch
from torch import nn
from torch.nn import functional

from relens.errors import QueryError
from relens.record import Record
from relens.triggers.losses import TargetCosts, costs_and_leads, exact
from relens.triggers.model.batches import TARGET_LENGTH, summed_cost, target_mask
from relens.triggers.model.lstm import GateWeights, State, lstm_step
from relens.triggers.model.vocabulary import BEGIN, END, PAD
from relens.triggers.shared_settings import Context

CONTEXTS: tuple[Context, ...] = get_args(Context)

#: The largest embedding or state that a configuration may ask for.
MOST_UNITS = 4096


@dataclass(frozen=True)
class Seq2SeqConfiguration(Record):
    """The shape of a model. dropout: of embeddings and of LSTM states, while training."""

    vocabulary_size: int
    embedding: int = 128
    hidden: int = 256
    context: Context = "last"
    dropout: float = 0.0

    def __post_init__(self) -> None:
        if not (1 <= self.embedding <= MOST_UNITS and 1 <= self.hidden <= MOST_UNITS):
            raise QueryError(f"Embeddings and states have between 1 and {MOST_UNITS:,} numbers.")
        if self.context not in CONTEXTS:
            raise QueryError(f"The context is one of {', '.join(CONTEXTS)}, not {self.context!r}.")
        if not 0.0 <= self.dropout < 1.0:
            raise QueryError(f"The dropout is at least 0 and below 1, not {self.dropout}.")


@dataclass(frozen=True)
class Encoded:
    """An encoded input. states: (batch, n, hidden), the encoder's output after each id."""

    states: torch.Tensor

    @property
    def last(self) -> torch.Tensor:
        """(batch, hidden): the state after the last id."""
        return self.states[:, -1]


class Seq2Seq(nn.Module):
    """The model (see the module), whose parts the searches use."""

    def __init__(self, configuration: Seq2SeqConfiguration) -> None:
        super().__init__()
        size, embedding, hidden = configuration.vocabulary_size, configuration.embedding, configuration.hidden
        self.configuration = configuration
        self.source_embedding = nn.Embedding(size, embedding)
        self.encoder = nn.LSTM(embedding, hidden, batch_first=True)
        self.target_embedding = nn.Embedding(size, embedding)
        #: Reads [embedding of the previous word; context].
        self.decoder = nn.LSTM(embedding + hidden, hidden, batch_first=True)
        self.output = nn.Linear(hidden, size)
        self.dropout = nn.Dropout(configuration.dropout)
        self.query: nn.Linear | None = None
        if configuration.context == "general":
            self.query = nn.Linear(hidden, hidden, bias=False)
        elif configuration.context == "mlp-query":
            self.query = nn.Linear(embedding + 2 * hidden, hidden)

    # --- encoder ------------------------------------------------------------------------------------------

    def encode(self, source_ids: torch.Tensor | None = None, *, embeddings: torch.Tensor | None = None) -> Encoded:
        """An input of int64 ids (batch, n), or of their embeddings (batch, n, embedding), which may carry gradients."""
        if embeddings is None:
            if source_ids is None:
                raise ValueError("Either ids or embeddings are needed.")
            embeddings = self.source_embedding(source_ids)
        states, _ = self.encoder(self.dropout(embeddings))
        return Encoded(self.dropout(states))

    # --- decoder ------------------------------------------------------------------------------------------

    def first_state(self, encoded: Encoded) -> State:
        """The state before the first step: zeros."""
        zeros = torch.zeros_like(encoded.last, dtype=self.output.weight.dtype)
        return State(zeros, zeros)

    def attention(self, encoded: Encoded, state: State, embedded: torch.Tensor) -> torch.Tensor:
        """(batch, n): weights of the encoder's states. embedded: (batch, embedding), the previous word."""
        if self.query is None:
            weights = torch.zeros_like(encoded.states[:, :, 0])
            weights[:, -1] = 1.0
            return weights
        query = self.attention_query(state.output, state.cell, embedded)
        energies = torch.bmm(encoded.states, query[:, :, None].to(encoded.states.dtype))[:, :, 0]
        return torch.softmax(energies, dim=1)

    def attention_query(self, output: torch.Tensor, cell: torch.Tensor, embedded: torch.Tensor) -> torch.Tensor:
        """(..., hidden): the attention's query, which is compared with the encoder's states.

        output, cell: (..., hidden), the decoder's state; embedded: (..., embedding), the previous word.
        """
        assert self.query is not None
        if self.configuration.context == "general":
            query: torch.Tensor = self.query(output)
            return query
        return torch.relu(self.query(torch.cat([embedded, output, cell], dim=-1)))

    def step(self, encoded: Encoded, state: State, previous: torch.Tensor) -> tuple[torch.Tensor, State]:
        """One step after the ids `previous`, int64 (batch,): the logits (batch, size), and the state after it."""
        state = self._advance(encoded, state, self.dropout(self.target_embedding(previous)), self.gate_weights())
        return self.output(self.dropout(state.output)), state

    def decoder_states(self, encoded: Encoded, input_ids: torch.Tensor) -> torch.Tensor:
        """(batch, m, hidden): the decoder's output after each of the ids (batch, m), which begin with `BEGIN`."""
        embedded = self.dropout(self.target_embedding(input_ids))
        if self.query is None:
            context = encoded.last[:, None].expand(-1, input_ids.shape[1], -1)
            outputs, _ = self.decoder(torch.cat([embedded, context.to(embedded.dtype)], dim=-1))
        else:
            weights = self.gate_weights()
            state, written = self.first_state(encoded), []
            for place in range(input_ids.shape[1]):
                state = self._advance(encoded, state, embedded[:, place], weights)
                written.append(state.output)
            outputs = torch.stack(written, dim=1)
        states: torch.Tensor = self.dropout(outputs)
        return states

    def forward(self, source_ids: torch.Tensor, target_ids: torch.Tensor) -> torch.Tensor:
        """The negative log-probability of all predicted words, summed, in nats; see `Batch` for the shapes."""
        return summed_cost(self.output, self.decoder_states(self.encode(source_ids), target_ids[:, :-1]), target_ids)

    def logits(self, encoded: Encoded, target_ids: torch.Tensor) -> torch.Tensor:
        """(batch, m, size): before each of the ids that follow `BEGIN` in target_ids (batch, m + 1)."""
        logits: torch.Tensor = self.output(self.decoder_states(encoded, target_ids[:, :-1]))
        return logits

    def target_costs(self, encoded: Encoded, target_ids: torch.Tensor) -> TargetCosts:
        """The cost of each word of the replies target_ids (batch, m + 1), given those before it."""
        costs = costs_and_leads(exact(self.logits(encoded, target_ids)), target_ids[:, 1:])
        is_word = target_mask(target_ids)
        return TargetCosts(torch.where(is_word, costs.costs, 0.0), torch.where(is_word, costs.leads, torch.inf))

    @torch.no_grad()
    def greedy(self, encoded: Encoded, longest: int = TARGET_LENGTH - 1) -> list[list[int]]:
        """The ids of the greedy reply to each input, `END` included; a reply cut off after `longest` ids has none."""
        batch = encoded.states.shape[0]
        state = self.first_state(encoded)
        previous = torch.full((batch,), BEGIN, device=encoded.states.device)
        written: list[torch.Tensor] = []
        ended = torch.zeros(batch, dtype=torch.bool, device=previous.device)
        for _ in range(longest):
            logits, state = self.step(encoded, state, previous)
            previous = torch.where(ended, PAD, logits.argmax(dim=1))
            written.append(previous)
            ended |= previous == END
            if bool(ended.all()):
                break
        replies = torch.stack(written, dim=1).tolist() if written else [[] for _ in range(batch)]
        return [reply[: reply.index(END) + 1] if END in reply else reply for reply in replies]

    @torch.no_grad()
    def attention_map(self, encoded: Encoded, target_ids: torch.Tensor) -> torch.Tensor:
        """(batch, m, n): the attention weights of each word of the replies target_ids (batch, m + 1); rows sum to 1."""
        state, rows = self.first_state(encoded), []
        for place in range(target_ids.shape[1] - 1):
            embedded = self.target_embedding(target_ids[:, place])
            rows.append(self.attention(encoded, state, embedded))
            state = self._advance(encoded, state, embedded, self.gate_weights())
        return torch.stack(rows, dim=1)

    def gate_weights(self) -> GateWeights:
        """The weights of the decoder, which reads the previous word and the context."""
        return GateWeights.of(self.decoder, self.configuration.embedding)

    def _advance(self, encoded: Encoded, state: State, embedded: torch.Tensor, weights: GateWeights) -> State:
        """The decoder's LSTM, one step."""
        if self.query is None:
            context = encoded.last
        else:
            shares = self.attention(encoded, state, embedded)
            context = torch.bmm(shares[:, None].to(encoded.states.dtype), encoded.states)[:, 0]
        read = torch.cat([context.to(state.output.dtype), state.output], dim=1)
        gates = weights.of_words(embedded) + functional.linear(read, weights.context_and_output)
        return lstm_step(gates, state.cell)
