"""The cloze test: find the last word of a passage, under four ways of asking.

    context    ... Shane gripped her arm. "I can make it there on my own,
    baseline    but          a word, and perhaps more of the sentence after it
    words       I            one of the words of the context
    terminated  thanks       a word after which the text ends
    no_stop     Shane        the same, and no function word

Each way is a pattern after the same prefix, and the answer is the first match of a best-first search: nothing is
sampled, nothing is looked for in a long continuation. What differs between them is written in the pattern alone, so
that it can be read. Source: ReLM section 4.4, with its top-k of 1,000.

**What ends a text is rare.** A model that has seen few texts end in mid-passage gives the end of text a probability of
one in a million after any word, and whatever is likelier than the best answer has to be looked at before it: thousands
of beginnings of words. So each passage has a limit of expansions. Where it is reached before the first match is
certain, the passage is told to be cut and has no answer; it is never given one that might not be the first. The two
variants that end the text are asked together: they look at the same beginnings, which the model computes once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from engine.errors import LimitError, QueryError
from engine.query import Decoding, Exclude, Limits, Query, ShortestPath
from engine.setting import Setting
from engine.studies.passages import MOST_PASSAGES, Passage, own_passages, read_passages, split_passage
from engine.studies.rows import ROW, Row
from engine.studies.study import Study, StudyContext, Unit

if TYPE_CHECKING:
    from engine.many_searches import Answer

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

#: What rows tell of a passage.
ANSWER = "answer"

#: Passages of a unit: enough to fill the model's batches, few enough that a run cut short repeats little.
CHUNK = 20

#: Tokens of the longest match; what the model can hold is the limit in fact.
_MOST_TOKENS = 1 << 14
_MOST_ANSWERS = 100
_PUNCTUATION = r'(\.|!|\?)?(")?'


@dataclass(frozen=True)
class ClozeStudy(Study):
    """Which share of last words a model finds.

    passages: texts; where there are none, those of the file at `path` (see `engine.studies.passages`), and without that
    either, Relens' own. A context shorter than others of its chunk leaves more expansions for its answer.
    """

    kind: ClassVar[str] = "cloze"
    title: ClassVar[str] = "Cloze"
    question: ClassVar[str] = (
        "Does the model find the last word of a passage, and how much does the way of asking matter?"
    )

    passages: Annotated[tuple[str, ...], Setting("Passages", "Texts whose last word is to be found.", blanks=True)] = ()
    path: Annotated[str, Setting("File of passages", "One passage a line, as plain text or as JSON with a `text`.")] = (
        ""
    )
    count: Annotated[
        int | None,
        Setting(
            "How many passages",
            "Only the first so many; empty for all. More passages make the shares more certain: the interval is half "
            "as wide with four times as many.",
            least=1,
            empty="all",
        ),
    ] = None
    variants: Annotated[
        tuple[Variant, ...],
        Setting(
            "Ways of asking",
            "**Any word**: any letters may come first. **Words of the context**: only a word that the passage has "
            "already. **A word that ends the text**: the text has to end after the word. **An ending that is no "
            "function word**: the same, and *the*, *of*, *and* do not count.",
            fewest=1,
            distinct=True,
            choices=LABELS,
        ),
    ] = VARIANTS
    top_k: Annotated[
        int | None,
        Setting(
            "Top-k",
            "At each step only the so many likeliest tokens may come; empty for no such rule. The paper takes 1,000.",
            least=1,
            empty="off",
        ),
    ] = 1000
    answers: Annotated[
        int,
        Setting(
            "Matches to find",
            "The first decides. The others show in which place the right word stands; a word may come among them again "
            "with other punctuation, so there may be fewer different words.",
            least=1,
            most=_MOST_ANSWERS,
        ),
    ] = 5
    answers_with_end: Annotated[
        int,
        Setting(
            "Matches where the text ends",
            "The same for the ways where the text has to end after the word. Each further one takes long there, "
            "because few texts end in mid-passage.",
            least=1,
            most=_MOST_ANSWERS,
        ),
    ] = 1
    expansions: Annotated[
        int,
        Setting(
            "Limit of expansions",
            "How often the model is asked what comes next, for each passage and way. Where that is not enough to be "
            "certain of the first answer, the passage stays undecided. Higher: fewer are, and it takes longer.",
            least=1,
            ceiling=100_000,
            step=50,
        ),
    ] = 250

    def read(self) -> tuple[Passage, ...]:
        """The passages. Raises `QueryError` and `LimitError` that say which is wrong."""
        if len(self.passages) > MOST_PASSAGES:
            raise LimitError(f"There are more than {MOST_PASSAGES:,} passages.", limit="passages")
        if self.passages:
            # One text is one passage whatever it looks like, also where it has lines or begins like JSON.
            return tuple(
                split_passage(text, f"Passage {number}")
                for number, text in enumerate(self.passages[: self.count], start=1)
            )
        return read_passages(self.path, self.count) if self.path else own_passages()[: self.count]

    def files(self) -> tuple[str, ...]:
        """See `Study.files`."""
        return (self.path,) if self.path else ()

    def counts(self) -> dict[str, int]:
        """How many "passages" there are, and how many "unanswerable" ones, whose last word no answer can be."""
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

    def carry_out(self, unit: Unit, context: StudyContext) -> Iterator[Row | None]:
        """One row a passage and variant, as it is answered."""
        from engine.many_searches import search_many  # here, so that describing a study does without torch

        name, first = unit.key.split(" ")
        passages = dict(enumerate(self.read()[int(first) : int(first) + CHUNK], start=int(first)))
        if not passages:
            raise QueryError(f"There are no more than {first} passages; the file has changed since the study began.")
        lengths = {number: len(context.model.tokenizer.encode(each.context)) for number, each in passages.items()}
        asked: list[tuple[int, Variant]] = []
        queries: list[Query] = []
        for number, passage in passages.items():
            for variant in self._groups()[name]:
                try:
                    queries.append(cloze_query(passage, variant, self.top_k))
                    asked.append((number, variant))
                except QueryError as error:
                    yield self._row(number, passage, variant, error=error.sentence)
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
                    number, variant = asked[answer.number]
                    yield self._row(number, passages[number], variant, answer, lengths[number])
            yield None

    def _groups(self) -> dict[str, tuple[Variant, ...]]:
        """The variants that are asked together, because their searches look at the same beginnings of words."""
        groups = {name: tuple(each for each in self.variants if each in group) for name, group in _GROUPS.items()}
        return {name: group for name, group in groups.items() if group}

    def _row(
        self,
        number: int,
        passage: Passage,
        variant: Variant,
        answer: Answer | None = None,
        context_tokens: int = 0,
        error: str = "",
    ) -> Row:
        answers = _words(answer) if answer else []
        words = [found["word"] for found in answers]
        if answer and answer.error:
            error = answer.error.sentence
        return {
            ROW: ANSWER,
            "variant": variant,
            "passage": number,
            "context": passage.context,
            "truth": passage.word,
            "answers": answers,
            "right": words[:1] == [passage.word],
            "rank": words.index(passage.word) + 1 if passage.word in words else None,
            "expansions": max(0, answer.progress.expansions - context_tokens) if answer else 0,
            "cut": answer is not None and answer.progress.ended == "expansions",
            "error": error,
        }


#: Studies to begin with.
PRESETS: dict[str, ClozeStudy] = {
    "ten passages": ClozeStudy(count=10),
    "our own passages": ClozeStudy(),
}


def cloze_query(passage: Passage, variant: Variant, top_k: int | None = 1000) -> Query:
    """The question that a variant puts about a passage; the answer's word is the group "word".

    The prefix is canonical and a finished prompt, the pattern is in all encodings and begins with the space before the
    word. Raises `QueryError` for the words of a context that has none.
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


def _words(answer: Answer) -> list[Row]:
    """The different words among the matches, each as it first came: with its best text and the scores of that."""
    found: dict[str, Row] = {}
    for match in answer.matches:
        word = match.groups["word"] or ""
        text = match.text[len(match.prefix_text) :]
        found.setdefault(
            word, {"word": word, "text": text, "log_prob": match.log_prob, "decoder_log_prob": match.decoder_log_prob}
        )
    return list(found.values())
