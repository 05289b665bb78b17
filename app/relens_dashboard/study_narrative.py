"""The progress of a study's run in plain sentences; pure functions of its record.

{"units": 12, "units_done": 3, "unit": "all encodings without a prefix", "seconds_total": 30.0}

3 of 12 done · now all encodings without a prefix · 1,204 rows in 30 s · about 90 s left
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from relens.counted import counted
from relens.runs.records import RunRecord
from relens.studies.rows import DONE, ROW
from relens_dashboard.narrative import duration_text


def fraction_done(run: RunRecord) -> float:
    """The part of the units that is done, 0 to 1; before the first unit, the progress of the stage."""
    units = int(run.progress.get("units", 0))
    if not units:
        return min(max(run.stage_fraction or 0.0, 0.0), 1.0)
    return min(int(run.progress.get("units_done", 0)) / units, 1.0)


def units_sentence(run: RunRecord) -> str:
    """How many units are done, and the current one; "" before the first."""
    progress = run.progress
    if not progress.get("units"):
        return ""
    parts = [f"{progress.get('units_done', 0):,} of {progress['units']:,} done"]
    if run.is_live and progress.get("unit"):
        parts.append(f"now {progress['unit']}")
    return " · ".join(parts)


def work_sentence(run: RunRecord, rows: Sequence[Mapping[str, Any]] = ()) -> str:
    """Rows and time so far and, while it runs, an estimate of the time left."""
    if not run.progress:
        return ""
    parts = [f"{counted(run.row_count, 'row')} in {duration_text(float(run.progress.get('seconds_total', 0.0)))}"]
    left = seconds_left(run, rows)
    if left is not None:
        parts.append(f"about {duration_text(left)} left")
    return " · ".join(parts)


def seconds_left(run: RunRecord, rows: Sequence[Mapping[str, Any]]) -> float | None:
    """An estimate: the units to come take as long as those that this run has done.

    A resumed study counts the units done before it as done, but its seconds are its own. So its own units are counted
    among its own rows, which are the last.
    """
    progress = run.progress
    own = int(progress.get("rows", 0))
    if run.status != "running" or not own:
        return None
    done_here = sum(row.get(ROW) == DONE for row in rows[-own:])
    if not done_here:
        return None
    remaining = int(progress["units"]) - int(progress["units_done"])
    spent = float(progress["seconds_total"])
    return spent / done_here * remaining


def ending_sentence(run: RunRecord) -> str:
    """Why it ended early and how to go on; "" while it lives, and when all is done."""
    kept = "finished pieces are kept, and Resume goes on from there"
    if run.status == "stopped":
        return f"You stopped it; {kept}."
    if run.status == "interrupted":
        return f"The worker ended during this run; {kept}."
    if run.status == "failed":
        return f"{run.error or 'The run failed.'} {kept[:1].upper()}{kept[1:]}."
    return ""


def can_resume(run: RunRecord) -> bool:
    """Whether the store can resume it: not a run of another installation, whose model may be different."""
    return run.status in ("stopped", "interrupted", "failed") and run.origin is None
