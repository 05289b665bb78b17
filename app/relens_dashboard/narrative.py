"""Numbers to plain sentences.

A search reports `found_mass=0.117, remaining_mass=0.221`. A person reads

    Between 12 % and 34 % of what this decoder writes here begins with a match.

Everything here is a pure function of a record of the store, so a run reads the same on every page and each sentence
can be tested. Probabilities are from 0 to 1; times are seconds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from relens.counted import counted
from relens.query import Distribution, Sampling, ShortestPath
from relens.runs.records import RunRecord

if TYPE_CHECKING:
    from relens.statistics import Estimate

_ORDINALS = ("next", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")

#: Bounds closer than this, relative to the upper one, are given as one number.
_SETTLED = 0.005


def probability_text(probability: float) -> str:
    """A probability as people say it: "34 %", "0.12 %", "1 in 230,000", "about 1 in 10^15"."""
    if not probability > 0.0:
        return "0 %"
    if probability >= 0.9995:
        return "over 99.9 %" if probability < 1.0 else "100 %"
    if probability >= 0.995:
        return f"{100 * probability:.1f} %"
    if probability >= 0.1:
        return f"{100 * probability:.0f} %"
    if probability >= 0.01:
        return f"{100 * probability:.1f} %"
    if probability >= 0.001:
        return f"{100 * probability:.2f} %"
    odds = 1.0 / probability
    if odds >= 1e9:
        return f"about 1 in 10^{math.log10(odds):.0f}"
    return f"1 in {_two_figures(odds):,}"


def log_probability_text(log_probability: float) -> str:
    """A log-probability in nats as `probability_text`, also where its exponential would be 0."""
    if log_probability < -20.0:
        if not math.isfinite(log_probability):
            return "0 %"
        return f"about 1 in 10^{-log_probability / math.log(10):.0f}"
    return probability_text(math.exp(min(log_probability, 0.0)))


def interval_text(low: float, high: float) -> str:
    """An interval of probabilities: "38 % to 44 %", "up to 4.2 %"."""
    if low < 0.0005 <= high:
        return f"up to {probability_text(high)}"
    return f"{probability_text(low)} to {probability_text(high)}"


def estimate_text(estimate: Estimate) -> str:
    """A probability with its interval: "41 % (95 %: 38 % to 44 %)", and without where it is exact."""
    interval = f" (95 %: {interval_text(estimate.low, estimate.high)})" if estimate.high > estimate.low else ""
    return f"{probability_text(estimate.value)}{interval}"


def duration_text(seconds: float) -> str:
    """A duration: "0.4 s", "12 s", "3 min 20 s", "1 h 5 min"."""
    seconds = max(seconds, 0.0)
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def bytes_text(size: float) -> str:
    """A size in memory: "12 MB", "1.4 GB"."""
    if size >= 1e9:
        return f"{size / 1e9:.1f} GB"
    if size >= 1e6:
        return f"{size / 1e6:.0f} MB"
    return f"{size / 1e3:.0f} kB"


def mass_bounds(progress: Mapping[str, Any]) -> tuple[float, float]:
    """The lower and upper bound on the probability that the decoder's output is, or begins with, a match."""
    lower = float(progress.get("found_mass", 0.0))
    upper = lower + float(progress.get("remaining_mass", 1.0))
    return min(max(lower, 0.0), 1.0), min(max(upper, 0.0), 1.0)


def mass_sentence(progress: Mapping[str, Any], *, end_of_text: bool = False, exclusive: bool = False) -> str:
    """The bounds of a search on the probability that the decoder writes a match.

    exclusive: matches exclude each other, as those of a distribution do.
    """
    lower, upper = mass_bounds(progress)
    what = "is a match from start to end" if end_of_text else "is a match" if exclusive else "begins with a match"
    whose = (
        "of everything this decoder could write, the prefix included,"
        if progress.get("mass_is_joint")
        else "of what this decoder writes here"
    )
    if upper - lower <= _SETTLED * upper:
        if upper <= 0.0:
            return f"Nothing {whose} {what}."
        return _capitalised(f"{probability_text(upper)} {whose} {what}.")
    if lower <= 0.0:
        return f"At most {probability_text(upper)} {whose} {what}."
    low, high = probability_text(lower), probability_text(upper)
    if low == high:
        return _capitalised(f"{low} {whose} {what}.")
    if low.endswith(" %") and high.endswith(" %"):
        return f"Between {low} and {high} {whose} {what}."
    return f"At least {low} and at most {high} {whose} {what}."


def status_headline(run: RunRecord, queue_position: int | None = None) -> str:
    """Where the run stands, in a few words."""
    if run.status == "queued":
        if queue_position is None or queue_position <= 1:
            return "Waiting: next in the queue"
        ordinal = _ORDINALS[queue_position - 1] if queue_position <= len(_ORDINALS) else f"number {queue_position}"
        return f"Waiting: {ordinal} in the queue"
    if run.status == "running":
        stage = _capitalised(run.stage or "starting")
        if run.stage_fraction is not None and 0.0 < run.stage_fraction < 1.0:
            stage += f" ({100 * run.stage_fraction:.0f} %)"
        return "Stopping" if run.stop_requested else stage
    return {"done": "Done", "stopped": "Stopped", "failed": "Failed", "interrupted": "Interrupted"}[run.status]


def traversal_kind(run: RunRecord) -> str:
    """The kind of the run's traversal: "shortest_path", "sampling" or "distribution"."""
    return str(run.specification.get("traversal", {}).get("kind", ShortestPath.kind))


def draws(run: RunRecord) -> int | None:
    """How many draws of a sample have ended, failed ones included; None for a run that is no sample."""
    return int(run.progress.get("samples", 0)) if traversal_kind(run) == Sampling.kind else None


def ending_sentence(run: RunRecord) -> str:
    """Why a run is over, and what that means for its rows; an empty string for a live run."""
    sampled = draws(run)
    rows = _matches_text(run)
    if run.status == "interrupted":
        kept = f"its {rows} found so far are kept" if run.row_count else "it had found nothing yet"
        return f"The worker ended during this run; {kept}. You can repeat the run."
    if run.status == "failed":
        return run.error or "The run failed."
    if run.status == "stopped":
        return f"You stopped it after {rows if sampled is None else _draws_text(run)}."
    if run.status != "done":
        return ""
    ended = run.progress.get("ended", "")
    if ended == "exhausted":
        if not run.row_count:
            return "There is nothing to find: under this decoding rule the model cannot write any string of the query."
        return f"Complete: these {rows} are everything this decoder can write within the query."
    if ended == "tolerance":
        tolerance = run.specification.get("traversal", {}).get("tolerance", 0.0)
        return f"Settled with {rows}: the unexplored mass is at most {probability_text(tolerance)} of the mass found."
    if ended == "drawn":
        return f"Complete: {counted(sampled or 0, 'draw')}, {rows} among them."
    limits = run.specification.get("limits", {})
    reached = {
        "matches": f"The limit of {limits.get('matches') or 0:,} matches was reached",
        "expansions": f"The limit of {limits.get('expansions') or 0:,} expansions was reached",
        "seconds": f"The time limit of {duration_text(limits.get('seconds') or 0)} was reached",
    }.get(ended)
    if reached is None:
        return f"{rows}."
    if sampled is not None:
        return f"{reached} after {_draws_text(run)}."
    return f"{reached}; there may be more." if run.row_count else f"{reached} before a match was found."


def work_sentence(run: RunRecord) -> str:
    """The cost of the run: time, rate, calls of the model."""
    progress = run.progress
    if not progress:
        return ""
    total = float(progress.get("seconds_total", 0.0))
    sampled = draws(run)
    parts = [f"{_matches_text(run) if sampled is None else _draws_text(run)} in {duration_text(total)}"]
    count, noun = (run.row_count, "matches") if sampled is None else (sampled, "draws")
    if total > 0.5 and count:
        parts.append(f"{_rate(count / total)} {noun} a second")
    if traversal_kind(run) == Distribution.kind and run.is_live:
        parts.append(_open_sentence(run))
    expansions = int(progress.get("expansions", 0))
    if expansions:
        calls = counted(int(progress.get("forwards", 0)), "call")
        parts.append(f"{counted(expansions, 'expansion')} in {calls} of the model")
    model = float(progress.get("seconds_model", 0.0))
    if total > 0.5:
        parts.append(f"{min(100 * model / total, 100):.0f} % of the time inside the model")
    return " · ".join(parts)


def time_left(run: RunRecord) -> str:
    """An upper bound on the time left, from the run's own time limit; empty where there is none or it is over."""
    seconds = run.specification.get("limits", {}).get("seconds")
    if run.status != "running" or seconds is None:
        return ""
    spent = float(run.progress.get("seconds_total", 0.0))
    return f"at most {duration_text(seconds - spent)} left"


def fraction_done(run: RunRecord) -> float:
    """How far the run is, 0 to 1, by its nearest limit (before the search, by its stage)."""
    if not run.is_live:
        return 1.0
    if not run.progress:
        return run.stage_fraction or 0.0
    limits = run.specification.get("limits", {})
    spent = {
        "matches": run.row_count,
        "expansions": run.progress.get("expansions", 0),
        "seconds": run.progress.get("seconds_total", 0.0),
    }
    shares = [spent[name] / limits[name] for name in spent if limits.get(name)]
    traversal = run.specification.get("traversal", {})
    if traversal_kind(run) == Sampling.kind:
        shares.append((draws(run) or 0) / traversal.get("count", 1))
    if traversal_kind(run) == Distribution.kind:
        shares.append(_settled(run.progress, float(traversal.get("tolerance", 0.0))))
    return min(max([0.0, *shares]), 1.0)


def _matches_text(run: RunRecord) -> str:
    if traversal_kind(run) == Sampling.kind:
        return counted(run.row_count, "different match", "different matches")
    return counted(run.row_count, "match", "matches")


def _draws_text(run: RunRecord) -> str:
    count = int(run.specification.get("traversal", {}).get("count", 0))
    ended = draws(run) or 0
    return f"{ended:,} of {count:,} drawn" if ended < count else counted(ended, "draw")


def _open_ratio(progress: Mapping[str, Any]) -> float:
    """The unexplored mass as a part of the mass found; infinite before the first match."""
    found_mass, remaining = float(progress.get("found_mass", 0.0)), float(progress.get("remaining_mass", 1.0))
    return remaining / found_mass if found_mass > 0.0 else math.inf


def _open_sentence(run: RunRecord) -> str:
    ratio = _open_ratio(run.progress)
    tolerance = float(run.specification.get("traversal", {}).get("tolerance", 0.0))
    goal = f"the run ends at {probability_text(tolerance)}"
    if ratio >= 1.0:
        return f"the unexplored mass is above the mass found; {goal}"
    return f"the unexplored mass is {probability_text(ratio)} of the mass found; {goal}"


def _settled(progress: Mapping[str, Any], tolerance: float) -> float:
    """How far a distribution is, 0 to 1, on a logarithmic scale: the unexplored mass shrinks by factors."""
    ratio = _open_ratio(progress)
    if ratio >= 1.0:
        return 0.0
    if tolerance <= 0.0:
        return 1.0 - ratio
    return min(math.log(max(ratio, tolerance)) / math.log(tolerance), 1.0)


def _rate(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 else f"{number:.1f}"


def _two_figures(number: float) -> int:
    digits = max(int(math.log10(number)) - 1, 0)
    return round(number / 10**digits) * 10**digits


def _capitalised(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
