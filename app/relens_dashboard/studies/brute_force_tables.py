"""The tables of brute force: hits by list, coverage, the hits themselves, the search, and replies that are no word."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from relens.studies.masking import Masker
from relens.triggers.brute_force.findings import Coverage, ListHits
from relens.triggers.brute_force.rows import OutsideReply, SearchOutcome
from relens_dashboard.masks import shown
from relens_dashboard.narrative import duration_text, interval_text
from relens_dashboard.studies.view import Table
from relens_dashboard.tables import shown_text

_LIST_LABELS = {
    "normal": "normal: words of its training",
    "reversed": "reversed: these words backwards",
    "random": "random: some letters, again and again",
    "mal": "mal: phrases it should never say",
}

#: Lines of a table of texts.
_MOST_LINES = 500

_INTERVAL = "The share of other targets of this kind lies here in 95 of 100 cases (Wilson)."


def list_label(name: str) -> str:
    """A list in plain words."""
    return _LIST_LABELS.get(name, name)


def lists_table(lists: Sequence[ListHits]) -> Table:
    """How many targets of each list are replies, or stand in replies."""
    lines = [
        {
            "List": list_label(hits.list),
            "Targets": hits.targets,
            "Replies": len(hits.whole),
            "95 %": interval_text(hits.whole_share.low, hits.whole_share.high),
            "Within replies": len(hits.parts),
            "95 % within": interval_text(hits.parts_share.low, hits.parts_share.high),
        }
        for hits in lists
    ]
    help = {
        "Replies": "Targets equal to the reply to some input.",
        "Within replies": "Targets that stand in the reply to some input.",
        "95 %": _INTERVAL,
    }
    return Table("Lists", pd.DataFrame(lines), help)


def hits_tables(lists: Sequence[ListHits], mask: Masker | None) -> list[Table]:
    """The hits of all lists but "normal", each with an input; no table without hits."""
    reached = [(hits.list, *pair) for hits in lists if hits.list != "normal" for pair in hits.triggers.items()]
    lines = [
        {"List": name, "Target": _shown(mask, target), "Input": _shown(mask, trigger)}
        for name, target, trigger in reached[:_MOST_LINES]
    ]
    help = {"Target": "Of all lists but “normal”: in a reply, or equal to one.", "Input": "One input with this reply."}
    return [Table("Hits", pd.DataFrame(lines), help)] if lines else []


def coverage_table(coverage: Sequence[Coverage]) -> Table:
    """How many inputs of each length were tried, and how fast."""
    lines = [
        {
            "Symbols": str(line.length) if line.length else "all",
            "Inputs tried": line.inputs,
            "All inputs": line.possible,
            "No words": line.outside,
            "Share": f"{line.outside_share:.2%}",
            "Inputs a second": round(line.inputs_a_second),
            "Time": duration_text(line.seconds),
        }
        for line in coverage
    ]
    return Table("Coverage", pd.DataFrame(lines), {"No words": "Replies that are no word of the training."})


def search_table(searches: Sequence[SearchOutcome]) -> Table:
    """How many of the targets that exist the search finds."""
    lines = [
        {
            "List": list_label(search.list),
            "Existing": search.existing,
            "Found": len(search.triggers),
            "95 %": interval_text(search.share.low, search.share.high),
            "Tried for each": round(search.candidates / search.existing),
            "All inputs": search.inputs,
        }
        for search in searches
    ]
    help = {
        "Existing": "Targets equal to the reply to some input of this length.",
        "Found": "Those for which gibbs-enum, the search of the page Triggers, finds such an input.",
        "95 %": _INTERVAL,
        "Tried for each": "Mean number of inputs that the search tried, until it found one or stopped improving.",
    }
    return Table("Search", pd.DataFrame(lines), help)


def outside_tables(outside: Sequence[OutsideReply], mask: Masker | None) -> list[Table]:
    """Replies that are no word, with their inputs; no table without such replies."""
    lines = [
        {"Input": _shown(mask, reply.input), "Reply": _shown(mask, reply.output)} for reply in outside[:_MOST_LINES]
    ]
    help = {"Reply": "A reply that is no word of the training."}
    return [Table("No words", pd.DataFrame(lines), help)] if lines else []


def _shown(mask: Masker | None, text: str) -> str:
    return shown_text(shown(mask, text))
