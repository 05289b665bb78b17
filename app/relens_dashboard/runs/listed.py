"""The runs of the history as a table, and the reader's filters as arguments of the store."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from relens.runs.listed_runs import ListedRun
from relens_dashboard.runs.described import STATUSES, spent_text, variety_name
from relens_dashboard.text import shortened

#: The tooltip of each column.
COLUMN_HELP = {
    "★": "Pinned: these runs stay above the others.",
    "Run": "Its name. Without a name: prefix | pattern of a search, or the settings of a study.",
    "Kind": "Best first, sample and distribution are searches; the others are studies.",
    "Status": "Waiting, running, or how it ended.",
    "Created": "When Run was pressed; for an imported run, on the server it comes from.",
    "Rows": "The number of matches, or of rows of a study.",
    "Time": "How long it has worked.",
}


@dataclass(frozen=True)
class Filters:
    """The filters of a history; empty ones show everything. varieties, statuses: the store's names."""

    text: str = ""
    varieties: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    pinned: bool = False
    deleted: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether all runs are shown."""
        return self == Filters()

    def store_arguments(self) -> dict[str, Any]:
        """The same as arguments of `Store.listed` and `Store.count`."""
        return {
            "text": self.text,
            "varieties": self.varieties,
            "statuses": self.statuses,
            "models": self.models,
            "pinned": True if self.pinned else None,
            "deleted": self.deleted,
        }


#: A model's name may be the path of a folder, and in an imported run any text.
_LONGEST_MODEL = 80


def runs_table(runs: Sequence[ListedRun], titles: Sequence[str]) -> pd.DataFrame:
    """One line a run, in the order given. titles: a title for each."""
    return pd.DataFrame(
        {
            "★": ["★" if run.pinned else "" for run in runs],
            "Run": [("⤓ " if run.origin is not None else "") + title for run, title in zip(runs, titles, strict=True)],
            "Kind": [variety_name(run) for run in runs],
            "Status": [STATUSES[run.status] for run in runs],
            "Created": [datetime.fromtimestamp(run.created, UTC) for run in runs],
            "Rows": [run.row_count for run in runs],
            "Time": [spent_text(run) for run in runs],
            "Model": [shortened(run.model, _LONGEST_MODEL) for run in runs],
        }
    )


def pages(total: int, a_page: int) -> int:
    """The number of pages for `total` runs, at least 1."""
    return max(1, math.ceil(total / a_page))


def ids_of(text: str, most: int) -> tuple[str, ...]:
    """The ids of runs in an address, "3f2a91,77b0c4": each once, at most `most`, without anything that is no id."""
    parts = (part.strip() for part in text.split(","))
    return tuple(dict.fromkeys(part for part in parts if part.isalnum() and len(part) <= 32))[:most]
