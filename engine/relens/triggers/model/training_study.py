"""Training a dialogue model as a study: an epoch is a unit, and the result is a model with a name.

    replies 1     the dialogue model, first epoch   {"row": "step", "part": "replies", "epoch": 1, "step": 16, ...}
                                                    {"row": "epoch", "part": "replies", "epoch": 1, "nll": 3.9, ...}
    replies 2
    sentences 1   the sentence model
    measure       thresholds, and the folder        {"row": "model", "name": "chitchat", "threshold_out": -3.9, ...}

Each epoch ends with a checkpoint, from which the next one goes on, in any process. An epoch that was cut short begins
again; where a checkpoint is lost, the epochs before are done again. After the measurement the model is in
`relens.triggers.model.model_list.models_folder()` under its name, in place of an older one, and its checkpoints are
deleted.

Source: He and Glass 2019, sections 2 and 5.1.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, ClassVar, cast

from relens.setting import Setting
from relens.studies.rows import StudyRow
from relens.studies.study import Study, StudyContext, Unit
from relens.triggers.background import reported, run_in_background
from relens.triggers.model.corpus import Form
from relens.triggers.model.model_list import check_name
from relens.triggers.model.recipe import AUTHORS, PAPER, QUICK, Recipe
from relens.triggers.model.training_rows import (
    REPLIES,
    SENTENCES,
    EpochCost,
    Part,
    TrainedModel,
    TrainingStep,
    perplexity,
)
from relens.triggers.shared_settings import (
    CONTEXT,
    CORPUS,
    EMBEDDING,
    HIDDEN,
    IS_CUT,
    PAIRS,
    SEED,
    TEST_SHARE,
    Context,
)

if TYPE_CHECKING:
    from relens.triggers.model.preparation import Preparation
    from relens.triggers.model.training import Trainer

MEASURE = "measure"
_LABELS = {REPLIES: "dialogue model", SENTENCES: "sentence model"}


@dataclass(frozen=True)
class DialogueModelStudy(Study):
    """A dialogue model to be trained.

    name: of the model, see `relens.triggers.model.model_list.model_folder`. corpus: a file (see
    `relens.triggers.model.corpus` for `form` and `is_cut`), "" for the corpus that comes with Relens. test_share: the
    share of its dialogues that is held out. pairs: of the training, None for all. vocabulary: the most words, special
    ones included. context: see `relens.triggers.model.seq2seq`. embedding, hidden: sizes of a word's vector and of a
    state.
    """

    kind: ClassVar[str] = "dialogue-model"
    title: ClassVar[str] = "Dialogue model"
    question: ClassVar[str] = "How well does a small model predict the replies of a corpus?"
    needs_model: ClassVar[bool] = False

    name: Annotated[
        str,
        Setting(
            "Name of the model",
            "Small letters, digits, '.', '_' and '-'. A model of that name is replaced.",
        ),
    ] = "chitchat"
    corpus: Annotated[str, CORPUS] = ""
    form: Annotated[
        Form,
        Setting(
            "Format",
            "What a line of the file is. **Automatic**: read off its first line.",
            choices={
                "auto": "automatic",
                "dialogues": "a line each, a blank line between dialogues",
                "eou": "a dialogue on a line, <eou> between",
                "pairs": "input, tab, reply",
                "json": "JSON lines",
            },
        ),
    ] = "auto"
    is_cut: Annotated[bool, IS_CUT] = False
    test_share: Annotated[float, TEST_SHARE] = 0.05
    pairs: Annotated[
        int | None,
        replace(
            PAIRS,
            help="Pairs of input and reply to train with, drawn from the corpus. Fewer: quicker, and a worse model. "
            "Empty: all.",
        ),
    ] = None
    vocabulary: Annotated[
        int,
        Setting(
            "Words at most",
            "The vocabulary has the most frequent words of the corpus; all others are one unknown word. Targets have "
            "only words of the vocabulary.",
            least=6,
            most=200_000,
        ),
    ] = 10_000
    context: Annotated[Context, CONTEXT] = "last"
    embedding: Annotated[int, EMBEDDING] = 128
    hidden: Annotated[
        int,
        replace(
            HIDDEN,
            help="Size of the LSTM states. More: better replies, and slower. The paper has 600.",
        ),
    ] = 256
    dropout: Annotated[
        float,
        Setting(
            "Dropout",
            "The share of activations set to 0 at random in training, against overfitting.",
            least=0.0,
            below=1.0,
            step=0.1,
        ),
    ] = 0.0
    recipe: Recipe = QUICK
    seed: Annotated[
        int, replace(SEED, help="Another seed: other initial weights and other held-out conversations.")
    ] = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_name(self.name)

    def files(self) -> tuple[str, ...]:
        """See `Study.files`."""
        return (self.corpus,) if self.corpus else ()

    def plan(self) -> Iterator[Unit]:
        """The epochs of the dialogue model, those of the sentence model, and the measurement."""
        count = self.recipe.epochs
        for part in (REPLIES, SENTENCES):
            for epoch in range(1, count + 1):
                yield Unit(f"{part} {epoch}", f"{_LABELS[part]}, epoch {epoch} of {count}")
        yield Unit(MEASURE, "measuring on held-out text")

    def carry_out(self, unit: Unit, context: StudyContext) -> Iterator[StudyRow | None]:
        """See `Study.carry_out`. Raises what is wrong with the corpus."""
        from relens.triggers.model.preparation import prepare

        preparation = yield from run_in_background(lambda: prepare(self))
        if unit.key == MEASURE:
            yield from self._measure(preparation)
            return
        name, _, number = unit.key.partition(" ")
        part, epoch = cast(Part, name), int(number)
        begun = time.perf_counter()
        trainer = yield from self._trained(part, epoch, preparation)
        if trainer.done > epoch:
            return  # the checkpoint of an earlier run is further on, and the cost of this epoch is lost
        cost = yield from trainer.cost(preparation.test)
        yield EpochCost(part, epoch, cost, perplexity(cost), time.perf_counter() - begun)

    def _trained(
        self, part: Part, epochs: int, preparation: Preparation
    ) -> Generator[TrainingStep | None, None, Trainer]:
        from relens.triggers.model.preparation import new_trainer
        from relens.triggers.model.training import trained

        path = preparation.folder / f"{part}.safetensors"
        work = trained(lambda: new_trainer(self, preparation, part), path, epochs)
        return (yield from reported(work, lambda progress: TrainingStep(part, **vars(progress))))

    def _measure(self, preparation: Preparation) -> Iterator[StudyRow | None]:
        from relens.triggers.hits import Thresholds
        from relens.triggers.model.dialogue_model import DialogueModel, DialogueTexts
        from relens.triggers.model.model_list import Training, model_folder
        from relens.triggers.model.preparation import forget_preparation
        from relens.triggers.model.sentence_model import SentenceModel
        from relens.triggers.model.seq2seq import Seq2Seq

        models, costs = [], []
        for part in (REPLIES, SENTENCES):
            trainer = yield from self._trained(part, self.recipe.epochs, preparation)
            models.append(trainer.model)
            costs.append((yield from trainer.cost(preparation.test)))
        seq2seq, sentence_model = models
        assert isinstance(seq2seq, Seq2Seq)
        assert isinstance(sentence_model, SentenceModel)
        training = Training(
            corpus=preparation.corpus.name,
            corpus_fingerprint=preparation.corpus.fingerprint,
            pairs=len(preparation.train),
            test_pairs=len(preparation.test),
            perplexity=perplexity(costs[0]),
            sentence_perplexity=perplexity(costs[1]),
            unknown_share=preparation.unknown_share,
        )
        thresholds = Thresholds(out=-costs[0], into=-costs[1])
        vocabulary = preparation.vocabulary
        # Whole replies, of which the training has only the first words: targets are looked for in them.
        replies = (vocabulary.ids(pair.response) for pair in preparation.corpus.train)
        texts = DialogueTexts.of_pairs(replies, preparation.test)
        model = DialogueModel(
            vocabulary, seq2seq, sentence_model, thresholds, preparation.configuration, texts, training
        )
        model.save(model_folder(self.name))
        yield TrainedModel(
            self.name, model.fingerprint, len(vocabulary), thresholds.out, thresholds.into, **vars(training)
        )
        forget_preparation()
        with contextlib.suppress(OSError):
            shutil.rmtree(preparation.folder)


#: The quick one takes about three minutes on two free cores.
PRESETS: dict[str, DialogueModelStudy] = {
    "quick": DialogueModelStudy(name="chitchat-quick", pairs=80_000, vocabulary=8_000),
    "attention": DialogueModelStudy(name="chitchat-attention", context="general", recipe=Recipe(epochs=3)),
    "paper": DialogueModelStudy(
        name="chitchat-paper", vocabulary=30_000, context="general", embedding=300, hidden=600, recipe=PAPER
    ),
    "authors' code": DialogueModelStudy(
        name="chitchat-authors", vocabulary=30_000, context="mlp-query", embedding=300, hidden=600, recipe=AUTHORS
    ),
}
