"""One question put to a model in three ways, as in Figure 1 of the ReLM paper.

    prompt                George Washington was born on
    multiple choice       February 22, 1732 | July 4, 1732 | ...     easy: there are only four answers, all of them ours
    free response         the 22nd of February in Virginia ...       hard to judge: the answer may take any form
    structured query      every date there is, best first            the truth stands in place 13 of 744,000

The third way has the strictness of the first without giving the answer away. Where the truth ranks is found by asking
for match after match in exact order until it comes. How probable it is needs no search: its own tokens are scored.

Strings are scored in the tokenizer's own encoding, so a string is one token sequence and ranks are ranks of strings.
A probability is that of the text going on with the string, whatever follows it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from relens.errors import QueryError
from relens.language.groups import fully_matches
from relens.language.syntax import parse_regex
from relens.query import Decoding, Encoding, Limits, Query, ShortestPath
from relens.setting import Setting
from relens.studies.rows import StudyRow
from relens.studies.study import Study, StudyContext, Unit
from relens.traversal.results import Match

if TYPE_CHECKING:
    from relens.search_run import SearchRun

CHOICES, FREE, STRUCTURED = "choices", "free", "structured"

_MOST_TOKENS = 1 << 14
_MOST_CHOICES, _MOST_CONTINUATION = 100, 256

MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
DATES = f"({MONTHS}) ([1-9]|[12][0-9]|3[01]), [12][0-9]{{3}}"
CAPITALS = (
    "Abuja|Amsterdam|Ankara|Athens|Baghdad|Bangkok|Beijing|Berlin|Bern|Bogotá|Brasília|Brussels|Budapest|Buenos Aires|"
    "Cairo|Canberra|Caracas|Copenhagen|Dakar|Damascus|Dhaka|Dublin|Hanoi|Havana|Helsinki|Islamabad|Jakarta|Jerusalem|"
    "Kabul|Kathmandu|Khartoum|Kyiv|Lima|Lisbon|London|Madrid|Manila|Mexico City|Montevideo|Moscow|Nairobi|New Delhi|"
    "Oslo|Ottawa|Paris|Prague|Pretoria|Quito|Rabat|Reykjavik|Riga|Rome|Santiago|Seoul|Singapore|Sofia|Stockholm|"
    "Tallinn|Tehran|Tokyo|Tunis|Vienna|Vilnius|Warsaw|Washington|Wellington|Zagreb|"
    "Sydney|Melbourne|Perth|Brisbane|Adelaide"
)


@dataclass(frozen=True)
class Choice(StudyRow):
    """An answer of the multiple choice. log_prob: after the prompt, nats; share: of the probability of all choices."""

    row_name: ClassVar[str] = "choice"
    text: str
    is_truth: bool
    log_prob: float
    share: float


@dataclass(frozen=True)
class Continuation(StudyRow):
    """The free response. tokens: its length; has_truth: whether the truth stands in it."""

    row_name: ClassVar[str] = "continuation"
    text: str
    tokens: int
    has_truth: bool


@dataclass(frozen=True)
class RankedAnswer(StudyRow):
    """A match of the structured query. rank: 1 for the most probable."""

    row_name: ClassVar[str] = "match"
    rank: int
    text: str
    is_truth: bool
    log_prob: float


@dataclass(frozen=True)
class Ranking(StudyRow):
    """The structured query as a whole.

    rank: of the truth, None where the search ended before it. matches: answers found. answers: strings of the pattern,
    None without end. log_prob: of the truth, nats.
    """

    row_name: ClassVar[str] = "ranking"
    rank: int | None
    matches: int
    answers: int | None
    log_prob: float
    expansions: int = 0
    ended: str = ""
    found_mass: float = 0.0
    remaining_mass: float = 1.0


@dataclass(frozen=True)
class KnowledgeStudy(Study):
    """Whether a model knows one fact.

    The answers follow the prompt after a space; the truth is one of the pattern's strings.
    """

    kind: ClassVar[str] = "knowledge"
    title: ClassVar[str] = "Knowledge"
    question: ClassVar[str] = "Does the model know the answer, and does it depend on how it is asked?"

    prompt: Annotated[
        str,
        Setting(
            "Prompt",
            "The text that the answer continues, without a blank at its end: “The capital of Australia is”.",
            fewest=1,
        ),
    ] = "George Washington was born on"
    truth: Annotated[
        str,
        Setting(
            "Right answer",
            "Exactly as it has to be written. It must be one of the answers that the pattern allows.",
            fewest=1,
        ),
    ] = "February 22, 1732"
    distractors: Annotated[
        tuple[str, ...],
        Setting(
            "Wrong answers to choose from",
            "One a line. They stand beside the right one in the multiple choice; more and likelier ones make it "
            "harder.",
            fewest=1,
            most_items=_MOST_CHOICES - 1,
        ),
    ] = ("July 4, 1732", "April 30, 1789", "December 14, 1799")
    pattern: Annotated[
        str,
        Setting(
            "All answers that count",
            "A regular expression for every answer of the structured query, as in the Workbench. All of them are "
            "ranked, so the more there are, the more a good place says.",
            fewest=1,
            is_regex=True,
        ),
    ] = DATES
    continuation: Annotated[
        int, Setting("Free tokens", "The length of the free response, in tokens.", least=1, most=_MOST_CONTINUATION)
    ] = 24
    matches: Annotated[
        int,
        Setting(
            "Answers to rank",
            "How far to search for the right one. Where it comes later, only its probability is known.",
            least=1,
            ceiling=10_000,
        ),
    ] = 500
    expansions: Annotated[
        int,
        Setting(
            "Limit of expansions",
            "How often the model is asked what comes next in that search, at most. Higher: further places are found.",
            least=1,
            ceiling=100_000,
        ),
    ] = 5_000

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.prompt.strip() or self.prompt != self.prompt.rstrip():
            raise QueryError("The prompt must be a text that does not end in a blank: the space is put behind it.")
        answers = (self.truth, *self.distractors)
        if any(not answer or answer != answer.strip() for answer in answers):
            raise QueryError("Each answer must be a text without blanks around it.")
        if len(set(answers)) < len(answers):
            raise QueryError("The truth and the distractors must all be different.")

    def check(self) -> None:
        """Raise `RegexError` for a malformed pattern, and `QueryError` for a truth outside it."""
        tree = parse_regex(self.pattern, Limits(), "pattern")
        if fully_matches(tree, self.truth) is False:
            raise self._not_among_the_answers()

    def plan(self) -> Iterator[Unit]:
        """The three ways."""
        yield Unit(CHOICES, "multiple choice")
        yield Unit(FREE, "free response")
        yield Unit(STRUCTURED, "structured query")

    def carry_out(self, unit: Unit, context: StudyContext) -> Iterator[StudyRow | None]:
        """See `Study.carry_out`. Raises `QueryError` where the truth is no string of the pattern."""
        ways = {CHOICES: self._choices, FREE: self._free, STRUCTURED: self._structured}
        yield from ways[unit.key](context)

    def _choices(self, context: StudyContext) -> Iterator[StudyRow | None]:
        answers = (self.truth, *self.distractors)
        found: dict[str, float] = {}
        for match in _matches(self._ask(context, "|".join(map(re.escape, answers)), Limits(seconds=None))):
            if match is not None:
                found[_answer(match)] = match.log_prob
            yield None
        if context.stop():
            return
        if missing := [text for text in answers if text not in found]:
            raise QueryError(f"The model's vocabulary has no encoding of the answer {missing[0]!r}.")
        most = max(found.values())
        total = sum(math.exp(log_prob - most) for log_prob in found.values())
        for text in answers:
            share = math.exp(found[text] - most) / total
            yield Choice(text, is_truth=text == self.truth, log_prob=found[text], share=share)

    def _free(self, context: StudyContext) -> Iterator[StudyRow | None]:
        """The greedy continuation is the longest of the texts that the most likely tokens spell one after the other."""
        query = Query(
            prefix=re.escape(self.prompt),
            pattern=r"(?s:.)*",
            decoding=Decoding.greedy(),
            max_tokens=len(context.model.tokenizer.encode(self.prompt)) + self.continuation,
        )
        longest: Match | None = None
        run = _search(query, context, Limits(seconds=None))
        for match in _matches(run):
            if match is not None and (longest is None or len(match.token_ids) > len(longest.token_ids)):
                longest = match
            yield None
        if context.stop():
            return
        text = longest.text[len(longest.prefix_text) :] if longest else ""
        tokens = len(longest.token_ids) - longest.prefix_tokens if longest else 0
        yield Continuation(text, tokens, has_truth=contains_answer(text, self.truth))

    def _structured(self, context: StudyContext) -> Iterator[StudyRow | None]:
        # The expansions of a search count those of the prompt.
        prompt_tokens = len(context.model.tokenizer.encode(self.prompt))
        limits = Limits(matches=self.matches, expansions=self.expansions + prompt_tokens, seconds=None)
        run = self._ask(context, self.pattern, limits)
        if not run.compiled.accepts_text(f"{self.prompt} {self.truth}"):
            raise self._not_among_the_answers()
        rank, found = None, 0
        for match in _matches(run):
            if match is not None:
                found += 1
                is_truth = _answer(match) == self.truth
                rank = found if is_truth else rank
                yield RankedAnswer(found, _answer(match), is_truth, match.log_prob)
            yield None
            if rank is not None and found >= min(20, self.matches):
                break
        progress = run.progress
        log_prob = None
        for match in _matches(self._ask(context, re.escape(self.truth), Limits(matches=1, seconds=None))):
            log_prob = log_prob if match is None else match.log_prob
            yield None
        if context.stop() or log_prob is None:
            return
        yield Ranking(
            rank=rank,
            matches=found,
            answers=run.compiled.sizes.strings,
            log_prob=log_prob,
            expansions=max(0, progress.expansions - prompt_tokens),
            ended=progress.ended or "found",
            found_mass=progress.found_mass,
            remaining_mass=progress.remaining_mass,
        )

    def _not_among_the_answers(self) -> QueryError:
        truth = self.truth if len(self.truth) <= 80 else self.truth[:79] + "…"
        return QueryError(f"The truth, {truth!r}, is not among the answers that the pattern describes.")

    def _ask(self, context: StudyContext, pattern: str, limits: Limits) -> SearchRun:
        query = Query(
            prefix=re.escape(self.prompt),
            pattern=f" ({pattern})",
            encoding=Encoding.CANONICAL,
            max_tokens=_MOST_TOKENS,
        )
        return _search(query, context, limits)


#: Questions to begin with.
PRESETS: dict[str, KnowledgeStudy] = {
    "birth date": KnowledgeStudy(),
    "capital": KnowledgeStudy(
        prompt="The capital of Australia is",
        truth="Canberra",
        distractors=("Sydney", "Melbourne", "Perth"),
        pattern=CAPITALS,
    ),
    "year": KnowledgeStudy(
        prompt="The first human being walked on the Moon in the year",
        truth="1969",
        distractors=("1959", "1972", "1984"),
        pattern="1[0-9]{3}|20[0-9]{2}",
    ),
}


def _search(query: Query, context: StudyContext, limits: Limits) -> SearchRun:
    from relens.search_run import search  # here, so that describing a study does without torch

    return search(
        context.model, query, ShortestPath("conditional"), limits, compiler=context.compiler, stop=context.stop
    )


def _matches(run: SearchRun) -> Iterator[Match | None]:
    """The matches of a search, and None after each round, so that a stop is noticed soon."""
    while not run.finished:
        yield from run.poll(0.0)
        yield None


def _answer(match: Match) -> str:
    return match.text[len(match.prefix_text) + 1 :]


def contains_answer(text: str, answer: str) -> bool:
    """Whether the answer stands in the text and no letter or digit touches it."""
    return re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text) is not None
