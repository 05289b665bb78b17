"""The input of training, made from a study's settings: the corpus, its vocabulary, and its pairs as ids.

    DialogueModelStudy(corpus="talks.txt", vocabulary=8_000)  ->  80,000 pairs of ids, 4,200 held-out ones

Each epoch of a study is a unit, which may begin in a new process. So this is made from the settings alone, and kept for
the next unit of the same process: reading a corpus takes seconds, an epoch minutes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from relens.models.hardware import choose_device, use_physical_cores
from relens.triggers.model.batches import EncodedPairs, source_row, target_row
from relens.triggers.model.corpus import Corpus, Pair, read_corpus
from relens.triggers.model.default_corpus import default_corpus
from relens.triggers.model.dialogue_model import DialogueConfiguration
from relens.triggers.model.model_list import models_folder
from relens.triggers.model.sentence_model import SentenceModel, SentenceModelConfiguration
from relens.triggers.model.seq2seq import Seq2Seq, Seq2SeqConfiguration
from relens.triggers.model.training import Trainer, reply_loss, sentence_loss
from relens.triggers.model.training_rows import REPLIES, Part
from relens.triggers.model.vocabulary import UNKNOWN, WordVocabulary

if TYPE_CHECKING:
    from relens.triggers.model.training_study import DialogueModelStudy


@dataclass(frozen=True)
class Preparation:
    """The input of all units of a study."""

    corpus: Corpus
    vocabulary: WordVocabulary
    train: EncodedPairs
    test: EncodedPairs
    configuration: DialogueConfiguration
    #: Where checkpoints are kept: another folder for other settings, and for another text of the same name.
    folder: Path

    @property
    def unknown_share(self) -> float:
        """The share of <unk> among the words of the held-out replies."""
        ids = [number for row in self.test.targets for number in row[1:]]
        return ids.count(UNKNOWN) / len(ids)


def prepare(study: DialogueModelStudy) -> Preparation:
    """The input of training. Raises what is wrong with the corpus as `QueryError`, `LimitError`, `ModelError`."""
    # The name of the result decides nothing, and a file that was written anew is another corpus.
    path = Path(study.corpus)
    changed = (path.stat().st_mtime_ns, path.stat().st_size) if study.corpus and path.is_file() else ()
    return _prepare(replace(study, name="any"), changed)


def forget_preparation() -> None:
    """Give back the memory of what was prepared last, a few hundred megabytes of a large corpus."""
    _prepare.cache_clear()


@lru_cache(maxsize=1)
def _prepare(study: DialogueModelStudy, _changed: tuple[int, ...]) -> Preparation:
    shares = (study.test_share, study.seed, study.pairs)
    own = not study.corpus
    corpus = default_corpus(*shares) if own else read_corpus(study.corpus, study.form, study.is_cut, *shares)
    sentences = (words for pair in corpus.train for words in (pair.source, pair.response))
    vocabulary = WordVocabulary.of_sentences(sentences, study.vocabulary)
    size = len(vocabulary)
    configuration = DialogueConfiguration(
        Seq2SeqConfiguration(size, study.embedding, study.hidden, study.context, study.dropout),
        SentenceModelConfiguration(size, study.embedding, study.hidden, study.dropout),
    )
    settings = json.dumps([study.to_json(), corpus.fingerprint], sort_keys=True)
    folder = models_folder() / ".training" / hashlib.sha256(settings.encode()).hexdigest()[:16]
    return Preparation(
        corpus, vocabulary, _encoded(vocabulary, corpus.train), _encoded(vocabulary, corpus.test), configuration, folder
    )


def new_trainer(study: DialogueModelStudy, preparation: Preparation, part: Part) -> Trainer:
    """The trainer of an untrained network, the same for the same seed."""
    device = choose_device()
    use_physical_cores(device)
    with torch.random.fork_rng([]):
        if part == REPLIES:
            torch.manual_seed(study.seed)
            seq2seq = Seq2Seq(preparation.configuration.seq2seq)
            return Trainer(seq2seq, reply_loss(seq2seq), preparation.train, study.recipe, study.seed, device)
        torch.manual_seed(study.seed + 1)
        model = SentenceModel(preparation.configuration.sentence_model)
        return Trainer(model, sentence_loss(model), preparation.train, study.recipe, study.seed, device)


def _encoded(vocabulary: WordVocabulary, pairs: Iterable[Pair]) -> EncodedPairs:
    rows = [(source_row(vocabulary, pair.source), target_row(vocabulary, pair.response)) for pair in pairs]
    return EncodedPairs(tuple(row[0] for row in rows), tuple(row[1] for row in rows))
