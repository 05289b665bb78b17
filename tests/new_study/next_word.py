"""Which words does a model go on with? A study as small as one can be.

prompt "The sun is"     hot 0.6     bright 0.3     cold 0.1
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from relens.query import Encoding, Limits, Query, ShortestPath
from relens.setting import Setting
from relens.studies.rows import Rows, StudyRow
from relens.studies.study import Study, StudyContext, Unit

_LETTERS = {"any": "[A-Za-z]+", "lower": "[a-z]+"}


@dataclass(frozen=True)
class Word(StudyRow):
    """A word after the prompt. log_prob: nats."""

    row_name: ClassVar[str] = "word"
    text: str
    log_prob: float


@dataclass(frozen=True)
class NextWordFindings:
    """The words, the likeliest first."""

    words: tuple[Word, ...]

    @property
    def verdict(self) -> tuple[str, ...]:
        """The likeliest word."""
        return tuple(f"The model goes on with “{word.text}”." for word in self.words[:1])


@dataclass(frozen=True)
class NextWordStudy(Study):
    """The likeliest words after a prompt."""

    kind: ClassVar[str] = "next-word"
    title: ClassVar[str] = "Next word"
    question: ClassVar[str] = "Which words does the model go on with?"

    prompt: Annotated[str, Setting("Prompt", "The text before the words, without a blank at its end.", fewest=1)] = (
        "It is"
    )
    words: Annotated[int, Setting("Words", "The number of words, the likeliest first.", least=1, ceiling=100)] = 10
    letters: Annotated[Literal["any", "lower"], Setting("Letters", choices={"any": "Any", "lower": "Lower case"})] = (
        "any"
    )
    canonical: Annotated[bool, Setting("Canonical tokens only", "Leaves out other encodings of a word.")] = True

    def plan(self) -> Iterator[Unit]:
        """One unit: all words."""
        yield Unit("words", "the likeliest words")

    def carry_out(self, unit: Unit, context: StudyContext) -> Iterator[StudyRow | None]:
        """See `Study.carry_out`."""
        from relens.search_run import search

        encoding = Encoding.CANONICAL if self.canonical else Encoding.ALL
        query = Query(prefix=re.escape(self.prompt), pattern=f" {_LETTERS[self.letters]}", encoding=encoding)
        limits = Limits(matches=self.words, seconds=None)
        best_first = ShortestPath("conditional")
        for match in search(context.model, query, best_first, limits, compiler=context.compiler, stop=context.stop):
            yield Word(match.text[len(self.prompt) + 1 :], match.log_prob)

    def findings(self, rows: Rows) -> NextWordFindings:
        """See `Study.findings`."""
        return NextWordFindings(tuple(sorted(Word.all_in(rows), key=lambda word: -word.log_prob)))
