"""Gradient descent on inputs that need not be words, and the projection of what it reaches to the nearest words.

    embedding    x_t = any vector                                           the encoder reads  x_t
    one-hot      x_t = sigmoid(x'_t), a share between 0 and 1 of each word  the encoder reads  sum_j x_t(j) E_j

                 x_t:  i 0.03   you 0.93   hate 0.02  ...    projected:  i 0   you 1   hate 0  ...

In the one-hot space the objective has a penalty R = sum_t (|x_t| - 2 max_j x_t(j)), which is least, -1 a place, where
x_t is a word (equations 9 and 10). Relaxed inputs often reach the target, and their projections do not: small
differences at each place add up in the encoder's state. So the searches of this room never leave the words.

Each target has an input of its own. It begins as normal random numbers, 3 lower in the one-hot space, as in the
authors' later code. In the embedding space the descent of a target ends with its first hit. In the one-hot space it
goes on, since later hits are nearer to words. The last hit is kept, without one the last input. An embedding is
projected to the nearest one of a word. Words that may not stand in an input have no share in one.

Source: He and Glass 2019, section 3.1 and appendix A.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from relens.errors import LimitError, ModelError, QueryError
from relens.triggers.model.batches import target_mask, target_tensor
from relens.triggers.model.dialogue_losses import DialogueLosses
from relens.triggers.model.dialogue_model import DialogueModel
from relens.triggers.model.vocabulary import BEGIN, END_OF_UTTERANCE, FORBIDDEN
from relens.triggers.relaxation.rows import DescentProgress, Outcome
from relens.triggers.relaxation.settings import SPACES, RelaxationSettings, Space

#: Added to the normal random numbers x' begins with, so that most words begin with a small share.
BEGINNING = -3.0

#: Reports of a descent.
REPORTS = 25

#: Variables of a descent, which takes about six times their memory.
MOST_NUMBERS = 1 << 26


@dataclass(frozen=True)
class Relaxed(Outcome):
    """The outcome with its ids: the greedy reply, the projected input and the greedy reply to it."""

    reply: tuple[int, ...]
    projected: tuple[int, ...]
    projected_reply: tuple[int, ...]


def relax(
    model: DialogueModel,
    targets: Sequence[Sequence[int]],
    space: Space,
    settings: RelaxationSettings | None = None,
    seed: int = 0,
) -> Generator[DescentProgress | None, None, list[Relaxed]]:
    """An input for each target, given as ids with `END`; side by side, and independent of one another.

    Yields None after each step, or a report. Raises `QueryError` for no target, an empty one, or no such space, and
    `LimitError` for too many targets.
    """
    if not targets or any(not target for target in targets):
        raise QueryError("The descent needs targets, each with at least one word.")
    if space not in SPACES:
        raise QueryError(f"The space is one of {', '.join(SPACES)}, not {space!r}.")
    descent = _Descent(model, targets, space, settings or RelaxationSettings(), seed)
    yield from descent.run()
    return descent.results()


def penalty(shares: torch.Tensor) -> torch.Tensor:
    """(...): R of the places (..., n, size) whose shares are not negative; see equation 10."""
    return (shares.sum(dim=-1) - 2.0 * shares.amax(dim=-1)).sum(dim=-1)


class _Descent:
    """Variables of all targets, (rows, free, embedding or size), and the input kept for each."""

    def __init__(
        self,
        model: DialogueModel,
        targets: Sequence[Sequence[int]],
        space: Space,
        settings: RelaxationSettings,
        seed: int,
    ) -> None:
        self._model, self._settings, self._is_one_hot = model, settings, space == "one-hot"
        self._targets = [list(target) for target in targets]
        device = model.device
        self._target_ids = target_tensor([[BEGIN, *target] for target in self._targets]).to(device)
        self._table = model.seq2seq.source_embedding.weight.detach()
        free = model.configuration.source_length - settings.ends
        shape = (free, self._table.shape[0 if self._is_one_hot else 1])
        if len(targets) * free * shape[1] > MOST_NUMBERS:
            most = max(1, MOST_NUMBERS // (free * shape[1]))
            raise LimitError(f"With this vocabulary at most {most:,} targets descend at once.", limit="targets")
        beginning = torch.stack([torch.randn(shape, generator=_generator(target, seed)) for target in self._targets])
        self._variables = (beginning + BEGINNING if self._is_one_hot else beginning).to(device)
        self._velocity = torch.zeros_like(self._variables)
        self._kept = self._variables.clone()
        self._kept_step = [0] * len(targets)
        self._first_hit: list[int | None] = [None] * len(targets)
        self._open = list(range(len(targets)))

    def run(self) -> Generator[DescentProgress | None, None, None]:
        """Move the variables until all targets are done."""
        settings = self._settings
        every = max(1, settings.steps // REPORTS)
        for step in range(settings.steps + 1):
            rows = torch.tensor(self._open, device=self._variables.device)
            variables = self._variables[rows].requires_grad_(True)
            # cuDNN computes no gradient of an LSTM in evaluation mode.
            with torch.enable_grad(), torch.backends.cudnn.flags(enabled=False):
                objective, costs, hits = self._objective(variables, self._target_ids[rows])
                (slope,) = torch.autograd.grad(objective.sum(), variables)
            if not bool(objective.isfinite().all()):
                raise ModelError(
                    f"The descent came to no number in step {step:,}; lower the rate, or the one-hot penalty."
                )
            self._keep(step, hits.tolist(), variables.detach())
            if step == settings.steps or not self._open:
                break
            with torch.no_grad():
                velocity = settings.momentum * self._velocity[rows] + slope + settings.decay * variables
                self._velocity[rows] = velocity
                self._variables[rows] = variables - settings.rate * velocity
            if (step + 1) % every:
                yield None
                continue
            hits_so_far = sum(first is not None for first in self._first_hit)
            yield DescentProgress(step + 1, settings.steps, float(costs.mean()), hits_so_far, len(self._open))

    def results(self) -> list[Relaxed]:
        """The inputs kept and their projections, with the greedy reply to each."""
        seq2seq = self._model.seq2seq
        with torch.inference_mode():
            shares = self._shares(self._kept)
            embeddings = self._embeddings(self._kept)
            projected_ids = self._projected()
            projected = self._table[projected_ids]
            encoded, encoded_words = seq2seq.encode(embeddings=embeddings), seq2seq.encode(embeddings=projected)
            longest = max(map(len, self._targets)) + 1
            replies, word_replies = seq2seq.greedy(encoded, longest), seq2seq.greedy(encoded_words, longest)
            costs = seq2seq.target_costs(encoded, self._target_ids).costs.sum(dim=1)
            columns: dict[str, list[Any]] = {
                "first_hit": self._first_hit,
                "step": self._kept_step,
                "cost": (costs / target_mask(self._target_ids).sum(dim=1)).tolist(),
                "reply": replies,
                "projected": projected_ids.tolist(),
                "projected_reply": word_replies,
                "embedding": (embeddings - projected).norm(dim=2).tolist(),
                "state": (encoded.states - encoded_words.states).norm(dim=2).tolist(),
            }
            if shares is not None:
                words = torch.nn.functional.one_hot(projected_ids[:, : shares.shape[1]], shares.shape[2])
                largest, second = shares.topk(2, dim=2).values.unbind(dim=2)
                columns |= {"largest": largest.tolist(), "second": second.tolist()}
                columns |= {"vector": (shares - words).norm(dim=2).tolist(), "penalty": penalty(shares).tolist()}
        outcomes = []
        for row, target in enumerate(self._targets):
            own: dict[str, Any] = {name: column[row] for name, column in columns.items()}
            hits = {"hit": own["reply"] == target, "projected_hit": own["projected_reply"] == target}
            outcomes.append(Relaxed.from_json(own | hits))
        return outcomes

    def _objective(
        self, variables: torch.Tensor, target_ids: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """(rows,) each: equation 9, the mean cost of a word, and whether the target is a hit."""
        settings, shares = self._settings, self._shares(variables)
        losses = DialogueLosses(self._model.seq2seq, target_ids, ends_input=settings.ends)
        loss = losses.of_embeddings(variables if shares is None else shares @ self._table)
        lengths = target_mask(target_ids).sum(dim=1)
        weights = torch.where(loss.leads > 0.0, settings.epsilon, 1.0)
        objective = (weights * loss.costs).sum(dim=1) / lengths
        if shares is not None:
            weight = settings.penalty / (shares.shape[1] if settings.averages_penalty else 1)
            objective = objective + weight * penalty(shares)
        return objective, loss.costs.detach().sum(dim=1) / lengths, (loss.leads > 0.0).all(dim=1)

    def _keep(self, step: int, hits: list[bool], variables: torch.Tensor) -> None:
        for place, (row, hit) in enumerate(zip(self._open, hits, strict=True)):
            if hit and self._first_hit[row] is None:
                self._first_hit[row] = step
            if hit or self._first_hit[row] is None:
                self._kept[row], self._kept_step[row] = variables[place], step
        if not self._is_one_hot:
            self._open = [row for row, hit in zip(self._open, hits, strict=True) if not hit]

    def _shares(self, variables: torch.Tensor) -> torch.Tensor | None:
        """(rows, free, size): the share of each word, 0 of forbidden ones; None in the embedding space."""
        if not self._is_one_hot:
            return None
        allowed = torch.ones(variables.shape[2], device=variables.device)
        allowed[list(FORBIDDEN)] = 0.0
        return torch.sigmoid(variables) * allowed

    def _embeddings(self, variables: torch.Tensor) -> torch.Tensor:
        """(rows, n, embedding): what the encoder reads."""
        shares = self._shares(variables)
        read = variables if shares is None else shares @ self._table
        if not self._settings.ends:
            return read
        end = self._table[END_OF_UTTERANCE].expand(len(variables), 1, -1)
        return torch.cat([read, end], dim=1)

    def _projected(self) -> torch.Tensor:
        """int64 (rows, n): the word with the largest share, or with the nearest embedding, at each place."""
        nearness = self._kept.clone() if self._is_one_hot else -torch.cdist(self._kept, self._table)
        nearness[:, :, list(FORBIDDEN)] = -torch.inf
        words = nearness.argmax(dim=2)
        if not self._settings.ends:
            return words
        return torch.cat([words, torch.full_like(words[:, :1], END_OF_UTTERANCE)], dim=1)


def _generator(target: Sequence[int], seed: int) -> torch.Generator:
    """Each target has random numbers of its own, the same on every device since they come from the CPU."""
    digest = hashlib.sha256(repr((seed, tuple(target))).encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:7], "big"))
