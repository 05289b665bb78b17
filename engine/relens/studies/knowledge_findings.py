"""What the three ways to ask one fact say together: whether the model knows the answer, or only recognises it.

multiple choice      prefers the right one, which has 71 % among 4
structured query     the right one in place 13 of all 744,000
->  "The model picks the answer when it is shown, and would not have put it first by itself."
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from relens.percent import percent
from relens.studies.knowledge import Choice, Continuation, KnowledgeStudy, RankedAnswer, Ranking
from relens.studies.rows import Rows


@dataclass(frozen=True)
class KnowledgeFindings:
    """choices: the likeliest first; matches: by rank. continuation, ranking: None as long as that way is not done.

    truth: the right answer. distractors: the other choices.
    """

    truth: str
    distractors: tuple[str, ...]
    choices: tuple[Choice, ...]
    continuation: Continuation | None
    matches: tuple[RankedAnswer, ...]
    ranking: Ranking | None

    @property
    def chosen(self) -> Choice | None:
        """The likeliest of the choices."""
        return self.choices[0] if self.choices else None

    @property
    def true_choice(self) -> Choice | None:
        """The right one of the choices."""
        return next((choice for choice in self.choices if choice.is_truth), None)

    @property
    def best(self) -> RankedAnswer | None:
        """The most probable answer of the pattern."""
        return self.matches[0] if self.matches else None

    @property
    def rank_at_least(self) -> int | None:
        """A bound on the rank of the right answer, which is its rank where the search found it; 1 says nothing."""
        return None if self.ranking is None else self.ranking.rank or self.ranking.matches + 1

    @property
    def answers_text(self) -> str:
        """How many answers the pattern allows: "all 744,000 answers"."""
        return f"all {self.ranking.answers:,} answers" if self.ranking and self.ranking.answers else "all answers"

    @property
    def verdict(self) -> tuple[str, ...]:
        """The three ways in sentences."""
        sentences = (*_choice_sentences(self), *_continuation_sentences(self), *_ranking_sentences(self))
        return sentences or ("There is no result yet.",)


def knowledge_findings(rows: Rows, study: KnowledgeStudy) -> KnowledgeFindings:
    """The findings of these rows, which may be those of a study that is not finished."""
    rows = list(rows)
    return KnowledgeFindings(
        truth=study.truth,
        distractors=study.distractors,
        choices=tuple(sorted(Choice.all_in(rows), key=lambda choice: -choice.share)),
        continuation=next(iter(Continuation.all_in(rows)), None),
        matches=tuple(sorted(RankedAnswer.all_in(rows), key=lambda match: match.rank)),
        ranking=next(iter(Ranking.all_in(rows)), None),
    )


def _choice_sentences(findings: KnowledgeFindings) -> Iterator[str]:
    if (chosen := findings.chosen) and (truth := findings.true_choice):
        outcome = "the right one" if chosen.is_truth else f"“{chosen.text}”, which is wrong"
        yield (
            f"Of {len(findings.choices)} choices the model prefers {outcome};"
            f" the right one has {percent(truth.share, 1)} of the probability among them."
        )


def _continuation_sentences(findings: KnowledgeFindings) -> Iterator[str]:
    if free := findings.continuation:
        outcome = "has the right answer in it" if free.has_truth else "does not have the right answer in these words"
        yield f"Its greedy continuation, {free.tokens} tokens long, {outcome}."


def _ranking_sentences(findings: KnowledgeFindings) -> Iterator[str]:
    ranking = findings.ranking
    if ranking is None:
        return
    probability = f"its probability is {math.exp(ranking.log_prob):.2g}"
    among = f"Among {findings.answers_text} of the pattern"
    if ranking.rank == 1:
        yield f"{among} the right one is the most likely; {probability}."
    elif ranking.rank and findings.best:
        yield (
            f"{among} the right one is in place {ranking.rank:,}, and “{findings.best.text}” is in the first;"
            f" {probability}."
        )
    elif not ranking.matches:
        yield f"{among} the search found none, so the place of the right one is not known; {probability}."
    else:
        yield (
            f"{among} at least {ranking.matches:,} are likelier than the right one, which the search did not reach;"
            f" {probability}."
        )
    is_first = (ranking.rank or ranking.matches + 1) == 1
    if findings.chosen and findings.chosen.is_truth and not is_first:
        yield "So the model picks the answer when it is shown, and would not have put it first by itself."
