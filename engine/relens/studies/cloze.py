"""The cloze test: the last word of a passage, by four variants of one query (ReLM section 4.4, top-k 1,000).

    context    ... Shane gripped her arm. "I can make it there on my own,
    baseline    but          a word, and perhaps more of the sentence after it
    words       I            one of the words of the context
    terminated  thanks       a word after which the text ends
    no_stop     Shane        the same, and no function word

The variants have the same prefix and differ in their pattern alone. The answer is the first match of a best-first
search: no sampling, no long continuation to look through.

**Few texts end in mid-passage.** A model may give the end of text a probability of one in a million after any word, and
the search expands thousands of beginnings of words that are likelier. So each passage has a limit of expansions. A
search that reaches it before its first match is certain is cut, and the passage is undecided: it has no answer rather
than one that might not be the first. The two variants that end the text expand the same beginnings, so they run
together and the model computes these once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from relens.errors import LimitError, QueryError
from relens.query import Decoding, Exclude, Limits, Query, ShortestPath
from relens.record import Record
from relens.setting import Setting
from relens.studies.passages import (
    MOST_PASSAGES,
    Passage,
    can_be_an_answer,
    own_passages,
    read_passages,
    split_passage,
)
from relens.studies.rows import StudyRow
from relens.studies.study import Study, StudyContext, Unit

if TYPE_CHECKING:
    from relens.many_searches import Answer
    from relens.traversal.results import Match

Variant = Literal["baseline", "words", "terminated", "no_stop"]
VARIANTS: tuple[Variant, ...] = ("baseline", "words", "terminated", "no_stop")
LABELS: Mapping[str, str] = {
    "baseline": "any word",
    "words": "words of the context",
    "terminated": "a word that ends the text",
    "no_stop": "an ending that is no function word",
}

_OPEN, _ENDED = "open", "ended"
_GROUPS: dict[str, tuple[Variant, ...]] = {_OPEN: ("baseline", "words"), _ENDED: ("terminated", "no_stop")}

#: Passages of a unit: enough to fill the model's batches, few enough that an interrupted run repeats little.
CHUNK = 20

#: Tokens of the longest match; what the model can hold is the limit in fact.
_MOST_TOKENS = 1 << 14
_MOST_ANSWERS = 100
_PUNCTUATION = r'(\.|!|\?)?(")?'


@dataclass(frozen=True)
class WordAnswer(Record):
    """A word among the matches, with its best text and the log-probabilities of that text in nats."""

    word: str
    text: str
    log_prob: float
    decoder_log_prob: float


@dataclass(frozen=True)
class PassageAnswers(StudyRow):
    """One passage under one variant. passage: its number, from 0; context and truth: its parts.

    answers: the different words among the matches, best first. right: whether the first is the truth; rank: of the
    truth, None where it is no answer. expansions: without those of the context. cut: whether the search reached its
    limit of expansions. error: why there was no search, else "".
    """

    row_name: ClassVar[str] = "answer"
    variant: Variant
    passage: int
    context: str
    truth: str
    answers: tuple[WordAnswer, ...] = ()
    right: bool = False
    rank: int | None = None
    expansions: int = 0
    cut: bool = False
    error: str = ""

    @property
    def is_scored(self) -> bool:
        """Whether the passage counts: its search ran, and its last word can be an answer."""
        return not self.error and can_be_an_answer(self.truth)

    @property
    def is_undecided(self) -> bool:
        """Whether the search was cut before its first answer."""
        return self.cut and not self.answers

    @property
    def is_decided(self) -> bool:
        """Whether the passage counts and is known to be right or wrong."""
        return self.is_scored and not self.is_undecided


@dataclass(frozen=True)
class ClozeStudy(Study):
    """The share of last words that a model finds.

    passages: texts; without any, those of the file at `path` (see `relens.studies.passages`); without a file, Relens'
    own. A context shorter than others of its chunk leaves more expansions for its answer.
    """

    kind: ClassVar[str] = "cloze"
    title: ClassVar[str] = "Cloze"
    question: ClassVar[str] = "Does the model find the last word of a passage, and how much does the query matter?"

    passages: Annotated[
        tuple[str, ...], Setting("Passages", "Texts without their last word, which the model has to find.", blanks=True)
    ] = ()
    path: Annotated[str, Setting("File of passages", "One passage a line, as plain text or as JSON with a `text`.")] = (
        ""
    )
    count: Annotated[
        int | None,
        Setting(
            "How many passages",
            "The first so many; empty for all. Four times as many passages make an interval half as wide.",
            least=1,
            empty="all",
        ),
    ] = None
    variants: Annotated[
        tuple[Variant, ...],
        Setting(
            "Variants",
            "**Any word**: any letters. **Words of the context**: only words that the passage has already. **A word "
            "that ends the text**: the text has to end after the word. **An ending that is no function word**: the "
            "same, without *the*, *of*, *and* and the like.",
            fewest=1,
            distinct=True,
            choices=LABELS,
        ),
    ] = VARIANTS
    top_k: Annotated[
        int | None,
        Setting(
            "Top-k",
            "At each step only the so many likeliest tokens count; empty for no such rule. The paper takes 1,000.",
            least=1,
            empty="off",
        ),
    ] = 1000
    answers: Annotated[
        int,
        Setting(
            "Matches to find",
            "The first decides; the others show the rank of the right word. A word may come again with other "
            "punctuation, so there may be fewer different words.",
            least=1,
            most=_MOST_ANSWERS,
        ),
    ] = 5
    answers_with_end: Annotated[
        int,
        Setting(
            "Matches where the text ends",
            "The same for variants where the text has to end after the word. Each further match takes long there, "
            "because few texts end in mid-passage.",
            least=1,
            most=_MOST_ANSWERS,
        ),
    ] = 1
    expansions: Annotated[
        int,
        Setting(
            "Limit of expansions",
            "How often the model computes the next token, for each passage and variant. A passage without a certain "
            "first answer by then is undecided. A higher limit leaves fewer undecided and takes longer.",
            least=1,
            ceiling=100_000,
            step=50,
        ),
    ] = 250

    def read(self) -> tuple[Passage, ...]:
        """The passages. Raises `QueryError` and `LimitError`, which name the bad one."""
        if len(self.passages) > MOST_PASSAGES:
            raise LimitError(f"There are more than {MOST_PASSAGES:,} passages.", limit="passages")
        if self.passages:
            # One text is one passage, also where it has lines or begins like JSON.
            return tuple(
                split_passage(text, f"Passage {number}")
                for number, text in enumerate(self.passages[: self.count], start=1)
            )
        return read_passages(self.path, self.count) if self.path else own_passages()[: self.count]

    def files(self) -> tuple[str, ...]:
        """See `Study.files`."""
        return (self.path,) if self.path else ()

    def counts(self) -> dict[str, int]:
        """The number of "passages", and of "unanswerable" ones, whose last word no answer can be."""
        passages = self.read()
        impossible = sum(not passage.can_be_answered for passage in passages)
        return {"passages": len(passages), "unanswerable": impossible}

    def plan(self) -> Iterator[Unit]:
        """Chunks of passages, each with all its variants before the next, so that early rows can be compared."""
        total = len(self.read())
        for first in range(0, total, CHUNK):
            for name, variants in self._groups().items():
                yield Unit(
                    f"{name} {first}",
                    f"{' and '.join(LABELS[variant] for variant in variants)},"
                    f" passages {first + 1} to {min(first + CHUNK, total)}",
                )

    def carry_out(self, unit: Unit, context: StudyContext) -> Iterator[PassageAnswers | None]:
        """One row for each passage and variant, as its search ends."""
        from relens.many_searches import search_many  # here, so that describing a study does without torch

        name, first = unit.key.split(" ")
        passages = dict(enumerate(self.read()[int(first) : int(first) + CHUNK], start=int(first)))
        if not passages:
            raise QueryError(f"There are no more than {first} passages; the file has changed since the study began.")
        lengths = {number: len(context.model.tokenizer.encode(each.context)) for number, each in passages.items()}
        rows: list[PassageAnswers] = []
        queries: list[Query] = []
        for number, passage in passages.items():
            for variant in self._groups()[name]:
                row = PassageAnswers(variant, number, passage.context, passage.word)
                try:
                    queries.append(cloze_query(passage, variant, self.top_k))
                    rows.append(row)
                except QueryError as error:
                    yield replace(row, error=error.sentence)
        limits = Limits(
            matches=self.answers_with_end if name == _ENDED else self.answers,
            # The expansions of a search count those of its context.
            expansions=self.expansions + max(lengths.values()),
            seconds=None,
        )
        run = search_many(
            context.model, queries, ShortestPath("conditional"), limits, compiler=context.compiler, stop=context.stop
        )
        while not run.finished:
            for answer in run.poll(0.0):
                if answer.progress.ended != "stopped":
                    row = rows[answer.number]
                    yield _answered(row, answer, lengths[row.passage])
            yield None

    def _groups(self) -> dict[str, tuple[Variant, ...]]:
        """The variants whose searches run together, because they expand the same beginnings of words."""
        groups = {name: tuple(each for each in self.variants if each in group) for name, group in _GROUPS.items()}
        return {name: group for name, group in groups.items() if group}


#: Studies to begin with.
PRESETS: dict[str, ClozeStudy] = {
    "ten passages": ClozeStudy(count=10),
    "our own passages": ClozeStudy(),
}


def cloze_query(passage: Passage, variant: Variant, top_k: int | None = 1000) -> Query:
    """The query of a variant for a passage; the group "word" is the answer.

    The prefix is canonical and a finished prompt; the pattern is in all encodings and begins with the space before the
    word. Raises `QueryError` for the words of a context without any.
    """
    words = "[a-zA-Z]+"
    if variant == "words":
        words = "|".join(passage.context_words)
        if not words:
            raise QueryError("The context has no words of plain letters.")
    return Query(
        prefix=re.escape(passage.context),
        pattern=f" (?P<word>{words}){_PUNCTUATION}",
        exclude=Exclude(stop_words=variant == "no_stop"),
        end_of_text=variant in ("terminated", "no_stop"),
        decoding=Decoding(top_k=top_k),
        max_tokens=_MOST_TOKENS,
    )


def _answered(row: PassageAnswers, answer: Answer, context_tokens: int) -> PassageAnswers:
    """The row of a passage with the answer of its search."""
    answers = _words(answer.matches)
    words = [each.word for each in answers]
    return replace(
        row,
        answers=answers,
        right=words[:1] == [row.truth],
        rank=words.index(row.truth) + 1 if row.truth in words else None,
        expansions=max(0, answer.progress.expansions - context_tokens),
        cut=answer.progress.ended == "expansions",
        error=answer.error.sentence if answer.error else "",
    )


def _words(matches: Iterable[Match]) -> tuple[WordAnswer, ...]:
    """The different words of the matches, each with its first and so best text."""
    words: dict[str, WordAnswer] = {}
    for match in matches:
        word = match.groups["word"] or ""
        text = match.text[len(match.prefix_text) :]
        words.setdefault(word, WordAnswer(word, text, match.log_prob, match.decoder_log_prob))
    return tuple(words.values())
