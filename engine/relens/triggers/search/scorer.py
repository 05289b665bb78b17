"""Trying words: the objective with each of a hundred other words at one place, and the best of them.

    are you at [the] office       14 places, one of them open
                 a   3.62
                 my  3.58    <-   accepted: below 3.60, the objective of the input
                 an  4.01

Algorithm 1 tries the words one after the other and takes each that is better than all before. As only one place
changes, that is the same as taking the best of them, so they can be scored together. `PlainScorer` does just this;
`relens.triggers.search.fast_scorer` has the same answers for less work.

The words to try are the `shortlist` of the largest gains, estimated by the gradient (`TriggerProblem.first_order`).
Gains below `TOLERANCE` are rounding and do not count, so a search cannot go round in circles.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch

from relens.triggers.model.dialogue_losses import DialogueLosses, SentenceCosts
from relens.triggers.model.sentence_model import SentenceModel
from relens.triggers.model.seq2seq import Seq2Seq
from relens.triggers.model.vocabulary import FORBIDDEN
from relens.triggers.objective import Objective
from relens.triggers.problem import TriggerProblem

#: Nats by which an input has to be better than another.
TOLERANCE = 2e-5


@dataclass(frozen=True)
class Best:
    """The best word of each row. words: int64 (rows,), the present one where none is better.

    values: (rows,), the objective with it. full: int64 (rows,), how many words needed the whole softmax.
    """

    words: torch.Tensor
    values: torch.Tensor
    full: torch.Tensor


class Scorer(ABC):
    """Scores inputs for targets, all of one length: source_ids int64 (rows, n), target_ids int64 (rows, m + 1)."""

    def __init__(self, seq2seq: Seq2Seq, sentence_model: SentenceModel, objective: Objective) -> None:
        self.seq2seq = seq2seq.eval()
        self.sentence_model = sentence_model.eval()
        self.objective = objective
        self._inputs = SentenceCosts(sentence_model)

    def problem(self, target_ids: torch.Tensor) -> TriggerProblem:
        """The problem of these targets, one for each row."""
        return TriggerProblem(DialogueLosses(self.seq2seq, target_ids), self.objective, self._inputs)

    def values(self, source_ids: torch.Tensor, target_ids: torch.Tensor) -> torch.Tensor:
        """(rows,): the objective of each input, computed plainly."""
        return self.problem(target_ids).evaluate(source_ids[:, :-1]).values

    @abstractmethod
    def best(
        self,
        source_ids: torch.Tensor,
        target_ids: torch.Tensor,
        values: torch.Tensor,
        place: int,
        words: torch.Tensor,
    ) -> Best:
        """The best of the words int64 (rows, G), each tried at `place`; values: (rows,), of the inputs as they are."""


class PlainScorer(Scorer):
    """Every word by a full evaluation of the input that has it."""

    @torch.no_grad()
    def best(
        self,
        source_ids: torch.Tensor,
        target_ids: torch.Tensor,
        values: torch.Tensor,
        place: int,
        words: torch.Tensor,
    ) -> Best:
        """See `Scorer.best`."""
        rows, count = words.shape
        tried = source_ids.repeat_interleave(count, dim=0)
        tried[:, place] = words.reshape(-1)
        objectives = self.values(tried, target_ids.repeat_interleave(count, dim=0)).view(rows, count)
        return best_of(source_ids[:, place], values, words, objectives, torch.full_like(words[:, 0], count))


def best_of(
    present: torch.Tensor, values: torch.Tensor, words: torch.Tensor, objectives: torch.Tensor, full: torch.Tensor
) -> Best:
    """The best of words (rows, G) with these objectives (rows, G), or the present one, (rows,), with its value."""
    least, choice = objectives.min(dim=1)
    better = least < values - TOLERANCE
    chosen = words.gather(1, choice[:, None])[:, 0]
    return Best(torch.where(better, chosen, present), torch.where(better, least, values), full)


def without_forbidden(gain: torch.Tensor, present: torch.Tensor) -> torch.Tensor:
    """A copy of an estimated gain (..., size), with minus infinity for words that may not stand in an input.

    present: int64 (...), the words that stand there, which get minus infinity too.
    """
    allowed = gain.clone()
    allowed[..., list(FORBIDDEN)] = -torch.inf
    return allowed.scatter_(-1, present[..., None], -torch.inf)


def shortlist(gain: torch.Tensor, present: torch.Tensor, count: int) -> torch.Tensor:
    """int64 (rows, G): the words of the largest estimated gain (rows, size); at most `count`.

    present: int64 (rows,), the words that stand there.
    """
    allowed = without_forbidden(gain, present)
    # Where a forbidden word stands, such as in an input from elsewhere, there is one more to choose from.
    possible = int(torch.isfinite(allowed).sum(dim=-1).min())
    return allowed.topk(min(count, possible), dim=-1).indices
