"""Training a dialogue model and a sentence model: the same loop for both, an epoch at a time.

    trainer = Trainer(model, reply_loss(model), pairs, Recipe(), seed=0, device=device)
    for progress in trainer.epoch():      step 320 of 1,610, 4.71 nats a word, 12,000 words a second, 2 min left
        ...
    trainer.save(path)                    weights, the optimiser's state, and how many epochs are done

The order of the pairs and the dropout follow from the seed, the epoch and the step. So training from a checkpoint has
the same result as training without a break. The loss of a step is per word: a long reply weighs more than a short one.
"""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from relens.errors import ModelError, QueryError
from relens.triggers.model.batches import Batch, EncodedPairs
from relens.triggers.model.recipe import Recipe
from relens.triggers.model.sentence_model import SentenceModel
from relens.triggers.model.seq2seq import Seq2Seq
from relens.triggers.model.training_rows import TrainingProgress

#: Reports of an epoch, and pairs of a batch that is only measured.
REPORTS, MEASURED_BATCH = 100, 128

#: Nats a word of training that diverged: a guess among a million words costs 14.
MOST_COST = 100.0

#: Between the seeds of two epochs.
_STRIDE = 1_000_003


#: The negative log-probability of all words of a batch, summed, in nats.
Loss = Callable[[Batch], torch.Tensor]


def reply_loss(model: Seq2Seq) -> Loss:
    """That of the replies, given their inputs."""
    return lambda batch: model(batch.source_ids, batch.target_ids)


def sentence_loss(model: SentenceModel) -> Loss:
    """That of the replies as sentences by themselves."""
    return lambda batch: model(batch.target_ids)


class Trainer:
    """A model in training, on `device`. done: epochs that are done."""

    def __init__(
        self, model: nn.Module, loss: Loss, pairs: EncodedPairs, recipe: Recipe, seed: int, device: torch.device
    ) -> None:
        if not len(pairs):
            raise QueryError("There is no pair to train with.")
        self.model = model.to(device)
        self.done = 0
        self._loss, self._pairs, self._recipe, self._seed, self._device = loss, pairs, recipe, seed, device
        # All of a step of Adam in one pass over the weights: a tenth of the time of training on a CPU.
        self._is_fused = recipe.optimiser == "adam" and device.type in ("cpu", "cuda")
        self._optimiser = self._make_optimiser()

    def epoch(self) -> Iterator[TrainingProgress | None]:
        """Train on every pair once: None after each step, or a report. Raises `ModelError` if the loss is no number."""
        recipe, steps = self._recipe, self._pairs.batch_count(self._recipe.batch)
        every = max(1, steps // REPORTS)
        begun, all_words = time.perf_counter(), 0
        total = torch.zeros((), dtype=torch.float64, device=self._device)
        words = 0
        self.model.train()
        for step, batch in enumerate(self._pairs.batches(recipe.batch, self._seed + _STRIDE * self.done)):
            for group in self._optimiser.param_groups:
                group["lr"] = recipe.rate_at(self.done, step, steps)
            total += self._step(batch, step)
            words += batch.words
            if (step + 1) % every and step + 1 < steps:
                yield None
                continue
            all_words += words
            loss = float(total) / words
            if not math.isfinite(loss):
                raise ModelError(
                    f"Training came to no number in step {step + 1} of epoch {self.done + 1}; lower the learning rate."
                )
            seconds = time.perf_counter() - begun
            left = (steps - step - 1 + (recipe.epochs - self.done - 1) * steps) * seconds / (step + 1)
            yield TrainingProgress(self.done + 1, step + 1, steps, loss, all_words / seconds, left)
            total.zero_()
            words = 0
        self.model.eval()
        self.done += 1

    def cost(self, pairs: EncodedPairs) -> Generator[None, None, float]:
        """See `mean_negative_log_likelihood`."""
        return mean_negative_log_likelihood(self.model, self._loss, pairs, self._device)

    def _make_optimiser(self) -> torch.optim.Optimizer:
        parameters, rate, decay = self.model.parameters(), self._recipe.rate, self._recipe.weight_decay
        if self._recipe.optimiser == "adam":
            return torch.optim.Adam(parameters, lr=rate, weight_decay=decay, fused=self._is_fused)
        return torch.optim.SGD(parameters, lr=rate, weight_decay=decay, momentum=self._recipe.momentum)

    def _step(self, batch: Batch, step: int) -> torch.Tensor:
        """One step; the summed loss before it."""
        batch = Batch(batch.source_ids.to(self._device), batch.target_ids.to(self._device))
        self._optimiser.zero_grad(set_to_none=True)
        generators = [self._device] if self._device.type == "cuda" else []
        with torch.random.fork_rng(generators):
            torch.manual_seed(self._seed + _STRIDE * self.done + step)  # of the dropout
            with torch.autocast(self._device.type, torch.bfloat16, enabled=self._recipe.autocast):
                loss = self._loss(batch)
        (loss / batch.words).backward()  # type: ignore[no-untyped-call]
        if self._recipe.clip is not None:
            nn.utils.clip_grad_norm_(self.model.parameters(), self._recipe.clip)
        self._optimiser.step()
        return loss.detach()

    # --- checkpoints --------------------------------------------------------------------------------------

    def save(self, path: Path) -> None:
        """Write everything that `load` needs; the file is whole or not there. Raises `ModelError`."""
        tensors = {f"weight/{name}": tensor.detach() for name, tensor in self.model.state_dict().items()}
        for name, parameter in self.model.named_parameters():
            for key, value in self._optimiser.state.get(parameter, {}).items():
                if isinstance(value, torch.Tensor):
                    tensors[f"optimiser/{key}/{name}"] = value
        tensors["done"] = torch.tensor(self.done)
        unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            save_file({name: tensor.contiguous().cpu() for name, tensor in tensors.items()}, unfinished)
            os.replace(unfinished, path)
        except (OSError, SafetensorError) as error:
            with contextlib.suppress(OSError):
                unfinished.unlink()
            raise ModelError(f"The checkpoint {path} cannot be written: {error}.") from error

    def load(self, path: Path) -> None:
        """Go on from `save`. Raises `ModelError` for a file that was not written for this model."""
        try:
            tensors = load_file(path)
            weights = {name.removeprefix("weight/"): tensors[name] for name in tensors if name.startswith("weight/")}
            self.model.load_state_dict(weights)
            self.done = int(tensors["done"])
        except (OSError, SafetensorError, KeyError, RuntimeError, ValueError) as error:
            raise ModelError(f"The checkpoint {path} cannot be gone on from.") from error
        parameters = dict(self.model.named_parameters())
        for name, tensor in tensors.items():
            part, _, rest = name.partition("/")
            key, _, parameter = rest.partition("/")
            if part == "optimiser" and parameter in parameters:
                # Adam counts its steps where it computes, or else on the CPU.
                at_home = tensor if key == "step" and not self._is_fused else tensor.to(self._device)
                self._optimiser.state[parameters[parameter]][key] = at_home


def trained(new: Callable[[], Trainer], path: Path, epochs: int) -> Generator[TrainingProgress | None, None, Trainer]:
    """The trainer after at least so many epochs, from its checkpoint at `path` or a new one; yields as `epoch` does.

    A checkpoint is written after each epoch.
    """
    trainer = new()
    if path.is_file():
        try:
            trainer.load(path)
        except ModelError:
            trainer = new()
    while trainer.done < epochs:
        yield from trainer.epoch()
        trainer.save(path)
    return trainer


def mean_negative_log_likelihood(
    model: nn.Module, loss: Loss, pairs: EncodedPairs, device: torch.device
) -> Generator[None, None, float]:
    """Nats a word of all pairs, in float32; yields None after each batch, so that a stop is noticed soon.

    Its opposite is T_out of a dialogue model and T_in of a sentence model, its exponential the perplexity. Raises
    `ModelError` where it is above `MOST_COST` or no number.
    """
    model.eval()
    total, words = 0.0, 0
    for batch in pairs.batches(MEASURED_BATCH):
        with torch.inference_mode():
            total += float(loss(Batch(batch.source_ids.to(device), batch.target_ids.to(device))))
        words += batch.words
        yield None
    if not words:
        raise QueryError("There is no pair to measure with.")
    cost = total / words
    if not cost < MOST_COST:  # nor is one that is no number
        costs = f"{cost:,.0f} nats" if math.isfinite(cost) else "no number of nats"
        raise ModelError(f"Training led the model astray, to which a word costs {costs} now; lower the learning rate.")
    return cost
