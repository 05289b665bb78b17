"""A search measured against brute force: how many of the targets that some input reaches does it find?

    all inputs of three symbols      reach "the", "to", 97 other words of the list normal
    gibbs-enum for these 99          finds inputs for 93, and tries 600 of 35,937 inputs for each

The search is that of `relens.triggers.search.gibbs` for "o-greedy". It begins at random symbols, as many as in the
inputs that were enumerated, with padding in front of them. A target is found when it is the greedy reply to an input of
one of the restarts; then the others stop. So no target is found that does not exist, and each that is missed is the
search's failure. Source: He and Glass 2019, section 4.2 and appendix B.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from relens.triggers.brute_force.enumeration import BruteForce, Codes, reply_code
from relens.triggers.hits import HitType, Thresholds
from relens.triggers.model.sentence_model import SentenceModel, SentenceModelConfiguration
from relens.triggers.model.seq2seq import Seq2Seq
from relens.triggers.model.vocabulary import BEGIN, END, END_OF_UTTERANCE, PAD, WordVocabulary
from relens.triggers.objective import Objective
from relens.triggers.search.fast_scorer import FastScorer
from relens.triggers.search.gibbs import gibbs_sweep
from relens.triggers.search.search_settings import SearchSettings
from relens.triggers.search.searches import Searches, begin_at, generator_of, random_words

#: Searches side by side.
MOST_ROWS = 256


@dataclass
class Outcome:
    """The search for one target. trigger: ids of an input, () where none was found; candidates: inputs it tried."""

    trigger: tuple[int, ...] = ()
    candidates: int = 0


def existing_targets(
    brute_force: BruteForce, vocabulary: WordVocabulary, lists: Mapping[str, Sequence[str]], length: int
) -> Generator[None, None, dict[str, list[str]]]:
    """The targets of each list that are the reply to an input of `length` symbols; yields after some inputs."""
    blocks: list[Codes] = []
    for block in brute_force.replies(length):
        blocks.append(np.unique(block.codes))
        yield
    codes = set(np.unique(np.concatenate(blocks)).tolist())
    return {
        name: [
            target
            for target in targets
            if reply_code(vocabulary.ids(target), brute_force.size, brute_force.longest) in codes
        ]
        for name, targets in lists.items()
    }


def search_triggers(
    brute_force: BruteForce, targets: Sequence[Sequence[int]], length: int, settings: SearchSettings
) -> Generator[None, None, list[Outcome]]:
    """Search inputs of `length` symbols for targets, ids without `END`; an `Outcome` each. Yields after each place.

    Of the settings, shortlist, sweeps, restarts and seed matter.
    """
    model, longest = brute_force.seq2seq, brute_force.longest
    with torch.random.fork_rng([]):  # inputs do not count, so its weights do not matter
        sentences = SentenceModel(SentenceModelConfiguration(brute_force.size, 1, 1)).to(brute_force.symbols.device)
    scorer = FastScorer(model, sentences, Objective(HitType("o", "greedy"), Thresholds(0.0, 0.0)))
    outcomes = [Outcome() for _ in targets]
    # A reply of full length is cut off there; a shorter one has to end.
    replies = [list(ids) if len(ids) == longest else [*ids, END] for ids in targets]
    by_length: dict[int, list[int]] = defaultdict(list)
    for number, ids in enumerate(replies):
        by_length[len(ids)].append(number)
    together = max(1, MOST_ROWS // settings.restarts)
    for numbers in by_length.values():
        for first in range(0, len(numbers), together):
            searches = _begin(brute_force, scorer, replies, numbers[first : first + together], length, settings)
            yield from _search(scorer, searches, replies, outcomes, longest, settings)
    return outcomes


def _begin(
    brute_force: BruteForce,
    scorer: FastScorer,
    replies: Sequence[Sequence[int]],
    numbers: Sequence[int],
    length: int,
    settings: SearchSettings,
) -> Searches:
    device = brute_force.symbols.device
    rows = [(number, restart) for number in numbers for restart in range(settings.restarts)]
    generators = [generator_of(device, replies[number], restart, settings.seed) for number, restart in rows]
    source_ids = torch.full((len(rows), brute_force.source_length), PAD, device=device)
    source_ids[:, -1] = END_OF_UTTERANCE
    for row, generator in enumerate(generators):
        source_ids[row, -1 - length : -1] = random_words(generator, brute_force.size, length)
    target_ids = torch.tensor([[BEGIN, *replies[number]] for number, _ in rows], device=device)
    return begin_at(scorer, source_ids, target_ids, rows, generators, brute_force.source_length - 1 - length)


def _search(
    scorer: FastScorer,
    searches: Searches,
    replies: Sequence[Sequence[int]],
    outcomes: list[Outcome],
    longest: int,
    settings: SearchSettings,
) -> Generator[None, None, None]:
    """Sweep until all targets are found, or no search improves, and update `outcomes`."""
    active = list(range(len(searches.number)))
    _decode(scorer.seq2seq, searches, active, replies, outcomes, longest)
    for _ in range(settings.sweeps):
        active = [row for row in active if not outcomes[searches.number[row]].trigger]
        if not active:
            return
        part = searches.take(active)
        before = part.values.clone()
        yield from gibbs_sweep(scorer, part, settings.shortlist)
        searches.put(active, part)
        for row, candidates in zip(active, part.candidates.tolist(), strict=True):
            outcomes[searches.number[row]].candidates += candidates
        _decode(scorer.seq2seq, searches, active, replies, outcomes, longest)
        active = [row for row, better in zip(active, (part.values < before).tolist(), strict=True) if better]


@torch.no_grad()
def _decode(
    model: Seq2Seq,
    searches: Searches,
    rows: Sequence[int],
    replies: Sequence[Sequence[int]],
    outcomes: list[Outcome],
    longest: int,
) -> None:
    """Decode the inputs of some rows, and keep the first with its target as the reply."""
    decoded = model.greedy(model.encode(searches.source_ids[list(rows)]), longest)
    for row, reply in zip(rows, decoded, strict=True):
        number = searches.number[row]
        if reply == list(replies[number]) and not outcomes[number].trigger:
            outcomes[number].trigger = tuple(searches.source_ids[row].tolist())
