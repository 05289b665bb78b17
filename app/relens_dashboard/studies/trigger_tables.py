"""The tables of a search for triggers: the hits, the targets, the searches, and the dropped targets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from relens.studies.masking import Masker
from relens.triggers.check import CheckFindings
from relens.triggers.score_row import ScoreRow, WordScoreRow
from relens.triggers.search.rows import ListRow, SweepRow
from relens.triggers.search.trigger_findings import HitCell, TriggerFindings
from relens_dashboard.masks import shown
from relens_dashboard.narrative import duration_text, interval_text
from relens_dashboard.studies.trigger_words import all_hits, hit_label, masked, seen_in_training
from relens_dashboard.studies.view import Table
from relens_dashboard.tables import shown_text

#: The lines of a table.
MOST_LINES = 2_000

_SEEN_HELP = "Whether the target stands in the replies of the training text."


def tables(findings: TriggerFindings, mask: Masker | None) -> list[Table]:
    """The tables that these findings allow; mask: None to show all words."""
    made = []
    if findings.triggers:
        made += [hits_table(findings.cells), targets_table(findings, mask)]
    if findings.sweeps:
        made.append(searches_table(findings.sweeps, mask))
    if any(row.dropped for row in findings.lists):
        made.append(dropped_table(findings.lists, mask))
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
            "Hit type": "As in the paper: o is about the reply alone, io about the input too; min about the least "
            "likely word, avg about the average; a word may be k times less likely than in real text.",
            "Reached": "Targets for which the best input of the search is a hit of this type. The search was for one "
            "type only.",
            "95 %": "Wilson's interval: the share of other targets of this sort lies in it in 95 of 100 cases.",
            "By any restart": "Targets for which at least one restart ended at a hit of this type.",
        },
    )


def score_columns(rows: Sequence[ScoreRow], searched: str, mask: Masker | None, *, text: str) -> dict[str, list[Any]]:
    """The columns of any table of scores; text: the heading of the texts."""
    scores = [row.score for row in rows]
    return {
        text: [shown_text(shown(mask, score.text)) for score in scores],
        "Target": [shown_text(shown(mask, row.target_text)) for row in rows],
        "Greedy reply": [shown_text(shown(mask, score.reply)) for score in scores],
        "Reached": [score.is_hit(searched) for score in scores],
        "Margin": [round(score.margins.get(searched, math.nan), 3) for score in scores],
        "Said": [score.is_hit("o-greedy") for score in scores],
    }


def score_help(searched: str) -> dict[str, str]:
    """The help of these columns."""
    return {
        "Greedy reply": "The model's reply of likeliest words or tokens.",
        "Reached": f"Whether it is a hit of type {searched}.",
        "Margin": "Nats above the threshold of the hit; below 0, missed.",
        "Said": "Whether the greedy reply begins with the target, word by word or token by token, its end included.",
    }


def targets_table(findings: TriggerFindings, mask: Masker | None) -> Table:
    """A line for each target: trigger, greedy reply and margins."""
    rows, hit_type = findings.triggers[:MOST_LINES], findings.hit_type
    scores = [row.score for row in rows]
    frame = pd.DataFrame(
        {
            "List": [row.list for row in rows],
            "#": [row.place for row in rows],
            **score_columns(rows, hit_type, mask, text="Trigger"),
            "Average over T_out": [round(score.average - score.thresholds.out, 3) for score in scores],
            "Lowest over T_out": [round(score.lowest - score.thresholds.out, 3) for score in scores],
            "Input over T_in": [round((score.input_average or 0.0) - score.thresholds.into, 3) for score in scores],
            "Also a hit of": [all_hits(score) for score in scores],
            "Seen in training": [seen_in_training(row.seen) for row in rows],
        }
    )
    count = len(findings.triggers)
    return Table(
        "Targets" if count <= MOST_LINES else f"Targets, the first {MOST_LINES:,} of {count:,}",
        frame,
        {
            "Trigger": "The input for which the target is most likely.",
            **score_help(hit_type),
            "Average over T_out": "The average log-probability of the target's words, less that of real replies.",
            "Lowest over T_out": "The same of the target's least likely word.",
            "Input over T_in": "The average log-probability of the trigger's words, less that of real sentences; below "
            "0 it is odder than they are.",
            "Seen in training": _SEEN_HELP,
        },
    )


def checks_table(title: str, findings: CheckFindings, mask: Masker | None, *, text: str) -> Table:
    """A line for each checked text; text: the heading of the texts."""
    rows, searched = findings.scores[:MOST_LINES], findings.hit_type
    unit = rows[-1].score.token_name
    seen = [seen_in_training(row.seen) for row in rows if isinstance(row, WordScoreRow)]
    frame = pd.DataFrame(
        {
            **score_columns(rows, searched, mask, text=text),
            "A hit of": [all_hits(row.score) for row in rows],
            f"Nats a {unit}": [round(-row.score.average, 3) for row in rows],
            **({"Seen in training": seen} if seen else {}),
            "Differs by": [row.difference for row in rows],
        }
    )
    return Table(
        title,
        frame,
        {
            **score_help(searched),
            f"Nats a {unit}": f"The mean cost of a {unit} of the target after this text; smaller is likelier.",
            **({"Seen in training": _SEEN_HELP} if seen else {}),
            "Differs by": f"The largest difference of a {unit}'s log-probability from the search, in nats; empty "
            "without a search.",
        },
    )


def searches_table(searches: Sequence[Sequence[SweepRow]], mask: Masker | None) -> Table:
    """A line for each target with a search: sweeps, candidates, accepted changes."""
    kept = searches[:MOST_LINES]
    first, last = [sweeps[0] for sweeps in kept], [sweeps[-1] for sweeps in kept]
    frame = pd.DataFrame(
        {
            "List": [sweep.list for sweep in first],
            "#": [sweep.place for sweep in first],
            "Target": [_text(mask, sweep.target) for sweep in first],
            "Sweeps": [len(sweeps) for sweeps in kept],
            "Inputs tried": [sum(sweep.candidates for sweep in sweeps) for sweeps in kept],
            "Changes kept": [sum(sweep.accepted for sweep in sweeps) for sweeps in kept],
            "Objective at first": [round(sweep.best, 3) for sweep in first],
            "Objective now": [round(sweep.best, 3) for sweep in last],
            "Best input now": [_text(mask, sweep.input) for sweep in last],
            "Time": [duration_text(sweep.seconds) for sweep in last],
        }
    )
    return Table(
        "Searches",
        frame,
        {
            "Sweeps": "Passes of the search over all words of the input.",
            "Inputs tried": "Words put in a place and scored, of all restarts.",
            "Changes kept": "Words that were better than the word before.",
            "Objective now": "The objective of the best restart, in nats; smaller is better.",
        },
    )


def dropped_table(lists: Sequence[ListRow], mask: Masker | None) -> Table:
    """The dropped targets, with their unknown words."""
    kept = [(row.list, target) for row in lists for target in row.dropped][:MOST_LINES]
    frame = pd.DataFrame(
        {
            "List": [name for name, _ in kept],
            "Target": [_text(mask, target.words) for _, target in kept],
            "Words it does not know": [_text(mask, target.unknown) or "–" for _, target in kept],
        }
    )
    return Table(
        "Left out",
        frame,
        {"Words it does not know": "A model can only say words of its vocabulary. – : the target has too many words."},
    )


def _text(mask: Masker | None, words: Sequence[str]) -> str:
    return shown_text(masked(mask, words))
