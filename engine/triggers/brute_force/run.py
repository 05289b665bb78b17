"""A study of brute force carried out: one unit of it at a time, on one device.

    run = yield from BruteForceRun.prepared(study, context)
    yield from run.train(1)         {"row": "step", ...}
    yield from run.measure()        {"row": "model", ...}, {"row": "list", ...}
    yield from run.part(3, 0)       {"row": "part", ...}, {"row": "hits", ...}, {"row": "example", ...}
    yield from run.search(3)        {"row": "search", ...}

Every unit needs the trained model; where it is not there (a study that goes on in another process), it is trained anew,
from what was kept of it. None is yielded while there is no row yet, so that somebody may stop it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import torch

from engine.errors import QueryError
from engine.models.hardware import choose_device, use_physical_cores
from engine.studies.rows import ROW, Row
from engine.studies.study import StudyContext
from engine.triggers.background import run_in_background
from engine.triggers.brute_force.character_lists import character_targets, phrases_to_find, read_phrases
from engine.triggers.brute_force.character_training import (
    CharacterPreparation,
    forget_characters,
    held_out_cost,
    prepare_characters,
    trained_characters,
)
from engine.triggers.brute_force.enumeration import BruteForce
from engine.triggers.brute_force.rows import EXAMPLE, HITS, LIST, MODEL, PART, SEARCH, STEP, TARGETS_A_ROW
from engine.triggers.brute_force.search import existing_targets, search_triggers
from engine.triggers.brute_force.tally import Judge, Tally
from engine.triggers.model.characters import INPUT_SYMBOLS, OUTPUT_SYMBOLS, input_symbols, spelled_out
from engine.triggers.model.seq2seq import Seq2Seq

if TYPE_CHECKING:
    from engine.triggers.brute_force.study import BruteForceStudy

Result = TypeVar("Result")


@dataclass(frozen=True)
class BruteForceRun:
    """What the units of a study have in common: its text, where its rows are asked for, where its model is."""

    study: BruteForceStudy
    preparation: CharacterPreparation
    context: StudyContext
    device: torch.device

    @classmethod
    def prepared(cls, study: BruteForceStudy, context: StudyContext) -> Generator[None, None, BruteForceRun]:
        """Read the text. Raises `QueryError` for what is wrong with it, or with the file of phrases."""
        device = choose_device()
        use_physical_cores(device)
        preparation = yield from run_in_background(lambda: prepare_characters(study))
        run = cls(study, preparation, context, device)
        run._check_targets()
        yield None
        return run

    def train(self, epochs: int) -> Iterator[Row | None]:
        """Train for so many epochs, or find that it is done."""
        for progress in trained_characters(self.study, self.preparation, self.device, epochs):
            if self.context.stop():
                return
            yield None if progress is None else {ROW: STEP, **progress.to_json()}

    def measure(self) -> Iterator[Row | None]:
        """The perplexity on words that were set aside, and the lists of targets."""
        model = yield from self._trained()
        if model is None:
            return
        cost = yield from held_out_cost(model, self.preparation, self.device)
        text, vocabulary = self.preparation.text, self.preparation.vocabulary
        yield {
            ROW: MODEL,
            "text": text.name,
            "text_fingerprint": text.fingerprint,
            "words": len(text.words),
            "symbols": list(vocabulary.words_of(input_symbols(vocabulary))),
            "pairs": len(self.preparation.train),
            "test_pairs": len(self.preparation.test),
            "context": self.study.context,
            "nll": cost,
            "perplexity": math.exp(min(cost, 700.0)),
        }
        for name, targets in self._lists().items():
            yield {
                ROW: LIST,
                "list": name,
                "targets": len(targets),
                "examples": list(targets[:: len(targets) // 8 + 1]),
            }

    def part(self, length: int, number: int) -> Iterator[Row | None]:
        """What the model says to the inputs of a part; nothing where a text has too few characters for it."""
        model = yield from self._trained()
        if model is None:
            return
        everything = self._everything(model)
        judge = Judge(self.preparation.vocabulary, self._lists(), OUTPUT_SYMBOLS)
        count = len(everything.symbols) ** self.study.part_symbols(length)
        first = number * count
        if first >= everything.count(length):
            return
        begun, begun_work = time.perf_counter(), time.process_time()
        replies = []
        for block in everything.replies(length, first, count):
            replies.append(block)
            if self.context.stop():
                return
            yield None
        seconds, work = time.perf_counter() - begun, time.process_time() - begun_work
        tally = judge.tally(replies, self.study.examples, (self.study.seed, length, number))
        yield {
            ROW: PART,
            "length": length,
            "first": first,
            "inputs": tally.inputs,
            "outside": tally.outside,
            "different": tally.different,
            "seconds": seconds,
            "cpu_seconds": work,
        }
        yield from self._hits(tally, everything, length)

    def search(self, length: int) -> Iterator[Row | None]:
        """Search for what inputs of that length are known to reach."""
        model = yield from self._trained()
        if model is None:
            return
        vocabulary = self.preparation.vocabulary
        everything = self._everything(model)
        existing = yield from self._until(existing_targets(everything, vocabulary, self._lists(), length))
        for name, targets in (existing or {}).items():
            begun = time.perf_counter()
            ids = [vocabulary.ids(target) for target in targets]
            found = yield from self._until(search_triggers(everything, ids, length, self.study.search_settings()))
            if found is None:
                return
            triggers = {
                target: spelled_out(vocabulary, outcome.trigger[-1 - length : -1])
                for target, outcome in zip(targets, found, strict=True)
                if outcome.trigger
            }
            yield {
                ROW: SEARCH,
                "length": length,
                "list": name,
                "existing": len(targets),
                "triggers": triggers,
                "missed": [target for target in targets if target not in triggers],
                "candidates": sum(outcome.candidates for outcome in found),
                "inputs": everything.count(length),
                "seconds": time.perf_counter() - begun,
            }

    def forget(self) -> None:
        """Nothing more comes: let the text and the model go."""
        forget_characters()

    def _everything(self, model: Seq2Seq) -> BruteForce:
        return BruteForce(model, input_symbols(self.preparation.vocabulary), INPUT_SYMBOLS + 1, OUTPUT_SYMBOLS)

    def _hits(self, tally: Tally, everything: BruteForce, length: int) -> Iterator[Row]:
        """The targets that were said in a part, so many a row, and the examples of what is no word."""
        vocabulary = self.preparation.vocabulary

        def spelled(place: int) -> str:
            (row,) = everything.inputs(length, torch.tensor([place], device=everything.symbols.device)).tolist()
            return spelled_out(vocabulary, row[-1 - length : -1])

        for name, parts in tally.parts.items():
            listed = list(parts.items())  # a target that was said as a whole is there too
            for start in range(0, len(listed), TARGETS_A_ROW):
                some = dict(listed[start : start + TARGETS_A_ROW])
                whole = {target: spelled(tally.whole[name][target]) for target in some if target in tally.whole[name]}
                said = {target: spelled(place) for target, place in some.items()}
                yield {ROW: HITS, "length": length, "list": name, "whole": whole, "parts": said}
        for place, ids in tally.examples:
            yield {ROW: EXAMPLE, "length": length, "input": spelled(place), "output": spelled_out(vocabulary, ids)}

    def _trained(self) -> Generator[None, None, Seq2Seq | None]:
        """The trained model; None where it had to be trained anew and that was stopped."""
        training = trained_characters(self.study, self.preparation, self.device, self.study.recipe.epochs)
        return (yield from self._until(training))

    def _until(self, work: Generator[object, None, Result]) -> Generator[None, None, Result | None]:
        """What some work comes to; None where it was stopped."""
        while True:
            try:
                next(work)
            except StopIteration as end:
                result: Result = end.value
                return result
            if self.context.stop():
                return None
            yield None

    def _check_targets(self) -> None:
        """Before hours of training: raises `QueryError` where nothing of the file of phrases can be looked for."""
        file = self.study.targets
        if file and not phrases_to_find(self.preparation.vocabulary, self.preparation.text.words, read_phrases(file)):
            raise QueryError(
                f"No target of the file {file!r} can be looked for: each has a character that is no"
                " symbol of the model, or is a word of the text."
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
