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

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from engine.errors import LimitError, QueryError
from engine.studies.study import Row, Study, StudyContext, Unit
from engine.triggers.model.characters import INPUT_SYMBOLS
from engine.triggers.model.recipe import Recipe
from engine.triggers.search.search_settings import SearchSettings
from engine.triggers.seeds import check_seed

TRAIN, MEASURE, LENGTH, SEARCHING = "train", "measure", "length", "search"

#: What rows tell.
STEP, MODEL, LIST, PART, HITS, EXAMPLE, SEARCH = "step", "model", "list", "part", "hits", "example", "search"

#: A part tries everything for so many symbols at the end of an input.
PART_SYMBOLS = 4

#: Symbols of the longest inputs of which all are tried anew to know what a search can find.
MOST_SEARCHED = 4

#: Characters of the largest vocabulary, for which replies can still be numbered, and targets in one row.
MOST_SYMBOLS, TARGETS_A_ROW = 64, 1_000

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

    corpus: str = ""
    is_cut: bool = False
    words: int = 10_000
    symbols: int = 32
    pairs: int | None = 300_000
    test_share: float = 0.05
    noise: float = 0.5
    context: Literal["last", "general", "mlp-query"] = "last"
    embedding: int = 200
    hidden: int = 200
    recipe: Recipe = THREE_EPOCHS
    depth: int = 3
    shorter: bool = True
    targets: str = ""
    random_count: int = 18_000
    shortest_reversed: int = 1
    examples: int = 3
    searched: int = 3
    shortlist: int = 10
    restarts: int = 10
    seed: int = 0

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

    def verdict(self, rows: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
        """How many targets were said, how much of what was said is no word, and how many inputs that is of."""
        from engine.triggers.brute_force.findings import brute_force_verdict

        return brute_force_verdict(rows)

    def check(self) -> None:
        """See `Study.check`."""
        if not 1 <= self.words <= 200_000:
            raise QueryError(f"A text has between 1 and 200,000 frequent words, not {self.words}.")
        if not 1 <= self.symbols <= MOST_SYMBOLS:
            raise QueryError(f"There are between 1 and {MOST_SYMBOLS} characters, not {self.symbols}.")
        if self.pairs is not None and self.pairs < 1:
            raise QueryError(f"A model is trained with at least 1 pair, not {self.pairs}.")
        if not 0.0 < self.test_share < 1.0:
            raise QueryError(f"The share of the test is above 0 and below 1, not {self.test_share}.")
        if not 0.0 <= self.noise <= 1.0:
            raise QueryError(f"The share of words with noise is between 0 and 1, not {self.noise}.")
        if not (1 <= self.embedding <= 4096 and 1 <= self.hidden <= 4096):
            raise QueryError("Embeddings and states have between 1 and 4,096 numbers.")
        if not 1 <= self.depth <= INPUT_SYMBOLS:
            raise QueryError(f"Inputs have between 1 and {INPUT_SYMBOLS} symbols, not {self.depth}.")
        check_seed(self.seed)
        if not 0 <= self.searched <= MOST_SEARCHED:
            raise QueryError(f"Inputs of 0 to {MOST_SEARCHED} symbols are searched, not of {self.searched}.")
        self.search_settings()
        if min(self.random_count, self.examples) < 0:
            raise QueryError("There are at least 0 random targets, and at least 0 examples a part.")
        if self.shortest_reversed < 1:
            raise QueryError(f"A reversed word has at least 1 symbol, not {self.shortest_reversed}.")
        if max(self.random_count, 100 * self.examples) > 100_000:
            raise LimitError("There are at most 100,000 random targets, and 1,000 examples a part.", limit="targets")

    def search_settings(self) -> SearchSettings:
        """Of the search for what inputs are known to reach."""
        return SearchSettings(shortlist=self.shortlist, restarts=self.restarts, seed=self.seed)


#: Studies to begin with.
PRESETS: dict[str, BruteForceStudy] = {
    "quick": BruteForceStudy(pairs=100_000, recipe=Recipe(epochs=1)),
    "attention": BruteForceStudy(context="general", recipe=Recipe(epochs=2)),
    "paper": BruteForceStudy(pairs=900_000, recipe=Recipe(epochs=10), depth=6),
}
