"""Brute force as a study: a model of characters is trained, and then every input is tried, a million at a time.

    train 1            {"row": "step", "epoch": 1, "step": 16, "loss": 2.1, ...}
    measure            {"row": "model", "perplexity": 7.3, ...}      {"row": "list", "list": "mal", "targets": 575, ...}
    length 3, 0        {"row": "part", "length": 3, "inputs": 35937, "outside": 0, "seconds": 5.1, ...}
                       {"row": "hits", "list": "reversed", "whole": {}, "parts": {"fa": "m y", ...}, ...}
    length 6, 1088     all inputs of six symbols that begin with the same two
                       {"row": "example", "input": "s h h p p g", "output": "b u s i n e s s e", ...}
    search 3           does gibbs-enum find what inputs of three symbols are known to reach?
                       {"row": "search", "list": "normal", "existing": 37, "triggers": {"the": "t g e", ...}, ...}

Lengths of 1 and 2 are tried whole, and so are those of 3 and 4. A part that was cut short begins again; the others are
done. `depth` is where it ends: each symbol more takes 33 times as long. No language model is used.
What the rows say, Tables 5 to 7, is in `engine.triggers.brute_force.findings`; how they come about in
`engine.triggers.brute_force.run`. Source: He and Glass 2019, appendix B.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from engine.setting import Setting
from engine.studies.rows import Row
from engine.studies.study import Study, StudyContext, Unit
from engine.triggers.model.characters import INPUT_SYMBOLS
from engine.triggers.model.recipe import Recipe
from engine.triggers.search.search_settings import RESTARTS, SHORTLIST, SearchSettings
from engine.triggers.shared_settings import (
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

TRAIN, MEASURE, LENGTH, SEARCHING = "train", "measure", "length", "search"

#: A part tries everything for so many symbols at the end of an input.
PART_SYMBOLS = 4

THREE_EPOCHS = Recipe(epochs=3)


@dataclass(frozen=True)
class BruteForceStudy(Study):
    """Everything that a model of characters says.

    corpus: a file (see `engine.triggers.model.corpus`), "" for the corpus that comes with Relens; is_cut: whether its
    words stand apart, and are to stay as they are. words, symbols: how many of the most frequent words and characters.
    pairs: train with so many, None for all. noise: the share of words with another symbol. depth: symbols of the
    longest inputs that are tried; shorter: whether shorter ones are tried too. targets: a file of phrases for "mal", ""
    for those of Relens. examples: replies outside the list normal that each part tells. searched: symbols of the inputs
    that gibbs-enum searches for what they are known to reach, 0 for no search; shortlist, restarts: of that search.
    """

    kind: ClassVar[str] = "brute-force"
    title: ClassVar[str] = "Brute force"
    question: ClassVar[str] = "What does a model say to every input there is?"
    needs_model: ClassVar[bool] = False

    corpus: Annotated[str, CORPUS] = ""
    is_cut: Annotated[bool, IS_CUT] = False
    words: Annotated[int, Setting("Frequent words", "The most frequent words are learned.", least=1, most=200_000)] = (
        10_000
    )
    symbols: Annotated[
        int,
        Setting(
            "Characters",
            "The most frequent characters are known. With more than 64, replies could not be numbered.",
            least=1,
            most=64,
        ),
    ] = 32
    pairs: Annotated[
        int | None,
        replace(
            PAIRS,
            help="Words to train with, each with the one behind it. Fewer: quicker, and a worse model. Empty: all.",
        ),
    ] = 300_000
    test_share: Annotated[float, TEST_SHARE] = 0.05
    noise: Annotated[
        float,
        Setting(
            "Share of wrong words",
            "Of the words to train with, those in which one letter is replaced by another.",
            least=0.0,
            most=1.0,
            step=0.1,
        ),
    ] = 0.5
    context: Annotated[Context, CONTEXT] = "last"
    embedding: Annotated[int, replace(EMBEDDING, help="How finely letters are told apart.")] = 200
    hidden: Annotated[int, replace(HIDDEN, help="How much the model remembers of its input. The paper has 200.")] = 200
    recipe: Recipe = THREE_EPOCHS
    depth: Annotated[
        int,
        Setting(
            "Symbols of the longest inputs",
            "Every input of so many symbols is tried, and every shorter one. One more takes 33 times as long.",
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
            "How many sequences of random letters are on the list “random”. More: a narrower interval.",
            least=0,
            most=100_000,
        ),
    ] = 18_000
    shortest_reversed: Annotated[
        int, Setting("Shortest reversed word", "Symbols of the shortest words on the list “reversed”.", least=1)
    ] = 1
    examples: Annotated[
        int, Setting("Examples", "Replies outside the list “normal” that each part tells.", least=0, most=1_000)
    ] = 3
    searched: Annotated[
        int,
        Setting(
            "Symbols of searched inputs",
            "All inputs of so many symbols are tried anew, and gibbs-enum searches for what they are known to reach. "
            "0: no search.",
            least=0,
            most=4,
        ),
    ] = 3
    shortlist: Annotated[int, SHORTLIST] = 10
    restarts: Annotated[int, RESTARTS] = 10
    seed: Annotated[
        int, replace(SEED, help="Another seed begins with other weights and makes other letters wrong.")
    ] = 0

    def files(self) -> tuple[str, ...]:
        """See `Study.files`."""
        return tuple(name for name in (self.corpus, self.targets) if name)

    def of_training(self) -> BruteForceStudy:
        """Another study that trains the same model: what only matters afterwards is as in any."""
        plain = BruteForceStudy()
        counts = ("depth", "random_count", "shortest_reversed", "examples", "searched", "shortlist", "restarts")
        return replace(self, **{name: getattr(plain, name) for name in (*counts, "shorter", "targets")})

    def lengths(self) -> tuple[int, ...]:
        """Symbols of the inputs that are tried."""
        return tuple(range(1 if self.shorter else self.depth, self.depth + 1))

    def part_symbols(self, length: int) -> int:
        """Symbols at the end of an input of that length for which a part tries everything."""
        return min(length, PART_SYMBOLS)

    def inputs(self) -> int:
        """How many inputs are tried, of a text that has so many characters."""
        return sum((self.symbols + 1) ** length for length in self.lengths())

    def plan(self) -> Iterator[Unit]:
        """The epochs of training, the measurement, the parts of each length, and the search."""
        count = self.recipe.epochs
        for epoch in range(1, count + 1):
            yield Unit(f"{TRAIN} {epoch}", f"training, epoch {epoch} of {count}")
        yield Unit(MEASURE, "measuring on words that were not trained on")
        for length in self.lengths():
            parts = (self.symbols + 1) ** (length - self.part_symbols(length))
            for number in range(parts):
                yield Unit(
                    f"{LENGTH} {length}, {number}", f"inputs of {length} symbols, part {number + 1:,} of {parts:,}"
                )
        if length := min(self.searched, self.depth):
            yield Unit(f"{SEARCHING} {length}", f"gibbs-enum on what inputs of {length} symbols are known to reach")

    def carry_out(self, unit: Unit, context: StudyContext) -> Iterator[Row | None]:
        """The rows of an epoch, of the measurement, of a part or of the search. Raises what is wrong with the text."""
        from engine.triggers.brute_force.run import BruteForceRun

        run = yield from BruteForceRun.prepared(self, context)
        what, _, rest = unit.key.partition(" ")
        if what == TRAIN:
            yield from run.train(int(rest))
        elif what == MEASURE:
            yield from run.measure()
        elif what == SEARCHING:
            yield from run.search(int(rest))
        else:
            length, number = (int(text) for text in rest.split(", "))
            yield from run.part(length, number)
        if unit == self.units()[-1]:
            run.forget()

    def search_settings(self) -> SearchSettings:
        """Of the search for what inputs are known to reach."""
        return SearchSettings(shortlist=self.shortlist, restarts=self.restarts, seed=self.seed)


#: Studies to begin with.
PRESETS: dict[str, BruteForceStudy] = {
    "quick": BruteForceStudy(pairs=100_000, recipe=Recipe(epochs=1)),
    "attention": BruteForceStudy(context="general", recipe=Recipe(epochs=2)),
    "paper": BruteForceStudy(pairs=900_000, recipe=Recipe(epochs=10), depth=6),
}
