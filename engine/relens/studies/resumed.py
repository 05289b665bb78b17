"""That a study goes on with the model that it was begun with.

A model is asked for by its name, and behind a name there may be other weights by the time that a study is resumed: a
folder was trained anew. Units of both would stand in one table as if they were of one model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from relens.errors import ModelError
from relens.studies.rows import UNIT, current_rows, done_units


def check_same_model(name: str, told: Iterable[object], here: str) -> None:
    """Raise `ModelError` where a unit that is done tells of a model with another fingerprint than `here`.

    told: the fingerprints that are on record for the model of this name; what is none, or "", tells nothing.
    """
    if here and any(fingerprint != here for fingerprint in told if fingerprint):
        raise ModelError(
            f"The model {name!r} is another one than when this study was begun, so its rows would not belong together; "
            "repeat the study from its beginning."
        )


def rows_of_done_units(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rows that count of the units that are done, which will not be done again."""
    kept = current_rows(rows)
    done = done_units(kept)
    return [row for row in kept if row.get(UNIT) in done]
