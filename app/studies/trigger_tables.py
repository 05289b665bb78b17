"""The tables of a search for triggers: the hits, a line for each target, how each search went, what is left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from app.narrative import duration_text, interval_text
from app.studies.trigger_words import all_hits, hit_label, masked, reached, seen_in_training
from app.studies.view import Rows, Table
from app.tables import shown_text
from engine.studies.masking import Masker
from engine.studies.study import rows_of
from engine.triggers.search.trigger_findings import HitCell, hit_table
from engine.triggers.search.trigger_study import LIST, SWEEP, TRIGGER, TriggerStudy

#: The lines of a table that are shown.
MOST_LINES = 2_000


def tables(rows: Rows, study: TriggerStudy, mask: Masker | None) -> list[Table]:
    """Those that these rows allow; mask: what hides words, None for nothing."""
    found = rows_of(rows, TRIGGER)
    shown = []
    if found:
        shown.append(hits_table(hit_table(rows)))
        shown.append(targets_table(found, study.hit_type, mask))
    if rows_of(rows, SWEEP):
        shown.append(searches_table(rows, mask))
    dropped = [one | {"list": row["list"]} for row in rows_of(rows, LIST) for one in row["dropped"]]
    if dropped:
        shown.append(dropped_table(dropped, mask))
    return shown


def hits_table(cells: Sequence[HitCell]) -> Table:
    """List x hit type x k, with counts and intervals (tables 3 and 11 of the paper)."""
    frame = pd.DataFrame(
        {
            "List": [cell.target_list for cell in cells],
            "Hit type": [cell.hit_type for cell in cells],
            "In words": [hit_label(cell.hit_type) for cell in cells],
            "Targets": [cell.targets for cell in cells],
            "Reached": [cell.hits for cell in cells],
            "Share": [f"{cell.share.value:.0%}" for cell in cells],
            "95 %": [interval_text(cell.share.low, cell.share.high) for cell in cells],
            "By any restart": [cell.hits_of_any for cell in cells],
        }
    )
    return Table(
        "Hits",
        frame,
        {
            "Hit type": "As in the paper: o looks at the reply alone, io at the input too; min at the least likely "
            "word, avg at the average; k is how many times less likely than real text a word may be.",
            "Reached": "Targets for which the best input of the search is a hit of this type. The search was made for "
            "one type only; it was not looking for the others.",
            "95 %": "Where the share would lie for other targets of this sort, in 95 of 100 cases (Wilson).",
            "By any restart": "Targets for which at least one restart ended at a hit of this type.",
        },
    )


def targets_table(found: Rows, hit_type: str, mask: Masker | None) -> Table:
    """One line for each target: trigger, target, what the model says itself, and by how much it is a hit."""
    kept = found[:MOST_LINES]
    frame = pd.DataFrame(
        {
            "List": [row["list"] for row in kept],
            "#": [row["place"] for row in kept],
            "Trigger": [_text(mask, row["input"]) for row in kept],
            "Target": [_text(mask, row["target"]) for row in kept],
            "Greedy reply": [_text(mask, row["reply"]) for row in kept],
            "Reached": [reached(row, hit_type) for row in kept],
            "Margin": [round(float(row["margins"][hit_type]), 3) for row in kept],
            "Said": [reached(row, "o-greedy") for row in kept],
            "Average over T_out": [round(row["average"] - row["threshold_out"], 3) for row in kept],
            "Lowest over T_out": [round(row["lowest"] - row["threshold_out"], 3) for row in kept],
            "Input over T_in": [round(row["input_average"] - row["threshold_in"], 3) for row in kept],
            "Also a hit of": [all_hits(row) for row in kept],
            "Seen in training": [seen_in_training(row) for row in kept],
        }
    )
    title = "Targets" if len(found) <= MOST_LINES else f"Targets, the first {MOST_LINES:,} of {len(found):,}"
    return Table(
        title,
        frame,
        {
            "Trigger": "The input that was found, for which the target is most likely.",
            "Greedy reply": "What the model itself says to the trigger, always taking the likeliest word.",
            "Reached": f"Whether it is a hit of the type that was searched for, {hit_type}.",
            "Margin": "Nats by which the hit is reached; below 0, missed.",
            "Said": "Whether the greedy reply is the target, word by word.",
            "Average over T_out": "The average log-probability of the target's words, less that of real replies.",
            "Lowest over T_out": "The same of the target's least likely word.",
            "Input over T_in": "The average log-probability of the trigger's words, less that of real sentences: below "
            "0 it is odder than what people say.",
            "Seen in training": "Whether the target stands in the replies that the model was trained on.",
        },
    )


def searches_table(rows: Rows, mask: Masker | None) -> Table:
    """One line for each target that was searched for, or is: sweeps, candidates, accepted changes."""
    units: dict[str, list[Any]] = {}
    for row in rows_of(rows, SWEEP):
        units.setdefault(str(row["unit"]), []).append(row)
    kept = list(units.values())[:MOST_LINES]
    frame = pd.DataFrame(
        {
            "List": [sweeps[0]["list"] for sweeps in kept],
            "#": [sweeps[0]["place"] for sweeps in kept],
            "Target": [_text(mask, sweeps[0]["target"]) for sweeps in kept],
            "Sweeps": [len(sweeps) for sweeps in kept],
            "Inputs tried": [sum(row["candidates"] for row in sweeps) for sweeps in kept],
            "Changes kept": [sum(row["accepted"] for row in sweeps) for sweeps in kept],
            "Objective at first": [round(sweeps[0]["best"], 3) for sweeps in kept],
            "Objective now": [round(sweeps[-1]["best"], 3) for sweeps in kept],
            "Best input now": [_text(mask, sweeps[-1]["input"]) for sweeps in kept],
            "Time": [duration_text(float(sweeps[-1]["seconds"])) for sweeps in kept],
        }
    )
    return Table(
        "Searches",
        frame,
        {
            "Sweeps": "How often the search went over all words of the input.",
            "Inputs tried": "Words put in a place and scored, of all restarts.",
            "Changes kept": "How often one of them was better than what was there.",
            "Objective now": "What is left to do, in nats, of the best restart; smaller is better.",
        },
    )


def dropped_table(dropped: Rows, mask: Masker | None) -> Table:
    """The targets that cannot be searched for, and why."""
    kept = dropped[:MOST_LINES]
    frame = pd.DataFrame(
        {
            "List": [one["list"] for one in kept],
            "Target": [_text(mask, one["words"]) for one in kept],
            "Words it does not know": [_text(mask, one["unknown"]) or "–" for one in kept],
        }
    )
    return Table(
        "Left out",
        frame,
        {"Words it does not know": "A model can only say words of its vocabulary. – : the target has too many words."},
    )


def _text(mask: Masker | None, words: Sequence[str]) -> str:
    return shown_text(masked(mask, words))
