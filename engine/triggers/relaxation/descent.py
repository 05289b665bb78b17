"""What if an input need not be words? Gradient descent on numbers, and what is left of it when words are put back.

    embedding    x_t = any vector                                          the encoder reads  x_t
    one-hot      x_t = sigmoid(x'_t), a share between 0 and 1 of each word  the encoder reads  sum_j x_t(j) E_j

                 x_t:  i 0.03   you 0.93   hate 0.02  ...    projected:  i 0   you 1   hate 0  ...

A word is the second kind of vector with one 1, so there the objective adds R = sum_t (|x_t| - 2 max_j x_t(j)), which is
least, -1 a place, where x_t is a word (equations 9 and 10). The descent often finds numbers that make the model say the
target, and the words next to them do not: small differences at each place add up in the encoder's state. That is why
the searches of this room never leave the words.

Each target has an input of its own, which begins as normal random numbers, 3 lower in the one-hot space, as in the
authors' later code. In the embedding space a target is done when it is hit. In the one-hot space the descent goes on,
for a hit that is nearer to words is worth more; kept is the last input that was a hit, else the last one.
For comparison an embedding is projected too, to the nearest one of a word. Words that may not stand in an input have
no share in one.

Source: He and Glass 2019, section 3.1 and appendix A.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import torch

from engine.errors import LimitError, ModelError, QueryError
from engine.record import Record
from engine.triggers.model.batches import target_mask, target_tensor
from engine.triggers.model.dialogue_losses import DialogueLosses
from engine.triggers.model.dialogue_model import DialogueModel
from engine.triggers.model.vocabulary import BEGIN, END_OF_UTTERANCE, FORBIDDEN
from engine.triggers.relaxation.settings import SPACES, RelaxationSettings, Space

#: How much lower than normal numbers x' begins, so that most words begin with a small share.
BEGINNING = -3.0

#: How often the descent reports.
REPORTS = 25

#: Numbers that a descent may move at once; it needs some six times their room.
MOST_NUMBERS = 1 << 26


@dataclass(frozen=True)
class DescentProgress(Record):
    """Where a descent is. step: from 1. cost: nats a word of the targets, on average; open: targets not yet done."""

    step: int
    steps: int
    cost: float
    hits: int
    open: int


@dataclass(frozen=True)
class Relaxed(Record):
    """What a descent came to for one target.

    hit: whether the greedy reply to the input of numbers is the target. first_hit, step: the step before which it first
    was, None if never, and that of the input that is kept. cost: nats a word of the target. reply: ids of the greedy
    reply. penalty: R, and None in the embedding space. projected, projected_reply, projected_hit: the ids of the words
    instead, and what is said to them.

    By place, of the input that is kept: largest, second: the two largest shares of a word (empty in the embedding
    space). vector, embedding, state: how far the projection moves x_t (one-hot only), what the encoder reads, and its
    state after it, as Euclidean norms.
    """

    hit: bool
    first_hit: int | None
    step: int
    cost: float
    reply: tuple[int, ...]
    penalty: float | None
    projected: tuple[int, ...]
    projected_reply: tuple[int, ...]
    projected_hit: bool
    largest: tuple[float, ...]
    second: tuple[float, ...]
    vector: tuple[float, ...]
    embedding: tuple[float, ...]
    state: tuple[float, ...]


def relax(
    model: DialogueModel,
    targets: Sequence[Sequence[int]],
    space: Space,
    settings: RelaxationSettings | None = None,
    seed: int = 0,
) -> Generator[DescentProgress | None, None, list[Relaxed]]:
    """An input for each target, the ids of which have `END` at the end; all side by side, yet none knows of the others.

    Yields None after each step, or how it goes. Raises `QueryError` for no target, an empty one, or no such space, and
    `LimitError` for more targets than there is room for.
    """
    if not targets or any(not target for target in targets):
        raise QueryError("The descent needs targets, each with at least one word.")
    if space not in SPACES:
        raise QueryError(f"The space is one of {', '.join(SPACES)}, not {space!r}.")
    descent = _Descent(model, targets, space, settings or RelaxationSettings(), seed)
    yield from descent.go()
    return descent.results()


def penalty(shares: torch.Tensor) -> torch.Tensor:
    """(...): R of the places (..., n, size) whose shares are not negative; see equation 10."""
    return (shares.sum(dim=-1) - 2.0 * shares.amax(dim=-1)).sum(dim=-1)


class _Descent:
    """The variables of all targets, (rows, free, embedding or size), and what is kept of them."""

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
        #: What the descent moves, and what is kept of it for each target.
        self._variables = (beginning + BEGINNING if self._is_one_hot else beginning).to(device)
        self._velocity = torch.zeros_like(self._variables)
        self._kept = self._variables.clone()
        self._kept_step = [0] * len(targets)
        self._first_hit: list[int | None] = [None] * len(targets)
        self._open = list(range(len(targets)))

    def go(self) -> Generator[DescentProgress | None, None, None]:
        """Step after step until all are done."""
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
            reports = (step + 1) % every == 0
            found = sum(first is not None for first in self._first_hit)
            yield (
                DescentProgress(step + 1, settings.steps, float(costs.mean()), found, len(self._open))
                if reports
                else None
            )

    def results(self) -> list[Relaxed]:
        """What is kept, and its projection, judged by real greedy replies."""
        seq2seq = self._model.seq2seq
        with torch.inference_mode():
            shares = self._shares(self._kept)
            embeddings = self._embeddings(self._kept)
            projected_ids = self._projected()
            projected = self._table[projected_ids]
            encoded, encoded_words = seq2seq.encode(embeddings=embeddings), seq2seq.encode(embeddings=projected)
            longest = max(map(len, self._targets)) + 1
            replies, word_replies = seq2seq.greedy(encoded, longest), seq2seq.greedy(encoded_words, longest)
            found = seq2seq.target_costs(encoded, self._target_ids)
            costs = (found.costs.sum(dim=1) / target_mask(self._target_ids).sum(dim=1)).tolist()
            embedding = (embeddings - projected).norm(dim=2).tolist()
            state = (encoded.states - encoded_words.states).norm(dim=2).tolist()
            largest: list[list[list[float]]] = [[] for _ in self._targets]
            vector: list[list[float]] = [[] for _ in self._targets]
            penalties: list[float | None] = [None for _ in self._targets]
            if shares is not None:
                free = shares.shape[1]
                words = torch.nn.functional.one_hot(projected_ids[:, :free], shares.shape[2])
                largest = shares.topk(2, dim=2).values.transpose(1, 2).tolist()
                vector = (shares - words).norm(dim=2).tolist()
                penalties = penalty(shares).tolist()
        return [
            Relaxed(
                hit=replies[row] == target,
                first_hit=self._first_hit[row],
                step=self._kept_step[row],
                cost=costs[row],
                reply=tuple(replies[row]),
                penalty=penalties[row],
                projected=tuple(projected_ids[row].tolist()),
                projected_reply=tuple(word_replies[row]),
                projected_hit=word_replies[row] == target,
                largest=tuple(largest[row][0]) if largest[row] else (),
                second=tuple(largest[row][1]) if largest[row] else (),
                vector=tuple(vector[row]),
                embedding=tuple(embedding[row]),
                state=tuple(state[row]),
            )
            for row, target in enumerate(self._targets)
        ]

    def _objective(
        self, variables: torch.Tensor, target_ids: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Equation 9, the mean cost of a word, and whether the target is a hit, each (rows,)."""
        settings, shares = self._settings, self._shares(variables)
        losses = DialogueLosses(self._model.seq2seq, target_ids, ends_input=settings.ends)
        found = losses.of_embeddings(variables if shares is None else shares @ self._table)
        lengths = target_mask(target_ids).sum(dim=1)
        counts = torch.where(found.leads > 0.0, settings.epsilon, 1.0)
        objective = (counts * found.costs).sum(dim=1) / lengths
        if shares is not None:
            weight = settings.penalty / (shares.shape[1] if settings.averages_penalty else 1)
            objective = objective + weight * penalty(shares)
        return objective, found.costs.detach().sum(dim=1) / lengths, (found.leads > 0.0).all(dim=1)

    def _keep(self, step: int, hits: list[bool], variables: torch.Tensor) -> None:
        for place, (row, hit) in enumerate(zip(self._open, hits, strict=True)):
            if hit and self._first_hit[row] is None:
                self._first_hit[row] = step
            if hit or self._first_hit[row] is None:
                self._kept[row], self._kept_step[row] = variables[place], step
        if not self._is_one_hot:
            self._open = [row for row, hit in zip(self._open, hits, strict=True) if not hit]

    def _shares(self, variables: torch.Tensor) -> torch.Tensor | None:
        """(rows, free, size): the share of each word in the one-hot space, and of none that may not stand there."""
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
    """Random numbers of a target's own, on the CPU, so that they are the same on every device."""
    digest = hashlib.sha256(repr((seed, tuple(target))).encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:7], "big"))
