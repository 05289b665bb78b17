"""Which words are worth trying? To first order, by one gradient for the whole vocabulary.

The objective L is a function of the embeddings of the input's words. Were the word at place t a mixture x of words, its
embedding would be the mixture of theirs, and L would change with the share of word v at the rate

    dL/dx_v  =  E_v . dL/de_t          E_v: the embedding of v, e_t: the one that is read at t

so one backward pass and one product with the table E give the rate of every word at every place. A word of the input
also costs something itself ("io"): it is read by the model of sentences, another table, and it is predicted there, at
the cost -log P(v | words before) / n, which is linear in x and so needs no gradient.

The best words by this rate are only worth trying: a whole word further on, the objective is no longer linear.

Source: He and Glass 2019, section 4.2, Algorithm 1 and appendix D.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from engine.triggers.model.sentence_model import SentenceModel, as_sentence
from engine.triggers.model.seq2seq import Seq2Seq
from engine.triggers.model.vocabulary import FORBIDDEN
from engine.triggers.objective import Objective
from engine.triggers.search.row_batch import ByRow
from engine.triggers.search.scorer import MOST_LOGITS


@dataclass
class SentenceSlopes(ByRow):
    """The slopes of an input's own cost. read: (rows, n, embedding), by what the model reads: <s>, then the words.

    states: (rows, n, hidden), from which each id is predicted. weights: (rows,), what a word's cost counts.
    """

    model: SentenceModel
    read: torch.Tensor
    states: torch.Tensor
    weights: torch.Tensor

    def at(self, place: int) -> torch.Tensor:
        """(rows, size), as `FirstOrder.at`: a word is predicted at its place, and read one place later."""
        with torch.no_grad():
            log_probs = torch.log_softmax(self.model.output(self.states[:, place]), dim=1)
            return log_probs * self.weights[:, None] - self.read[:, place + 1] @ self.model.embedding.weight.T


@dataclass
class FirstOrder(ByRow):
    """The slopes of the objective at some inputs.

    reply: (rows, n, embedding), by what the encoder reads, the `embeddings` of words. sentence: the same of the model
    of sentences, where inputs count.
    """

    reply: torch.Tensor
    embeddings: nn.Embedding
    sentence: SentenceSlopes | None = None

    def at(self, place: int) -> torch.Tensor:
        """(rows, size): minus the slope of each word at that place; the larger, the more it promises."""
        promise = -(self.reply[:, place] @ self.embeddings.weight.detach().T)
        return promise if self.sentence is None else promise + self.sentence.at(place)


def first_order(
    seq2seq: Seq2Seq,
    sentence_model: SentenceModel,
    objective: Objective,
    source_ids: torch.Tensor,
    target_ids: torch.Tensor,
) -> FirstOrder:
    """The slopes at inputs int64 (rows, n) for targets int64 (rows, m + 1), which have no padding.

    What counts of each word (see `Objective.word_weights`) is held fixed. Models are in evaluation mode.
    """
    embeddings = seq2seq.source_embedding
    # The rows do not know of each other, and their logits need room.
    positions = max(target_ids.shape[1] - 1, source_ids.shape[1] if objective.scores_inputs else 0)
    step = max(1, MOST_LOGITS // (embeddings.num_embeddings * positions))
    replies: list[torch.Tensor] = []
    parts: list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]] = []
    # cuDNN computes no gradient of an LSTM in evaluation mode, and dropout would blur it in the other.
    with torch.enable_grad(), torch.backends.cudnn.flags(enabled=False):
        for first in range(0, len(source_ids), step):
            sources = source_ids[first : first + step]
            replies.append(_reply_slopes(seq2seq, objective, sources, target_ids[first : first + step]))
            if objective.scores_inputs:
                parts.append(_sentence_slopes(sentence_model, objective, sources))
    if not objective.scores_inputs:
        return FirstOrder(torch.cat(replies), embeddings)
    sentence = SentenceSlopes(sentence_model, *(torch.cat(column) for column in zip(*parts, strict=True)))
    return FirstOrder(torch.cat(replies), embeddings, sentence)


def _reply_slopes(
    seq2seq: Seq2Seq, objective: Objective, source_ids: torch.Tensor, target_ids: torch.Tensor
) -> torch.Tensor:
    """(rows, n, embedding)."""
    words = target_ids[:, 1:, None]
    embeddings = seq2seq.source_embedding.weight.detach()[source_ids].requires_grad_(True)
    logits = seq2seq.logits(seq2seq.encode(embeddings=embeddings), target_ids)
    own = logits.gather(2, words)[:, :, 0]
    costs = torch.logsumexp(logits, dim=2) - own
    first = own.detach() > logits.detach().scatter(2, words, -torch.inf).amax(dim=2)
    cost = (objective.word_weights(costs.detach(), first) * costs).sum()
    (slopes,) = torch.autograd.grad(cost, embeddings)
    return slopes


def _sentence_slopes(
    model: SentenceModel, objective: Objective, source_ids: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """What `SentenceSlopes` has: read, states and weights."""
    sentence_ids = as_sentence(source_ids)
    read = model.embedding.weight.detach()[sentence_ids[:, :-1]].requires_grad_(True)
    states = model.states(embeddings=read)
    logits = model.output(states)
    own = logits.gather(2, sentence_ids[:, 1:, None])[:, :, 0]
    costs = (torch.logsumexp(logits, dim=2) - own).mean(dim=1)
    weights = objective.input_weights(costs.detach())
    (slopes,) = torch.autograd.grad((weights * costs).sum(), read)
    return slopes, states.detach(), weights / source_ids.shape[1]


def without_forbidden(promise: torch.Tensor, present: torch.Tensor) -> torch.Tensor:
    """A copy of promise (..., size), with minus infinity for words that may not stand in an input.

    present: int64 (...), the words that stand there, which are no news either.
    """
    allowed = promise.clone()
    allowed[..., list(FORBIDDEN)] = -torch.inf
    return allowed.scatter_(-1, present[..., None], -torch.inf)


def shortlist(promise: torch.Tensor, present: torch.Tensor, count: int) -> torch.Tensor:
    """int64 (rows, G): the words that promise most, of promise (rows, size); at most `count`.

    present: int64 (rows,), the words that stand there.
    """
    allowed = without_forbidden(promise, present)
    # Where a forbidden word stands, such as in an input from elsewhere, there is one more to choose from.
    possible = int(torch.isfinite(allowed).sum(dim=-1).min())
    return allowed.topk(min(count, possible), dim=-1).indices
