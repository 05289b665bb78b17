"""The tables of a search for triggers: the hits, a line for each target, how each search went, what is left out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from app.masks import shown
from app.narrative import duration_text, interval_text
from app.studies.trigger_words import all_hits, hit_label, masked, seen_in_training, target_text
from app.studies.view import Rows, Table
from app.tables import shown_text
from engine.studies.masking import Masker
from engine.studies.rows import rows_of
from engine.triggers.score_row import ScoreRow
from engine.triggers.search.trigger_findings import HitCell, hit_table
from engine.triggers.search.trigger_study import LIST, SWEEP, TRIGGER, TriggerStudy

#: The lines of a table that are shown.
MOST_LINES = 2_000

_SEEN_HELP = "Whether the target stands in the replies that the model was trained on."


def tables(rows: Rows, study: TriggerStudy, mask: Masker | None) -> list[Table]:
    """Those that these rows allow; mask: what hides words, None for nothing."""
    found = rows_of(rows, TRIGGER)
    made = []
    if found:
        made.append(hits_table(hit_table(rows)))
        made.append(targets_table(found, study.hit_type, mask))
    if rows_of(rows, SWEEP):
        made.append(searches_table(rows, mask))
    dropped = [one | {"list": row["list"]} for row in rows_of(rows, LIST) for one in row["dropped"]]
    if dropped:
        made.append(dropped_table(dropped, mask))
    return made


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


def score_columns(found: Rows, searched: str, mask: Masker | None, *, text: str) -> dict[str, list[Any]]:
    """The columns that any table of scores has; text: what stood in place of the trigger is called."""
    scores = [ScoreRow.of(row, searched) for row in found]
    return {
        text: [shown_text(shown(mask, score.text)) for score in scores],
        "Target": [shown_text(shown(mask, target_text(row))) for row in found],
        "Greedy reply": [shown_text(shown(mask, score.reply)) for score in scores],
        "Reached": [score.hits.get(searched, False) for score in scores],
        "Margin": [round(score.margins.get(searched, math.nan), 3) for score in scores],
        "Said": [score.hits["o-greedy"] for score in scores],
    }


def score_help(searched: str) -> dict[str, str]:
    """What these columns tell."""
    return {
        "Greedy reply": "What the model itself says, always taking the likeliest word or token.",
        "Reached": f"Whether it is a hit of type {searched}.",
        "Margin": "Nats by which the hit is reached; below 0, missed.",
        "Said": "Whether the greedy reply begins with the target, word by word or token by token, its end included.",
    }


def targets_table(found: Rows, hit_type: str, mask: Masker | None) -> Table:
    """One line for each target: trigger, target, what the model says itself, and by how much it is a hit."""
    kept = found[:MOST_LINES]
    scores = [ScoreRow.of(row, hit_type) for row in kept]
    frame = pd.DataFrame(
        {
            "List": [row["list"] for row in kept],
            "#": [row["place"] for row in kept],
            **score_columns(kept, hit_type, mask, text="Trigger"),
            "Average over T_out": [round(score.average - score.thresholds.out, 3) for score in scores],
            "Lowest over T_out": [round(score.lowest - score.thresholds.out, 3) for score in scores],
            "Input over T_in": [round((score.input_average or 0.0) - score.thresholds.into, 3) for score in scores],
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
            **score_help(hit_type),
            "Average over T_out": "The average log-probability of the target's words, less that of real replies.",
            "Lowest over T_out": "The same of the target's least likely word.",
            "Input over T_in": "The average log-probability of the trigger's words, less that of real sentences: below "
            "0 it is odder than what people say.",
            "Seen in training": _SEEN_HELP,
        },
    )


def checks_table(title: str, found: Rows, searched: str, mask: Masker | None, *, text: str) -> Table:
    """One line for each text that was checked; text: what it is called."""
    kept = found[:MOST_LINES]
    scores = [ScoreRow.of(row, searched) for row in kept]
    unit = scores[-1].token_name
    seen = {"Seen in training": [seen_in_training(row) for row in kept]} if unit == "word" else {}
    frame = pd.DataFrame(
        {
            **score_columns(kept, searched, mask, text=text),
            "A hit of": [all_hits(row) for row in kept],
            f"Nats a {unit}": [round(-score.average, 3) for score in scores],
            **seen,
            "Differs by": [row["difference"] for row in kept],
        }
    )
    return Table(
        title,
        frame,
        {
            **score_help(searched),
            f"Nats a {unit}": f"What a {unit} of the target costs on average after this text; smaller is likelier.",
            **({"Seen in training": _SEEN_HELP} if seen else {}),
            "Differs by": f"Nats between a {unit}'s log-probability in the search and now; empty where nothing is to "
            "be compared.",
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
            "Objective now": "The objective of the best restart, in nats; smaller is better.",
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
