"""Searches side by side: each has a target, an input that changes word by word, and its objective.

    target          restart   input                                       objective
    you are bad        0      the of office at you ... <eou>                4.21
    you are bad        1      go yeah blue is here ... <eou>                4.35
    shut up now        0      ...

Searches are independent: the first input and all draws come from a generator of the search's own, seeded by the words
of the target, the number of the restart and the seed. So a search has the same result alone, in company, and again. An
input begins as random words; for "io" as a sentence drawn from the model of sentences, since a search from nonsense
hardly reaches a likely sentence.

Source: He and Glass 2019, section 4.2, Algorithm 1.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from relens.record import Record
from relens.triggers.model.dialogue_model import DialogueModel
from relens.triggers.model.vocabulary import BEGIN, END_OF_UTTERANCE, SPECIAL_WORDS
from relens.triggers.search.scorer import Best, Scorer


@dataclass(frozen=True)
class Edit(Record):
    """A word that was put in another's place; before, after: ids. value: the objective with it."""

    restart: int
    place: int
    before: int
    after: int
    value: float


@dataclass
class Searches:
    """Rows of searches whose targets have one length.

    source_ids: int64 (rows, n); target_ids: int64 (rows, m + 1); values: (rows,). number, restart: of the target
    among all targets, and of the search among those for it. All int64 (rows,): candidates, full, gradients:
    inputs that were tried, those of them that needed the whole softmax, and backward passes; steps_without_change:
    places in a row that brought nothing. padding: so many places at the beginning are not open, which only
    `relens.triggers.search.gibbs` knows.
    """

    source_ids: torch.Tensor
    target_ids: torch.Tensor
    values: torch.Tensor
    number: list[int]
    restart: list[int]
    generators: list[torch.Generator]
    edits: list[list[Edit]]
    candidates: torch.Tensor
    full: torch.Tensor
    gradients: torch.Tensor
    steps_without_change: torch.Tensor
    padding: int = 0

    @property
    def free(self) -> int:
        """How many places of an input are open: all but its padding and its end."""
        return self.source_ids.shape[1] - 1 - self.padding

    @property
    def places(self) -> range:
        """The open ones."""
        return range(self.padding, self.source_ids.shape[1] - 1)

    def take(self, rows: Sequence[int]) -> Searches:
        """A copy of some rows, with an account of its own."""
        at = torch.tensor(list(rows), device=self.source_ids.device)
        return Searches(
            self.source_ids[at],
            self.target_ids[at],
            self.values[at],
            [self.number[row] for row in rows],
            [self.restart[row] for row in rows],
            [self.generators[row] for row in rows],
            [[] for _ in rows],
            torch.zeros_like(at),
            torch.zeros_like(at),
            torch.zeros_like(at),
            self.steps_without_change[at],
            self.padding,
        )

    def put(self, rows: Sequence[int], searches: Searches) -> None:
        """Take over inputs and values of a copy from `take`."""
        at = torch.tensor(list(rows), device=self.source_ids.device)
        self.source_ids[at] = searches.source_ids
        self.values[at] = searches.values
        self.steps_without_change[at] = searches.steps_without_change

    def accept(self, rows: torch.Tensor, place: int, best: Best) -> torch.Tensor:
        """Put the best word of some rows, by their numbers, int64, in its place; bool (rows,): whether it is new."""
        changed = best.words != self.source_ids[rows, place]
        for number in changed.nonzero()[:, 0].tolist():
            self._note(int(rows[number]), place, int(best.words[number]), float(best.values[number]))
        self.source_ids[rows, place] = best.words
        self.values[rows] = best.values
        self.full[rows] += best.full
        self.steps_without_change[rows] = torch.where(changed, 0, self.steps_without_change[rows] + 1)
        return changed

    def become(self, row: int, source_ids: torch.Tensor, value: torch.Tensor) -> None:
        """Change several words of a row at once; source_ids: int64 (n,), value: (), the objective with all of them."""
        for place in (source_ids != self.source_ids[row]).nonzero()[:, 0].tolist():
            self._note(row, place, int(source_ids[place]), float(value))
        self.source_ids[row], self.values[row] = source_ids, value

    def _note(self, row: int, place: int, after: int, value: float) -> None:
        self.edits[row].append(Edit(self.restart[row], place, int(self.source_ids[row, place]), after, value))


def begin(
    model: DialogueModel, scorer: Scorer, targets: Sequence[tuple[int, Sequence[int]]], restarts: int, seed: int
) -> Searches:
    """`restarts` searches for each target, (its number, its ids with `END`); all targets of one length."""
    rows = [(number, list(ids), restart) for number, ids in targets for restart in range(restarts)]
    generators = [generator_of(model.device, ids, restart, seed) for _, ids, restart in rows]
    source_ids = torch.cat([_beginning(model, scorer.objective.scores_inputs, generator) for generator in generators])
    target_ids = torch.tensor([[BEGIN, *ids] for _, ids, _ in rows], device=model.device)
    return begin_at(scorer, source_ids, target_ids, [(number, restart) for number, _, restart in rows], generators)


def begin_at(
    scorer: Scorer,
    source_ids: torch.Tensor,
    target_ids: torch.Tensor,
    rows: Sequence[tuple[int, int]],
    generators: Sequence[torch.Generator],
    padding: int = 0,
) -> Searches:
    """Searches that begin at given inputs; rows: the numbers of target and restart of each. See `Searches`."""
    nothing = torch.zeros_like(source_ids[:, 0])
    return Searches(
        source_ids,
        target_ids,
        scorer.values(source_ids, target_ids),
        [number for number, _ in rows],
        [restart for _, restart in rows],
        list(generators),
        [[] for _ in rows],
        nothing.clone(),
        nothing.clone(),
        nothing.clone(),
        nothing,
        padding,
    )


def generator_of(device: torch.device, ids: Sequence[int], restart: int, seed: int) -> torch.Generator:
    """The generator of the search for a target, its ids, that no other search draws from."""
    digest = hashlib.sha256(repr((seed, restart, tuple(ids))).encode()).digest()
    return torch.Generator(device).manual_seed(int.from_bytes(digest[:7], "big"))


def random_words(generator: torch.Generator, size: int, count: int) -> torch.Tensor:
    """int64 (count,): words drawn uniformly from a vocabulary of that size, special ones left out."""
    return torch.randint(len(SPECIAL_WORDS), size, (count,), generator=generator, device=generator.device)


def _beginning(model: DialogueModel, likely: bool, generator: torch.Generator) -> torch.Tensor:
    length = model.configuration.source_length
    if likely:
        return model.sentence_model.sample_inputs(1, generator, length)
    words = random_words(generator, len(model.vocabulary), length - 1)
    return torch.cat([words, words.new_tensor([END_OF_UTTERANCE])])[None]
