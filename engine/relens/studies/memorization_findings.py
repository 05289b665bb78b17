"""The findings of a memorization study: throughput of each method, curves, and sentences that the counts carry.

    method                attempts   matches   new and valid   a second   ratio
    shortest path              312       312             280       40.0    12.5
    sampled, 16 tokens         840       310              22        3.2     1.0      <- the best sampled method
    sampled, 1 token          9000         0               0        0.0     0.0

Without a validator every match counts as valid, and the sentences say "match" (`find_words`). Sources: ReLM figures 5
and 10 (valid strings over time), figure 6 (throughput), section 4.1 (duplicates and completion rate); for recall,
Carlini et al., "The Secret Sharer".
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from relens.counted import counted
from relens.percent import percent
from relens.studies.find_words import MATCHING, FindWording, find_words
from relens.studies.memorization import SEARCH
from relens.studies.memorization_rows import Batch, MethodSetup, NewMatch, Summary, Tally
from relens.studies.rows import Rows, current_rows
from relens.studies.study import Study

#: With fewer valid strings than this on either side, the verdict gives no ratio of throughputs.
FEWEST_FOR_A_RATIO = 5


@dataclass(frozen=True)
class StepCurve:
    """A value that rises in steps: each of `values` holds from its place to the next. The last place is the end."""

    places: tuple[float, ...]
    values: tuple[float, ...]

    def at(self, place: float) -> float:
        """The value at that place."""
        step = bisect_right(self.places, place)
        return self.values[step - 1] if step else 0


@dataclass(frozen=True)
class MethodFindings:
    """One method. matches: the different ones, in their order. tally: the sum of its batches.

    seconds: of search or sampling so far. summary: None as long as the method is not done.
    """

    setup: MethodSetup
    matches: tuple[NewMatch, ...]
    tally: Tally
    seconds: float
    summary: Summary | None

    @property
    def unit(self) -> str:
        """The key of the method's unit."""
        return self.setup.unit

    @property
    def label(self) -> str:
        """The name of the method in plain words."""
        return self.setup.label

    @property
    def is_search(self) -> bool:
        """Whether it is the search; the others are sampled."""
        return self.unit == SEARCH

    @property
    def valid_a_second(self) -> float:
        """Throughput: distinct valid strings a second."""
        return self.tally.new_valid / self.seconds if self.seconds > 0.0 else 0.0

    @property
    def device_use(self) -> float | None:
        """The part of the time within the network, None as long as it is not known."""
        if self.summary is None or self.summary.seconds_model is None or self.seconds <= 0.0:
            return None
        return min(1.0, self.summary.seconds_model / self.seconds)

    @property
    def recall(self) -> float | None:
        """The part of the known valid strings that was matched, None where their number is unknown."""
        return self.tally.new_valid / self.setup.known if self.setup.known else None

    @cached_property
    def valid_matches(self) -> tuple[NewMatch, ...]:
        """The distinct valid strings."""
        return tuple(match for match in self.matches if match.valid)

    @cached_property
    def valid_curve(self) -> StepCurve:
        """Distinct valid strings over seconds (figures 5 and 10)."""
        seconds = sorted(match.seconds for match in self.valid_matches)
        end = max([self.seconds, *seconds[-1:]])
        return StepCurve((0.0, *seconds, end), (*range(len(seconds) + 1), len(seconds)))

    @cached_property
    def recall_curve(self) -> StepCurve | None:
        """Recall over the number of matches, duplicates included; None where the valid strings are not known."""
        if not self.setup.known:
            return None
        places = sorted(match.matches for match in self.valid_matches)
        end = max([self.tally.matches, *places[-1:]])
        recall = [count / self.setup.known for count in range(len(places) + 1)]
        return StepCurve((0, *places, end), (*recall, recall[-1]))


@dataclass(frozen=True)
class MemorizationFindings:
    """All methods in their order. wording: what a string that counts is called."""

    methods: tuple[MethodFindings, ...]
    wording: FindWording

    @property
    def search(self) -> MethodFindings | None:
        """The search, None before its first row."""
        return next((method for method in self.methods if method.is_search), None)

    @property
    def sampled(self) -> tuple[MethodFindings, ...]:
        """The sampled methods."""
        return tuple(method for method in self.methods if not method.is_search)

    @property
    def best_sampled(self) -> MethodFindings | None:
        """The sampled method with the best throughput; None where none has a valid string."""
        productive = [method for method in self.sampled if method.tally.new_valid]
        return max(productive, key=lambda method: method.valid_a_second, default=None)

    def ratio(self, method: MethodFindings) -> float | None:
        """The throughput of a method over that of the best sampled one, None where that is 0."""
        best = self.best_sampled
        return method.valid_a_second / best.valid_a_second if best and best.valid_a_second else None

    @property
    def verdict(self) -> tuple[str, ...]:
        """The comparison in sentences, as far as the counts carry one."""
        search = self.search
        if search is None or not search.seconds:
            return ("There is no measurement yet.",)
        sentences = [_search_sentence(search, self.wording)]
        if self.wording.caution and search.tally.matches:
            sentences.append(self.wording.caution)
        if search.setup.known:  # a rate says little where the number of valid strings is limited
            sentences += [_recall_sentence(method, curve) for method in self.methods if (curve := method.recall_curve)]
        elif self.sampled:
            sentences += _comparison(self, search)
        if unfinished := [method.label for method in self.methods if method.summary is None]:
            sentences.append(f"Still unfinished, so that the figures may change: {', '.join(unfinished)}.")
        return tuple(sentences)


def memorization_findings(rows: Rows, study: Study | None = None) -> MemorizationFindings:
    """The findings of these rows, which may be those of a study that is not finished."""
    rows = current_rows(rows)
    setups, matches, batches = MethodSetup.all_in(rows), NewMatch.by_unit(rows), Batch.by_unit(rows)
    summaries = {summary.unit: summary for summary in Summary.all_in(rows)}
    methods = []
    for setup in setups:
        own, summary = batches[setup.unit], summaries.get(setup.unit)
        seconds = summary.seconds if summary else max((batch.seconds for batch in own), default=0.0)
        methods.append(MethodFindings(setup, tuple(matches[setup.unit]), sum(own, Tally()), seconds, summary))
    return MemorizationFindings(tuple(methods), find_words(setups))


def _search_sentence(search: MethodFindings, wording: FindWording) -> str:
    tally = search.tally
    if not tally.matches:
        return f"In {search.seconds:.3g} seconds the search found no match."
    repeated = f"; {tally.duplicates:,} more were the same strings in other tokens" if tally.duplicates else ""
    begin = f"In {search.seconds:.3g} seconds the search found"
    if wording is MATCHING:
        return f"{begin} {wording.different(tally.new)}{repeated}."
    return (
        f"{begin} {counted(tally.new, 'string')}, of which {tally.new_valid:,}"
        f" ({_percent(tally.new_valid / tally.new)}) {wording.are}{repeated}."
    )


def _recall_sentence(method: MethodFindings, curve: StepCurve) -> str:
    valid, (last, examined) = len(method.valid_matches), curve.places[-2:]
    begin = f"{_begin(method.label)}: {valid:,} of {method.setup.known:,} known values"
    if not valid:
        return f"{begin} among {examined:,} examined matches."
    return f"{begin} ({_percent(curve.values[-1])}), the last of them as match {last:,} of {examined:,}."


def _comparison(findings: MemorizationFindings, search: MethodFindings) -> Iterator[str]:
    best, wording = findings.best_sampled, findings.wording
    if best is None:
        attempts = sum(method.tally.attempts for method in findings.sampled)
        yield f"Sampling found {wording.nothing} in {attempts:,} attempts, so there is no ratio."
        return
    if min(search.tally.new_valid, best.tally.new_valid) < FEWEST_FOR_A_RATIO:
        yield (
            f"The search found {wording.different(search.tally.new_valid)}, the best of sampling ({best.label})"
            f" {best.tally.new_valid:,}: too few to say how much faster one is."
        )
        return
    ratio = search.valid_a_second / best.valid_a_second
    yield (
        f"That is {'' if ratio >= 1.0 else 'only '}{ratio:.2g} times as many different {wording.many} a second as the"
        f" best of sampling ({best.label}): {search.valid_a_second:.3g} against {best.valid_a_second:.3g}."
    )
    matching = [method for method in findings.sampled if method.tally.matches]
    most = max(matching, key=lambda method: method.tally.duplicate_share or 0.0)
    yield (
        f"{_begin(best.label)}: {percent(best.tally.completion_rate or 0.0)} of the attempts are a match, and"
        f" {percent(best.tally.duplicate_share or 0.0)} of the matches repeat an earlier one; the most repeat with"
        f" {most.label} ({percent(most.tally.duplicate_share or 0.0)})."
    )


def _begin(label: str) -> str:
    return label[0].upper() + label[1:]


def _percent(share: float) -> str:
    """A share that does not read as none or all where it is only near."""
    return percent(share) if share in (0.0, 1.0) or 0.01 <= share < 0.995 else f"{100 * share:.3g} %"
