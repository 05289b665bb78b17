"""The store's answers: what a reader learns of a run, of the queue and of the workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

#: A run waits ("queued"), is worked on ("running"), and ends in exactly one of the other four ways.
Status = Literal["queued", "running", "done", "stopped", "failed", "interrupted"]

ENDED: tuple[Status, ...] = ("done", "stopped", "failed", "interrupted")

#: A page takes so many rows of a run, and so does a file of one.
MOST_ROWS = 100_000

#: Rows at which a worker ends a run: a study may find more than a page shows, but not any number.
LONGEST_RUN = 1_000_000


@dataclass(frozen=True)
class RunRecord:
    """One run as it stands in the store. Times are unix seconds; None where it has not come to that yet.

    specification: as `specification_to_json` wrote it, `kind` included. progress: of a search,
    `engine.traversal.results.Progress` as JSON; {} before the first report. error: one sentence. stage: what a running
    run is busy with, such as "loading the model", and stage_fraction how far that is, 0 to 1, where it is known.
    device: what the worker uses, see `engine.runs.device`. versions: of relens, python, torch and transformers.

    variety: which of its kind it is, see `engine.runs.search_words.variety`. name, note, pinned: a person's own.
    deleted: since when it is in the bin, from which it can be restored; None where it is not. origin: of a run that was
    imported, its "id" where it was made, and when it was "exported" and "imported"; else None.
    """

    id: str
    kind: str
    status: Status
    specification: dict[str, Any]
    progress: dict[str, Any]
    error: str | None
    stage: str
    stage_fraction: float | None
    created: float
    started: float | None
    ended: float | None
    row_count: int
    stop_requested: bool
    model: str
    model_fingerprint: str | None
    versions: dict[str, str]
    worker_id: str | None
    device: dict[str, Any]
    variety: str = ""
    name: str = ""
    note: str = ""
    pinned: bool = False
    deleted: float | None = None
    origin: dict[str, Any] | None = None

    @property
    def is_live(self) -> bool:
        """Whether the run waits or is being worked on."""
        return self.status not in ENDED


@dataclass(frozen=True)
class QueueState:
    """How many runs wait, and how many are being worked on; inspections count in neither."""

    waiting: int
    running: int


@dataclass(frozen=True)
class WorkerRecord:
    """A worker as it last reported: state is "starting", "idle", "running" or "ended"; heartbeat in unix seconds.

    model: the model it keeps loaded, "" for none. device: "cpu", "cuda:0", ... extra: figures of its use.
    alive: as far as who reads this can tell, see `engine.runs.leases`.
    """

    id: str
    host: str
    pid: int
    state: str
    model: str
    device: str
    heartbeat: float
    extra: dict[str, Any]
    alive: bool
