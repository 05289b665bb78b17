"""The units of a brute-force study, carried out on one device.

    run = yield from BruteForceRun.prepared(study)
    yield from run.train(1)         TrainingStep, ...
    yield from run.measure()        CharacterModel, ListLength, ...
    yield from run.part(3, 0)       Part, PartHits, ..., OutsideReply, ...
    yield from run.search(3)        SearchOutcome, ...

Each unit takes the trained model from its checkpoint; without one it is trained anew. None is yielded between rows, so
that a stop is noticed soon.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from relens.errors import QueryError
from relens.models.hardware import choose_device, use_physical_cores
from relens.studies.rows import StudyRow
from relens.triggers.background import reported, run_in_background
from relens.triggers.brute_force.character_lists import character_targets, possible_phrases, read_phrases
from relens.triggers.brute_force.character_training import (
    CharacterPreparation,
    held_out_cost,
    prepare_characters,
    trained_characters,
)
from relens.triggers.brute_force.enumeration import BruteForce
from relens.triggers.brute_force.rows import (
    CharacterModel,
    ListLength,
    OutsideReply,
    Part,
    PartHits,
    SearchOutcome,
    TrainingStep,
)
from relens.triggers.brute_force.search import existing_targets, search_triggers
from relens.triggers.brute_force.tally import Tally, TargetCounter
from relens.triggers.model.characters import INPUT_SYMBOLS, OUTPUT_SYMBOLS, input_symbols, spelled_out
from relens.triggers.model.seq2seq import Seq2Seq
from relens.triggers.model.training_rows import perplexity
from relens.triggers.search.search_settings import SearchSettings

if TYPE_CHECKING:
    from relens.triggers.brute_force.study import BruteForceStudy

_TARGETS_A_ROW = 1_000


@dataclass(frozen=True)
class BruteForceRun:
    """The common ground of all units: the study, its text, and the device of its model."""

    study: BruteForceStudy
    preparation: CharacterPreparation
    device: torch.device

    @classmethod
    def prepared(cls, study: BruteForceStudy) -> Generator[None, None, BruteForceRun]:
        """Read the text. Raises `QueryError` for what is wrong with it, or with the file of phrases."""
        device = choose_device()
        use_physical_cores(device)
        preparation = yield from run_in_background(lambda: prepare_characters(study))
        run = cls(study, preparation, device)
        run._check_targets()
        yield None
        return run

    def train(self, epochs: int) -> Iterator[StudyRow | None]:
        """Train until so many epochs are done."""
        training = trained_characters(self.study, self.preparation, self.device, epochs)
        yield from reported(training, lambda progress: TrainingStep(**vars(progress)))

    def measure(self) -> Iterator[StudyRow | None]:
        """The perplexity on held-out words, and the lists of targets."""
        model = yield from self._trained()
        cost = yield from held_out_cost(model, self.preparation, self.device)
        text, vocabulary = self.preparation.text, self.preparation.vocabulary
        yield CharacterModel(
            text=text.name,
            text_fingerprint=text.fingerprint,
            words=len(text.words),
            symbols=vocabulary.words_of(input_symbols(vocabulary)),
            pairs=len(self.preparation.train),
            test_pairs=len(self.preparation.test),
            context=self.study.context,
            nll=cost,
            perplexity=perplexity(cost),
        )
        for name, targets in self._lists().items():
            yield ListLength(name, len(targets), targets[:: len(targets) // 8 + 1])

    def part(self, length: int, number: int) -> Iterator[StudyRow | None]:
        """The replies to the inputs of a part; none where the text has too few characters for it."""
        model = yield from self._trained()
        brute_force = self._brute_force(model)
        counter = TargetCounter(self.preparation.vocabulary, self._lists(), OUTPUT_SYMBOLS)
        count = len(brute_force.symbols) ** self.study.part_symbols(length)
        first = number * count
        if first >= brute_force.count(length):
            return
        begun, begun_work = time.perf_counter(), time.process_time()
        replies = []
        for block in brute_force.replies(length, first, count):
            replies.append(block)
            yield None
        seconds, work = time.perf_counter() - begun, time.process_time() - begun_work
        tally = counter.tally(replies, self.study.examples, (self.study.seed, length, number))
        yield Part(length, first, tally.inputs, tally.outside, tally.different, seconds, work)
        yield from self._hits(tally, brute_force, length)

    def search(self, length: int) -> Iterator[StudyRow | None]:
        """Search for the targets that inputs of that length reach."""
        model = yield from self._trained()
        study, vocabulary = self.study, self.preparation.vocabulary
        brute_force = self._brute_force(model)
        existing = yield from existing_targets(brute_force, vocabulary, self._lists(), length)
        settings = SearchSettings(shortlist=study.shortlist, restarts=study.restarts, seed=study.seed)
        for name, targets in existing.items():
            begun = time.perf_counter()
            ids = [vocabulary.ids(target) for target in targets]
            outcomes = yield from search_triggers(brute_force, ids, length, settings)
            triggers = {
                target: spelled_out(vocabulary, outcome.trigger[-1 - length : -1])
                for target, outcome in zip(targets, outcomes, strict=True)
                if outcome.trigger
            }
            yield SearchOutcome(
                length=length,
                list=name,
                existing=len(targets),
                triggers=triggers,
                missed=tuple(target for target in targets if target not in triggers),
                candidates=sum(outcome.candidates for outcome in outcomes),
                inputs=brute_force.count(length),
                seconds=time.perf_counter() - begun,
            )

    def _brute_force(self, model: Seq2Seq) -> BruteForce:
        return BruteForce(model, input_symbols(self.preparation.vocabulary), INPUT_SYMBOLS + 1, OUTPUT_SYMBOLS)

    def _hits(self, tally: Tally, brute_force: BruteForce, length: int) -> Iterator[StudyRow]:
        """The hits of a part, `_TARGETS_A_ROW` in a row, and examples of replies outside the list normal."""
        vocabulary = self.preparation.vocabulary

        def spelled(place: int) -> str:
            (row,) = brute_force.inputs(length, torch.tensor([place], device=brute_force.symbols.device)).tolist()
            return spelled_out(vocabulary, row[-1 - length : -1])

        for name, parts in tally.parts.items():
            listed = list(parts.items())  # those of `tally.whole` included
            for start in range(0, len(listed), _TARGETS_A_ROW):
                some = dict(listed[start : start + _TARGETS_A_ROW])
                whole = {target: spelled(tally.whole[name][target]) for target in some if target in tally.whole[name]}
                yield PartHits(length, name, whole, {target: spelled(place) for target, place in some.items()})
        for place, ids in tally.examples:
            yield OutsideReply(length, spelled(place), spelled_out(vocabulary, ids))

    def _trained(self) -> Generator[None, None, Seq2Seq]:
        training = trained_characters(self.study, self.preparation, self.device, self.study.recipe.epochs)
        return (yield from reported(training, lambda progress: None))

    def _check_targets(self) -> None:
        """Raise `QueryError` before hours of training where no phrase of the file can be a target."""
        file = self.study.targets
        if file and not possible_phrases(self.preparation.vocabulary, self.preparation.text.words, read_phrases(file)):
            raise QueryError(
                f"No phrase of the file {file!r} can be a target: each has a character that is no symbol of the model,"
                " or is a word of the text."
            )

    def _lists(self) -> dict[str, tuple[str, ...]]:
        study = self.study
        return character_targets(
            self.preparation.vocabulary,
            self.preparation.text.words,
            read_phrases(study.targets) if study.targets else None,
            study.random_count,
            study.shortest_reversed,
            study.seed,
        )
