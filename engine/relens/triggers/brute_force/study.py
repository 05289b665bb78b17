"""Brute force as a study: a model of characters is trained, and then every input is tried, a million at a time.

    train 1            {"row": "step", "epoch": 1, "step": 16, "loss": 2.1, ...}
    measure            {"row": "model", "perplexity": 7.3, ...}      {"row": "list", "list": "mal", "targets": 575, ...}
    length 3, 0        {"row": "part", "length": 3, "inputs": 35937, "outside": 0, "seconds": 5.1, ...}
                       {"row": "hits", "list": "reversed", "whole": {}, "parts": {"fa": "m y", ...}, ...}
    length 6, 1088     all inputs of six symbols that begin with the same two
                       {"row": "example", "input": "s h h p p g", "output": "b u s i n e s s e", ...}
    search 3           gibbs-enum for the targets that inputs of three symbols reach
                       {"row": "search", "list": "normal", "existing": 37, "triggers": {"the": "t g e", ...}, ...}

Inputs of up to four symbols are one part for each length. A part that was cut short begins again. Each symbol more of
`depth` takes 33 times as long. Source: He and Glass 2019, appendix B.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from relens.setting import Setting
from relens.studies.rows import StudyRow
from relens.studies.study import Study, StudyContext, Unit
from relens.triggers.model.characters import INPUT_SYMBOLS
from relens.triggers.model.recipe import Recipe
from relens.triggers.search.search_settings import RESTARTS, SHORTLIST
from relens.triggers.shared_settings import (
    CONTEXT,
    CORPUS,
    EMBEDDING,
    HIDDEN,
    IS_CUT,
    PAIRS,
    SEED,
    TARGET_FILE,
    TEST_SHARE,
    Context,
)

TRAIN, MEASURE, LENGTH, SEARCH = "train", "measure", "length", "search"

#: Last symbols of an input that vary within a part.
PART_SYMBOLS = 4

THREE_EPOCHS = Recipe(epochs=3)


@dataclass(frozen=True)
class BruteForceStudy(Study):
    """The replies of a model of characters to every input.

    corpus: a file (see `relens.triggers.model.corpus`), "" for the corpus that comes with Relens; is_cut: whether its
    words stand apart already. words, symbols: the most frequent words and characters that are known. pairs: of the
    training, None for all. noise: the share of words with another symbol. depth: symbols of the longest inputs;
    shorter: whether shorter ones are tried too. targets: a file of phrases for "mal", "" for those of Relens. examples:
    the most replies outside the list normal in the rows of a part. searched: symbols of the inputs of the search, 0 for
    no search; shortlist, restarts: of that search.
    """

    kind: ClassVar[str] = "brute-force"
    title: ClassVar[str] = "Brute force"
    question: ClassVar[str] = "What does a model reply to each possible input?"
    needs_model: ClassVar[bool] = False

    corpus: Annotated[str, CORPUS] = ""
    is_cut: Annotated[bool, IS_CUT] = False
    words: Annotated[
        int, Setting("Frequent words", "The training has the most frequent words.", least=1, most=200_000)
    ] = 10_000
    symbols: Annotated[
        int,
        Setting(
            "Characters",
            "The most frequent characters are symbols of the model. With more than 64, replies could not be numbered.",
            least=1,
            most=64,
        ),
    ] = 32
    pairs: Annotated[
        int | None,
        replace(
            PAIRS,
            help="Pairs of a word and the next one to train with. Fewer: quicker, and a worse model. Empty: all.",
        ),
    ] = 300_000
    test_share: Annotated[float, TEST_SHARE] = 0.05
    noise: Annotated[
        float,
        Setting(
            "Share of wrong words",
            "The share of words of the training in which one letter is replaced by another.",
            least=0.0,
            most=1.0,
            step=0.1,
        ),
    ] = 0.5
    context: Annotated[Context, CONTEXT] = "last"
    embedding: Annotated[int, replace(EMBEDDING, help="Size of a letter's vector.")] = 200
    hidden: Annotated[int, replace(HIDDEN, help="Size of the LSTM states. The paper has 200.")] = 200
    recipe: Recipe = THREE_EPOCHS
    depth: Annotated[
        int,
        Setting(
            "Symbols of the longest inputs",
            "Every input of this length is tried, and every shorter one. One symbol more takes 33 times as long.",
            least=1,
            most=INPUT_SYMBOLS,
        ),
    ] = 3
    shorter: Annotated[bool, Setting("Shorter inputs", "Inputs of fewer symbols are tried too.")] = True
    targets: Annotated[str, replace(TARGET_FILE, help="Phrases of the list mal, one a line, UTF-8.")] = ""
    random_count: Annotated[
        int,
        Setting(
            "Random targets",
            "Sequences of random letters on the list “random”. More: a narrower interval.",
            least=0,
            most=100_000,
        ),
    ] = 18_000
    shortest_reversed: Annotated[
        int, Setting("Shortest reversed word", "Symbols of the shortest words on the list “reversed”.", least=1)
    ] = 1
    examples: Annotated[
        int,
        Setting("Examples", "The most replies outside the list “normal” that are kept of a part.", least=0, most=1_000),
    ] = 3
    searched: Annotated[
        int,
        Setting(
            "Symbols of searched inputs",
            "gibbs-enum searches for the targets that inputs of this length reach. 0: no search.",
            least=0,
            most=4,
        ),
    ] = 3
    shortlist: Annotated[int, SHORTLIST] = 10
    restarts: Annotated[int, RESTARTS] = 10
    seed: Annotated[int, replace(SEED, help="Another seed: other initial weights and other wrong letters.")] = 0

    def files(self) -> tuple[str, ...]:
        """See `Study.files`."""
        return tuple(name for name in (self.corpus, self.targets) if name)

    def of_training(self) -> BruteForceStudy:
        """The study with the same training, and defaults for all settings that only matter afterwards."""
        plain = BruteForceStudy()
        counts = ("depth", "random_count", "shortest_reversed", "examples", "searched", "shortlist", "restarts")
        return replace(self, **{name: getattr(plain, name) for name in (*counts, "shorter", "targets")})

    def lengths(self) -> tuple[int, ...]:
        """The lengths of the inputs that are tried."""
        return tuple(range(1 if self.shorter else self.depth, self.depth + 1))

    def part_symbols(self, length: int) -> int:
        """Last symbols of an input of that length that vary within a part."""
        return min(length, PART_SYMBOLS)

    def inputs(self) -> int:
        """How many inputs are tried, of a text with enough characters."""
        return sum((self.symbols + 1) ** length for length in self.lengths())

    def plan(self) -> Iterator[Unit]:
        """The epochs of training, the measurement, the parts of each length, and the search."""
        count = self.recipe.epochs
        for epoch in range(1, count + 1):
            yield Unit(f"{TRAIN} {epoch}", f"training, epoch {epoch} of {count}")
        yield Unit(MEASURE, "measuring on held-out words")
        for length in self.lengths():
            parts = (self.symbols + 1) ** (length - self.part_symbols(length))
            for number in range(parts):
                yield Unit(
                    f"{LENGTH} {length}, {number}", f"inputs of {length} symbols, part {number + 1:,} of {parts:,}"
                )
        if length := min(self.searched, self.depth):
            yield Unit(f"{SEARCH} {length}", f"gibbs-enum for targets that inputs of {length} symbols reach")

    def carry_out(self, unit: Unit, context: StudyContext) -> Iterator[StudyRow | None]:
        """See `Study.carry_out`. Raises what is wrong with the text."""
        from relens.triggers.brute_force.character_training import forget_characters
        from relens.triggers.brute_force.run import BruteForceRun

        run = yield from BruteForceRun.prepared(self)
        stage, _, rest = unit.key.partition(" ")
        if stage == TRAIN:
            yield from run.train(int(rest))
        elif stage == MEASURE:
            yield from run.measure()
        elif stage == SEARCH:
            yield from run.search(int(rest))
        else:
            length, number = (int(text) for text in rest.split(", "))
            yield from run.part(length, number)
        if unit == self.units()[-1]:
            forget_characters()


PRESETS: dict[str, BruteForceStudy] = {
    "quick": BruteForceStudy(pairs=100_000, recipe=Recipe(epochs=1)),
    "attention": BruteForceStudy(context="general", recipe=Recipe(epochs=2)),
    "paper": BruteForceStudy(pairs=900_000, recipe=Recipe(epochs=10), depth=6),
}
