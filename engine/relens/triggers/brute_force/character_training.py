"""The text, the symbols, the pairs and the trained model of a brute-force study, made from its settings.

    BruteForceStudy(corpus="talks.txt", symbols=32)  ->  300,000 pairs of words in ids, character-models/4f3a.../

Each unit may begin in a new process, so all of this follows from the settings alone, and is kept for the next unit of
the same process. A trained model stays on disk as its last checkpoint: the name of its folder is that of its training,
so that more of its inputs can be tried later without training it again.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from relens import settings
from relens.errors import QueryError
from relens.triggers.model.batches import EncodedPairs
from relens.triggers.model.characters import (
    INPUT_SYMBOLS,
    OUTPUT_SYMBOLS,
    CharacterText,
    Words,
    noisy_pairs,
    treebank_words,
)
from relens.triggers.model.corpus import read_dialogues
from relens.triggers.model.default_corpus import default_corpus
from relens.triggers.model.seq2seq import Seq2Seq, Seq2SeqConfiguration
from relens.triggers.model.training import Trainer, mean_negative_log_likelihood, reply_loss, trained
from relens.triggers.model.training_rows import TrainingProgress
from relens.triggers.model.vocabulary import BEGIN, END, END_OF_UTTERANCE, PAD, WordVocabulary
from relens.triggers.text_files import opened

if TYPE_CHECKING:
    from relens.triggers.brute_force.study import BruteForceStudy

#: Ids of an input, and of a reply with `BEGIN`: a shorter word has its `END` too.
SOURCE_LENGTH, TARGET_LENGTH = INPUT_SYMBOLS + 1, OUTPUT_SYMBOLS + 1


@dataclass(frozen=True)
class CharacterPreparation:
    """The input of all units of a study. folder: that of its model."""

    text: CharacterText
    vocabulary: WordVocabulary
    train: EncodedPairs
    test: EncodedPairs
    configuration: Seq2SeqConfiguration
    folder: Path


def prepare_characters(study: BruteForceStudy) -> CharacterPreparation:
    """The input of training. Raises what is wrong with the text as `QueryError`, `LimitError`, `ModelError`."""
    path = Path(study.corpus)
    changed = (path.stat().st_mtime_ns, path.stat().st_size) if study.corpus and path.is_file() else ()
    return _prepare(study.of_training(), changed)


def forget_characters() -> None:
    """Give back the memory of what was prepared last, some hundred megabytes of a large text."""
    _prepare.cache_clear()


def trained_characters(
    study: BruteForceStudy, preparation: CharacterPreparation, device: torch.device, epochs: int
) -> Generator[TrainingProgress | None, None, Seq2Seq]:
    """The model after so many epochs or more; see `trained`."""
    path = preparation.folder / "replies.safetensors"
    trainer = yield from trained(lambda: _new_trainer(study, preparation, device), path, epochs)
    model = trainer.model.eval()
    assert isinstance(model, Seq2Seq)
    return model


def held_out_cost(
    model: Seq2Seq, preparation: CharacterPreparation, device: torch.device
) -> Generator[None, None, float]:
    """Nats a symbol of held-out outputs, their ends included."""
    return (yield from mean_negative_log_likelihood(model, reply_loss(model), preparation.test, device))


def _new_trainer(study: BruteForceStudy, preparation: CharacterPreparation, device: torch.device) -> Trainer:
    with torch.random.fork_rng([]):
        torch.manual_seed(study.seed)
        model = Seq2Seq(preparation.configuration)
    return Trainer(model, reply_loss(model), preparation.train, study.recipe, study.seed, device)


@lru_cache(maxsize=1)
def _prepare(study: BruteForceStudy, _changed: tuple[int, ...]) -> CharacterPreparation:
    name, train, test = _default_sentences(study) if not study.corpus else _own_sentences(study)
    text = CharacterText.of_sentences(name, train, test, study.words)
    vocabulary = text.vocabulary(study.symbols)
    # Pairs of all parts of a file, not of its beginning.
    shuffled = list(text.train)
    random.Random(study.seed).shuffle(shuffled)
    pairs = islice(noisy_pairs(vocabulary, shuffled, study.seed, study.noise), study.pairs)
    tests = noisy_pairs(vocabulary, text.test, study.seed + 1, study.noise)
    marks = json.dumps([study.to_json(), text.fingerprint], sort_keys=True)
    folder = settings.data_folder() / "character-models" / hashlib.sha256(marks.encode()).hexdigest()[:16]
    return CharacterPreparation(
        text,
        vocabulary,
        _encoded(pairs),
        _encoded(tests),
        Seq2SeqConfiguration(len(vocabulary), study.embedding, study.hidden, study.context),
        folder,
    )


def _default_sentences(study: BruteForceStudy) -> tuple[str, list[Words], list[Words]]:
    corpus = default_corpus(study.test_share, study.seed)
    parts = ([treebank_words(pair.response) for pair in part] for part in (corpus.train, corpus.test))
    train, test = ([words for words in part if words] for part in parts)
    return corpus.name, train, test


def _own_sentences(study: BruteForceStudy) -> tuple[str, list[Words], list[Words]]:
    with opened(study.corpus, "text") as file:
        read = [words for dialogue in read_dialogues(file, "auto", study.is_cut) for words in dialogue]
    spoken = [words for words in (read if study.is_cut else map(treebank_words, read)) if words]
    # A word alone on its line has no pair to test with.
    alone, sentences = ([words for words in spoken if (len(words) == 1) == is_one] for is_one in (True, False))
    if len(sentences) < 2:
        raise QueryError(
            "The text has no two words in a row."
            if not sentences
            else "The text has a single line with two words or more, so nothing is left to test with."
        )
    random.Random(study.seed).shuffle(sentences)
    kept = min(len(sentences) - 1, max(1, round(study.test_share * len(sentences))))
    return Path(study.corpus).name, [*sentences[kept:], *alone], sentences[:kept]


def _encoded(pairs: Iterable[tuple[list[int], list[int]]]) -> EncodedPairs:
    """As in `relens.triggers.model.batches`, from ids, of which an input keeps the last and an output the first."""
    sources, targets = [], []
    for word, following in pairs:
        row = [*word[-INPUT_SYMBOLS:], END_OF_UTTERANCE]
        sources.append([PAD] * (SOURCE_LENGTH - len(row)) + row)
        targets.append([BEGIN, *following, END][:TARGET_LENGTH])
    return EncodedPairs(tuple(sources), tuple(targets))
