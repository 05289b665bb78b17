"""What the tests of trigger search share: small random models of each kind, and a way to draw inputs for them."""

from __future__ import annotations

import pytest
import torch

from relens.triggers.hits import Thresholds
from relens.triggers.model.batches import EncodedPairs
from relens.triggers.model.dialogue_model import DialogueConfiguration, DialogueModel, DialogueTexts
from relens.triggers.model.sentence_model import SentenceModel, SentenceModelConfiguration
from relens.triggers.model.seq2seq import CONTEXTS, Seq2Seq, Seq2SeqConfiguration
from relens.triggers.model.vocabulary import BEGIN, END, END_OF_UTTERANCE, PAD, SPECIAL_WORDS, WordVocabulary

SIZE, EMBEDDING, HIDDEN = 30, 6, 8


@pytest.fixture(scope="session")
def vocabulary() -> WordVocabulary:
    return WordVocabulary((*SPECIAL_WORDS, *(f"word{number}" for number in range(SIZE - len(SPECIAL_WORDS)))))


def random_seq2seq(context: str, seed: int = 2) -> Seq2Seq:
    """A model whose weights are large enough for its replies to differ."""
    torch.manual_seed(seed)
    model = Seq2Seq(Seq2SeqConfiguration(SIZE, EMBEDDING, HIDDEN, context)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3.0)
        # So that what is said depends on the input, and does not end at once.
        model.output.weight.mul_(3.0)
        model.output.bias.zero_()
        model.output.bias[PAD] = -50.0  # which no model is ever taught to write
    return model


def random_sentence_model(seed: int = 0) -> SentenceModel:
    torch.manual_seed(seed)
    return SentenceModel(SentenceModelConfiguration(SIZE, EMBEDDING, HIDDEN)).eval()


@pytest.fixture(params=CONTEXTS)
def seq2seq(request: pytest.FixtureRequest) -> Seq2Seq:
    return random_seq2seq(request.param)


@pytest.fixture
def sentence_model() -> SentenceModel:
    return random_sentence_model()


@pytest.fixture
def dialogue_model(vocabulary: WordVocabulary) -> DialogueModel:
    """A whole model of random weights, with a few texts."""
    seq2seq, sentence_model = random_seq2seq("general"), random_sentence_model()
    generator = torch.Generator().manual_seed(8)
    rows = torch.randint(5, SIZE, (40, 5), generator=generator).tolist()
    pairs = EncodedPairs(
        tuple([PAD, *row[:-1], END_OF_UTTERANCE] for row in rows),
        tuple([BEGIN, *row[: 1 + place % 5], END] for place, row in enumerate(rows)),
    )
    configuration = DialogueConfiguration(seq2seq.configuration, sentence_model.configuration, source_length=6)
    texts = DialogueTexts.of_pairs([row[1:-1] for row in pairs.targets], pairs)
    return DialogueModel(vocabulary, seq2seq, sentence_model, Thresholds(-3.0, -3.5), configuration, texts)
