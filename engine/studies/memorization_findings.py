"""What the rows of a memorization study say: curves, throughput, and sentences that claim no more than was counted.

    method                attempts   matches   new and valid   a second   against the best n
    shortest path              312       312             280       40.0               12.5
    sampled, 16 tokens         840       310              22        3.2                1.0      <- the best n
    sampled, 1 token          9000         0               0        0.0                0.0

Everything is read off the rows (`engine.studies.memorization`), of a study under way as well as of one that is done.
Where any match counts, all of them are valid in what follows, and the sentences call them matches (`find_words`).
Sources: ReLM figures 5 and 10 (valid strings over time), figure 6 (their throughput), section 4.1 (duplicates and
completion rate); for recall, Carlini et al., "The Secret Sharer".
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.counted import counted
from engine.percent import percent
from engine.record import Record
from engine.studies.find_words import MATCHING, FindWording, find_words
from engine.studies.memorization import BATCH, MATCH, METHOD, SEARCH, SUMMARY, Tally
from engine.studies.rows import DONE, ROW, UNIT, current_rows
from engine.studies.study import Study

Rows = Iterable[Mapping[str, Any]]

#: With fewer valid strings than this on either side, a ratio of throughputs is not put into words.
FEWEST_FOR_A_RATIO = 5


@dataclass(frozen=True)
class MethodFinding(Record):
    """One method. tally: its counts; seconds: of finding. done: whether the method had all its time.

    valid_a_second: distinct valid strings a second. ratio: of that to the best sampled method's, None where that found
    nothing. duplicate_share: of the matches; completion_rate: matches, valid_share, new_valid_share: valid matches with
    and without duplicates, all of attempts, None before the first. device_use: the part of the time that the model was
    at work. known, recall: how many valid strings there are, and the part of them that was found; None where nobody
    knows.
    """

    unit: str
    method: str
    tally: Tally
    seconds: float
    done: bool
    valid_a_second: float
    ratio: float | None
    duplicate_share: float | None
    completion_rate: float | None
    valid_share: float | None
    new_valid_share: float | None
    tokens_an_attempt: float | None
    device: str
    device_use: float | None
    known: int | None
    recall: float | None
    ended: str


@dataclass(frozen=True)
class Curve(Record):
    """Distinct valid strings of one method over its seconds: it rises at each, and ends where the method ended."""

    unit: str
    method: str
    seconds: tuple[float, ...]
    valid: tuple[int, ...]

    def at(self, seconds: float) -> int:
        """How many had been found by then."""
        place = bisect_right(self.seconds, seconds)
        return self.valid[place - 1] if place else 0


@dataclass(frozen=True)
class RecallCurve(Record):
    """How much of what there is to be found is found, after so many matches were examined.

    examined: matches up to and including each find, the last entry all of them; recall: the part found, 0 to 1.
    """

    unit: str
    method: str
    known: int
    examined: tuple[int, ...]
    recall: tuple[float, ...]

    def at(self, examined: int) -> float:
        """The recall after so many matches."""
        place = bisect_right(self.examined, examined)
        return self.recall[place - 1] if place else 0.0


def findings(rows: Rows) -> tuple[MethodFinding, ...]:
    """What each method found, in the order of the rows; the same for rows of a study under way."""
    units = _by_unit(rows)
    raw = [(key, own, Tally.of_rows(own), _seconds(own)) for key, own in units.items()]
    best = max((_rate(tally.new_valid, seconds) for key, _, tally, seconds in raw if key != SEARCH), default=0.0)
    return tuple(_finding(key, own, tally, seconds, best) for key, own, tally, seconds in raw)


def _finding(key: str, rows: Sequence[Mapping[str, Any]], tally: Tally, seconds: float, best: float) -> MethodFinding:
    told, summary = _first(rows, METHOD), _first(rows, SUMMARY)
    rate = _rate(tally.new_valid, seconds)
    known = told.get("known")
    model = summary.get("seconds_model")
    return MethodFinding(
        unit=key,
        method=str(told.get("label", key)),
        tally=tally,
        seconds=seconds,
        done=bool(_first(rows, DONE)),
        valid_a_second=rate,
        ratio=rate / best if best > 0.0 else None,
        duplicate_share=_share(tally.duplicates, tally.matches),
        completion_rate=tally.completion_rate,
        valid_share=_share(tally.valid, tally.attempts),
        new_valid_share=_share(tally.new_valid, tally.attempts),
        tokens_an_attempt=tally.tokens_an_attempt,
        device=str(told.get("device", "")),
        device_use=None if model is None or seconds <= 0.0 else min(1.0, float(model) / seconds),
        known=known,
        recall=_share(tally.new_valid, known) if known else None,
        ended=str(summary.get("ended", "")),
    )


def curves(rows: Rows) -> tuple[Curve, ...]:
    """Distinct valid strings over time, a curve for each method (figures 5 and 10)."""
    found = []
    for key, own in _by_unit(rows).items():
        times = sorted(float(row["seconds"]) for row in own if row[ROW] == MATCH and row["valid"])
        end = max(_seconds(own), times[-1] if times else 0.0)
        found.append(
            Curve(
                key,
                str(_first(own, METHOD).get("label", key)),
                (0.0, *times, end),
                (*range(len(times) + 1), len(times)),
            )
        )
    return tuple(found)


def recall_curves(rows: Rows) -> tuple[RecallCurve, ...]:
    """Recall against matches examined, for methods of which it is known how much there is to be found."""
    found = []
    for key, own in _by_unit(rows).items():
        told = _first(own, METHOD)
        known = told.get("known")
        if not known:
            continue
        places = sorted(int(row["matches"]) for row in own if row[ROW] == MATCH and row["valid"])
        examined = max(Tally.of_rows(own).matches, places[-1] if places else 0)
        steps = [number / known for number in range(len(places) + 1)]
        found.append(RecallCurve(key, str(told.get("label", key)), known, (0, *places, examined), (*steps, steps[-1])))
    return tuple(found)


def best_sampled(found: Sequence[MethodFinding]) -> MethodFinding | None:
    """The sampled method with the most distinct valid strings a second; None where none found any."""
    sampled = [finding for finding in found if finding.unit != SEARCH and finding.tally.new_valid]
    return max(sampled, key=lambda finding: finding.valid_a_second, default=None)


def verdict(rows: Rows, study: Study | None = None) -> tuple[str, ...]:
    """What was found, in sentences for people; nothing is claimed that the counts do not carry."""
    rows = list(rows)
    found = findings(rows)
    search = next((finding for finding in found if finding.unit == SEARCH), None)
    if search is None or not search.seconds:
        return ("Nothing has been measured yet.",)
    words = find_words(rows)
    sentences = [_search_sentence(search, words)]
    if words.caution and search.tally.matches:
        sentences.append(words.caution)
    if search.known:  # a rate says little where there is an end to what can be found
        sentences += [_recall_sentence(curve) for curve in recall_curves(rows)]
    elif len(found) > 1:
        sentences += _comparison(search, found, words)
    unfinished = [finding.method for finding in found if not finding.done]
    if unfinished:
        sentences.append(f"Still unfinished, so that the figures may change: {', '.join(unfinished)}.")
    return tuple(sentences)


def _search_sentence(search: MethodFinding, words: FindWording) -> str:
    tally = search.tally
    if not tally.matches:
        return f"In {search.seconds:.3g} seconds the search found no match."
    repeated = f"; {tally.duplicates:,} more were the same strings in other tokens" if tally.duplicates else ""
    begin = f"In {search.seconds:.3g} seconds the search found"
    if words is MATCHING:
        return f"{begin} {words.different(tally.new)}{repeated}."
    return (
        f"{begin} {counted(tally.new, 'string')}, of which {tally.new_valid:,}"
        f" ({_percent(tally.new_valid / tally.new)}) {words.are}{repeated}."
    )


def _recall_sentence(curve: RecallCurve) -> str:
    finds = len(curve.examined) - 2
    begin = f"{curve.method[0].upper()}{curve.method[1:]}: {finds:,} of {curve.known:,} known values"
    if not finds:
        return f"{begin} among {curve.examined[-1]:,} examined matches."
    last = f"the last of them as match {curve.examined[-2]:,} of {curve.examined[-1]:,}"
    return f"{begin} ({_percent(curve.recall[-1])}), {last}."


def _comparison(search: MethodFinding, found: Sequence[MethodFinding], words: FindWording) -> list[str]:
    sampled = [finding for finding in found if finding.unit != SEARCH]
    attempts = sum(finding.tally.attempts for finding in sampled)
    best = best_sampled(found)
    if best is None:
        return [f"Sampling found {words.nothing} in {attempts:,} attempts, so the two cannot be compared by a ratio."]
    if min(search.tally.new_valid, best.tally.new_valid) < FEWEST_FOR_A_RATIO:
        return [
            f"The search found {words.different(search.tally.new_valid)}, the best of sampling ({best.method})"
            f" {best.tally.new_valid:,}: too few to say how much faster one is."
        ]
    ratio = search.valid_a_second / best.valid_a_second
    compared = f"{ratio:.2g} times as many" if ratio >= 1.0 else f"only {ratio:.2g} times as many"
    sentence = (
        f"That is {compared} different {words.many} a second as the best of sampling ({best.method}):"
        f" {search.valid_a_second:.3g} against {best.valid_a_second:.3g}."
    )
    duplicates = [finding for finding in sampled if finding.duplicate_share is not None]
    most = max(duplicates, key=lambda finding: finding.duplicate_share or 0.0)
    return [
        sentence,
        f"{best.method[0].upper()}{best.method[1:]}: {percent(best.completion_rate or 0.0)} of the attempts are a"
        f" match, and {percent(best.duplicate_share or 0.0)} of the matches repeat an earlier one; the most repeat with"
        f" {most.method} ({percent(most.duplicate_share or 0.0)}).",
    ]


def _percent(share: float) -> str:
    """A share in words that does not call a few none, nor nearly all all."""
    return percent(share) if share in (0.0, 1.0) or 0.01 <= share < 0.995 else f"{100 * share:.3g} %"


def _by_unit(rows: Rows) -> dict[str, list[Mapping[str, Any]]]:
    units: dict[str, list[Mapping[str, Any]]] = {}
    for row in current_rows(rows):
        units.setdefault(str(row[UNIT]), []).append(row)
    return units


def _seconds(rows: Sequence[Mapping[str, Any]]) -> float:
    """How long the method has worked: by its summary, or by its last batch."""
    summary = _first(rows, SUMMARY)
    if summary:
        return float(summary["seconds"])
    return max((float(row["seconds"]) for row in rows if row[ROW] == BATCH), default=0.0)


def _first(rows: Sequence[Mapping[str, Any]], kind: str) -> Mapping[str, Any]:
    return next((row for row in rows if row[ROW] == kind), {})


def _rate(count: int, seconds: float) -> float:
    return count / seconds if seconds > 0.0 else 0.0


def _share(part: int, whole: int | None) -> float | None:
    return part / whole if whole else None
