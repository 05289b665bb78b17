"""The search for triggers: many targets, several restarts each, sweep after sweep until nothing gets better.

    sweep 1   "you are bad"   objectives 3.9 3.6 4.2   1,400 words tried in each, 11 12 9 accepted
    sweep 2   "you are bad"              3.5 3.1 3.9
    ...
    found     "you are bad"              3.5 2.8 3.7   the second restart is the best

Targets of one length run side by side. A search ends after a sweep without a change; with `stop_at_hit` all searches
for a target end at the first hit. The results are the same for a target alone and side by side with others.

Source: He and Glass 2019, section 4.2.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from relens.errors import QueryError
from relens.record import Record
from relens.triggers.model.dialogue_model import DialogueModel
from relens.triggers.model.seq2seq import Seq2Seq
from relens.triggers.model.vocabulary import END, FORBIDDEN
from relens.triggers.objective import Objective
from relens.triggers.search.fast_scorer import FastScorer
from relens.triggers.search.gibbs import averaged_sweep, gibbs_sweep
from relens.triggers.search.global_moves import enumeration_step, flips_step
from relens.triggers.search.incumbents import ScorerTables
from relens.triggers.search.scorer import Scorer
from relens.triggers.search.search_settings import SearchSettings
from relens.triggers.search.searches import Edit, Searches, begin
from relens.triggers.search.targets import LONGEST_TARGET

#: Searches that go side by side.
MOST_ROWS = 64


@dataclass(frozen=True)
class Sweep(Record):
    """One sweep of the searches for a target. target: its number, from 0; sweep: from 1.

    values: the objective of each restart after it, best: the ids of the best restart's input; reply_value: its
    objective without the input's own cost, reply_before: that of the best before the sweep. candidates, full: inputs
    that were tried, and those that needed the whole softmax. searching: restarts that took part.
    """

    target: int
    sweep: int
    values: tuple[float, ...]
    best: tuple[int, ...]
    reply_before: float
    reply_value: float
    candidates: int
    full: int
    gradients: int
    searching: int
    edits: tuple[Edit, ...]


@dataclass(frozen=True)
class SearchResult(Record):
    """The end of the searches for a target. inputs: ids of each restart's; values: their objectives, computed plainly.

    sweeps, tried: of each restart, its sweeps and the inputs that were tried in them. candidates, full, gradients: of
    all sweeps, as in `Sweep`.
    """

    target: int
    inputs: tuple[tuple[int, ...], ...]
    values: tuple[float, ...]
    sweeps: tuple[int, ...]
    tried: tuple[int, ...]
    candidates: int
    full: int
    gradients: int

    @property
    def best(self) -> int:
        """The restart with the least objective, the first of equals."""
        return self.values.index(min(self.values))


def trigger_search(
    model: DialogueModel,
    targets: Sequence[Sequence[int]],
    objective: Objective,
    settings: SearchSettings,
    scorer: Scorer | None = None,
) -> Iterator[Sweep | SearchResult | None]:
    """Search for triggers of the targets, ids with `END`; None now and then, so that the caller may stop.

    scorer: `FastScorer` where None. Yields one `SearchResult` for each target. Raises `QueryError`.
    """
    _check(model, targets)
    if scorer is None:
        scorer = FastScorer(model.seq2seq, model.sentence_model, objective, _tables(model))
    by_length: dict[int, list[tuple[int, Sequence[int]]]] = defaultdict(list)
    for number, ids in enumerate(targets):
        by_length[len(ids)].append((number, ids))
    together = max(1, MOST_ROWS // settings.restarts)
    for length in sorted(by_length):
        group = by_length[length]
        for first in range(0, len(group), together):
            searches = begin(model, scorer, group[first : first + together], settings.restarts, settings.seed)
            yield from _side_by_side(scorer, searches, settings)


#: The tables of a model's weights, made once for all of its searches.
_tables_of: WeakKeyDictionary[Seq2Seq, ScorerTables] = WeakKeyDictionary()


def _tables(model: DialogueModel) -> ScorerTables:
    tables = _tables_of.get(model.seq2seq)
    if tables is None:
        tables = _tables_of[model.seq2seq] = ScorerTables(model.seq2seq, model.sentence_model)
    return tables


def _check(model: DialogueModel, targets: Sequence[Sequence[int]]) -> None:
    for ids in targets:
        if not 2 <= len(ids) <= LONGEST_TARGET + 1 or ids[-1] != END:
            raise QueryError(f"A target has between 1 and {LONGEST_TARGET} words, and its end.")
        if not all(0 <= number < len(model.vocabulary) for number in ids) or set(ids[:-1]) & set(FORBIDDEN):
            raise QueryError("A target has only words that the model knows.")


def _side_by_side(
    scorer: Scorer, searches: Searches, settings: SearchSettings
) -> Iterator[Sweep | SearchResult | None]:
    """All sweeps of some searches, their targets whole."""
    account: dict[int, Counter[str]] = {number: Counter() for number in searches.number}
    swept, tried = [0] * len(searches.number), [0] * len(searches.number)
    replies = {number: _best_reply(scorer, searches, number)[1] for number in account}
    active = list(range(len(swept)))
    stepwise = settings.method in ("global", "flips")
    for sweep in range(1, settings.sweeps * (searches.free if stepwise else 1) + 1):
        part = searches.take(active)
        before = part.values.clone()
        yield from _one_sweep(scorer, part, settings)
        searches.put(active, part)
        for row, count in zip(active, part.candidates.tolist(), strict=True):
            swept[row] = sweep
            tried[row] += count
        yield from _accounts(scorer, searches, part, sweep, account, replies)
        improved = (part.values < before).tolist()
        active = [row for row, better in zip(active, improved, strict=True) if better]
        if settings.stop_at_hit and active:
            reached = _reached(scorer, searches)
            active = [row for row in active if searches.number[row] not in reached]
        if not active:
            break
    # The objectives of the shortcuts are rounded; results have plain ones.
    values = scorer.values(searches.source_ids, searches.target_ids).tolist()
    inputs = searches.source_ids.tolist()
    for number, count in account.items():
        rows = [row for row, other in enumerate(searches.number) if other == number]
        yield SearchResult(
            number,
            tuple(tuple(inputs[row]) for row in rows),
            tuple(values[row] for row in rows),
            tuple(swept[row] for row in rows),
            tuple(tried[row] for row in rows),
            count["candidates"],
            count["full"],
            count["gradients"],
        )


def _one_sweep(scorer: Scorer, searches: Searches, settings: SearchSettings) -> Iterator[None]:
    if settings.method == "averaged":
        return averaged_sweep(scorer, searches, settings.shortlist, settings.substitutes)
    if settings.method == "global":
        return enumeration_step(scorer, searches, settings.shortlist)
    if settings.method == "flips":
        return flips_step(scorer, searches)
    return gibbs_sweep(scorer, searches, settings.shortlist)


def _best_reply(scorer: Scorer, searches: Searches, number: int) -> tuple[int, float]:
    """Of the searches for a target, the row of the best, and its objective without the input's own cost."""
    rows = [row for row, other in enumerate(searches.number) if other == number]
    best = min(rows, key=lambda row: float(searches.values[row]))
    if not scorer.objective.scores_inputs:
        return best, float(searches.values[best])
    return best, float(scorer.problem(searches.target_ids[[best]]).reply_values(searches.source_ids[[best], :-1])[0])


def _accounts(
    scorer: Scorer,
    searches: Searches,
    part: Searches,
    sweep: int,
    account: dict[int, Counter[str]],
    replies: dict[int, float],
) -> Iterator[Sweep]:
    """The results of a sweep of a part of the searches, target by target; added to the account.

    replies: of each target the best reply's objective so far.
    """
    values = searches.values.tolist()
    counts = {name: getattr(part, name).tolist() for name in ("candidates", "full", "gradients")}
    for number in dict.fromkeys(part.number):
        swept = [row for row, other in enumerate(part.number) if other == number]
        rows = [row for row, other in enumerate(searches.number) if other == number]
        before = replies[number]
        best, replies[number] = _best_reply(scorer, searches, number)
        counted = Counter({name: sum(count[row] for row in swept) for name, count in counts.items()})
        account[number] += counted
        yield Sweep(
            number,
            sweep,
            tuple(values[row] for row in rows),
            tuple(searches.source_ids[best].tolist()),
            before,
            replies[number],
            counted["candidates"],
            counted["full"],
            counted["gradients"],
            len(swept),
            tuple(edit for row in swept for edit in part.edits[row]),
        )


def _reached(scorer: Scorer, searches: Searches) -> set[int]:
    """The numbers of the targets that an input has reached."""
    hits = scorer.problem(searches.target_ids).evaluate(searches.source_ids[:, :-1]).hits.tolist()
    return {number for number, is_hit in zip(searches.number, hits, strict=True) if is_hit}
