"""The sentence model: a language model of single sentences, which scores how natural an input is.

    <s>  how  are  you      the words so far
    how  are  you  </s>     log P of the next one, each

A trigger that a person may type is a greater worry than one that only a machine would write. So the hit types "io"
require that the words of an input are as likely, on average, as those of real sentences. An input ends in `<eou>`,
which no sentence of the training has; it is scored with `</s>` in its place, and the sum is divided by its length n,
that end included (He and Glass 2019, sections 2 and 4.1, and the authors' code).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from relens.errors import QueryError
from relens.record import Record
from relens.triggers.model.batches import SOURCE_LENGTH, summed_cost, target_mask
from relens.triggers.model.seq2seq import MOST_UNITS
from relens.triggers.model.vocabulary import BEGIN, END, END_OF_UTTERANCE, FORBIDDEN


@dataclass(frozen=True)
class SentenceModelConfiguration(Record):
    """The shape of a model. dropout: of embeddings and of LSTM states, while training."""

    vocabulary_size: int
    embedding: int = 128
    hidden: int = 256
    dropout: float = 0.0

    def __post_init__(self) -> None:
        if not (1 <= self.embedding <= MOST_UNITS and 1 <= self.hidden <= MOST_UNITS):
            raise QueryError(f"Embeddings and states have between 1 and {MOST_UNITS:,} numbers.")
        if not 0.0 <= self.dropout < 1.0:
            raise QueryError(f"The dropout is at least 0 and below 1, not {self.dropout}.")


def as_sentence(source_ids: torch.Tensor) -> torch.Tensor:
    """int64 (batch, n + 1), `BEGIN` ... `END`, of inputs (batch, n) that end in `END_OF_UTTERANCE`."""
    begin = torch.full_like(source_ids[:, :1], BEGIN)
    return torch.cat([begin, source_ids[:, :-1], torch.full_like(begin, END)], dim=1)


class SentenceModel(nn.Module):
    """An LSTM over words, whose parts the searches use."""

    def __init__(self, configuration: SentenceModelConfiguration) -> None:
        super().__init__()
        self.configuration = configuration
        self.embedding = nn.Embedding(configuration.vocabulary_size, configuration.embedding)
        self.lstm = nn.LSTM(configuration.embedding, configuration.hidden, batch_first=True)
        self.output = nn.Linear(configuration.hidden, configuration.vocabulary_size)
        self.dropout = nn.Dropout(configuration.dropout)

    def states(self, input_ids: torch.Tensor | None = None, *, embeddings: torch.Tensor | None = None) -> torch.Tensor:
        """(batch, n, hidden) after each of the ids (batch, n), or of their embeddings, which may carry gradients."""
        if embeddings is None:
            if input_ids is None:
                raise ValueError("Either ids or embeddings are needed.")
            embeddings = self.embedding(input_ids)
        outputs, _ = self.lstm(self.dropout(embeddings))
        states: torch.Tensor = self.dropout(outputs)
        return states

    def forward(self, sentence_ids: torch.Tensor) -> torch.Tensor:
        """The negative log-probability of all words after `BEGIN`, summed, in nats; `PAD` is no word."""
        return summed_cost(self.output, self.states(sentence_ids[:, :-1]), sentence_ids)

    def log_probs(self, sentence_ids: torch.Tensor) -> torch.Tensor:
        """(batch, n) of sentence_ids (batch, n + 1): nats of each id after the first; 0 where there is `PAD`."""
        return torch.where(target_mask(sentence_ids), self._log_probs(sentence_ids), 0.0)

    def input_log_probs(self, source_ids: torch.Tensor) -> torch.Tensor:
        """(batch, n): nats of each id of inputs (batch, n), the last of which counts as `END`; see `as_sentence`.

        Their mean is compared with T_in. Padding would count, so inputs are full.
        """
        return self._log_probs(as_sentence(source_ids))

    def _log_probs(self, sentence_ids: torch.Tensor) -> torch.Tensor:
        logits = self.output(self.states(sentence_ids[:, :-1])).float()
        own: torch.Tensor = logits.gather(2, sentence_ids[:, 1:, None])[:, :, 0]
        return own - torch.logsumexp(logits, dim=2)

    @torch.no_grad()
    def sample_inputs(self, count: int, generator: torch.Generator, length: int = SOURCE_LENGTH) -> torch.Tensor:
        """int64 (count, length): inputs drawn word by word, with `END_OF_UTTERANCE` as the last id.

        Forbidden ids are never drawn. Raises `QueryError` for a length below 2.
        """
        if length < 2:
            raise QueryError(f"An input has at least one word before its end, so 2 ids, not {length}.")
        device = self.output.weight.device
        previous, state = torch.full((count, 1), BEGIN, device=device), None
        written = []
        for _ in range(length - 1):
            outputs, state = self.lstm(self.embedding(previous), state)
            logits = self.output(outputs[:, 0]).float()
            logits[:, list(FORBIDDEN)] = -torch.inf
            previous = torch.multinomial(torch.softmax(logits, dim=1), 1, generator=generator)
            written.append(previous)
        return torch.cat([*written, torch.full((count, 1), END_OF_UTTERANCE, device=device)], dim=1)
