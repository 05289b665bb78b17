"""The tables of brute force: how many targets were said, what was said, what was tried, and what a search finds."""

from __future__ import annotations

import pandas as pd

from app.masks import shown
from app.narrative import duration_text, interval_text
from app.studies.view import Rows, Table
from app.tables import shown_text
from engine.studies.masking import Masker
from engine.triggers.brute_force.findings import ListHits, coverage, outside_replies, searches_found

LIST_LABELS = {
    "normal": "normal: words it was trained with",
    "reversed": "reversed: these words backwards",
    "random": "random: some letters, again and again",
    "mal": "mal: phrases it should never say",
}

#: Lines of a table of texts.
_MOST_LINES = 500


def lists_table(lines: tuple[ListHits, ...]) -> Table:
    """How many targets of each list were said."""
    frame = pd.DataFrame(
        {
            "List": [LIST_LABELS.get(line.list, line.list) for line in lines],
            "Targets": [line.targets for line in lines],
            "Said": [line.whole for line in lines],
            "95 %": [interval_text(line.whole_share.low, line.whole_share.high) for line in lines],
            "Said or within": [line.parts for line in lines],
            "95 % within": [interval_text(line.parts_share.low, line.parts_share.high) for line in lines],
        }
    )
    return Table(
        "Lists",
        frame,
        {
            "Said": "Targets that are the whole reply to some input.",
            "Said or within": "Targets that stand somewhere in the reply to some input.",
            "95 %": "Where the share would lie for other targets of this sort, in 95 of 100 cases (Wilson).",
        },
    )


def said_tables(lines: tuple[ListHits, ...], mask: Masker | None) -> list[Table]:
    """What was said of the lists that the model should not say, and to what; the words of "normal" are only counted."""
    said = [
        (line.list, target, trigger)
        for line in lines
        if line.list != "normal"
        for target, trigger in line.triggers.items()
    ][:_MOST_LINES]
    if not said:
        return []
    frame = pd.DataFrame(
        {
            "List": [name for name, _, _ in said],
            "Target": [_shown(mask, target) for _, target, _ in said],
            "Input": [_shown(mask, trigger) for _, _, trigger in said],
        }
    )
    return [
        Table(
            "Said",
            frame,
            {
                "Target": "Of the lists other than “normal”: what was said, as a whole or within a reply.",
                "Input": "One of the inputs that made the model say it.",
            },
        )
    ]


def coverage_table(rows: Rows) -> Table:
    """How many inputs of each length were tried, and how fast."""
    lines = coverage(rows)
    frame = pd.DataFrame(
        {
            "Symbols": [str(line.length) if line.length else "all" for line in lines],
            "Inputs tried": [line.inputs for line in lines],
            "Inputs there are": [line.possible for line in lines],
            "No words": [line.outside for line in lines],
            "Share": [f"{line.outside_share:.2%}" for line in lines],
            "Inputs a second": [round(line.inputs_a_second) for line in lines],
            "Time": [duration_text(line.seconds) for line in lines],
        }
    )
    return Table(
        "What was tried",
        frame,
        {"No words": "Inputs to which the model answered something that is no word it was trained with."},
    )


def search_table(rows: Rows) -> Table:
    """How often gibbs-enum finds what is known to exist."""
    lines = searches_found(rows)
    frame = pd.DataFrame(
        {
            "List": [LIST_LABELS.get(line.list, line.list) for line in lines],
            "Known to exist": [line.existing for line in lines],
            "Found": [line.found for line in lines],
            "95 %": [interval_text(line.share.low, line.share.high) for line in lines],
            "Tried for each": [round(line.candidates / line.existing) for line in lines],
            "Inputs there are": [line.possible for line in lines],
        }
    )
    return Table(
        "What a search finds",
        frame,
        {
            "Known to exist": "Targets that are the whole reply to some input of this length, since all were tried.",
            "Found": "Those for which gibbs-enum, the search of the page Triggers, finds such an input.",
            "95 %": "Where the share would lie for other targets of this sort, in 95 of 100 cases (Wilson).",
            "Tried for each": "Inputs that the search tried until one was found or nothing got better, on average.",
        },
    )


def outside_tables(rows: Rows, mask: Masker | None) -> list[Table]:
    """Replies that are no word, with their inputs; no table where there is none."""
    outside = outside_replies(rows)[:_MOST_LINES]
    if not outside:
        return []
    frame = pd.DataFrame(
        {
            "Input": [_shown(mask, one.input) for one in outside],
            "Reply": [_shown(mask, one.output) for one in outside],
        }
    )
    return [Table("No words", frame, {"Reply": "A reply that is no word that the model was trained with."})]


def _shown(mask: Masker | None, text: str) -> str:
    return shown_text(shown(mask, text))
