"""The store's answers: records of runs, of the queue and of the workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

#: A run waits ("queued"), is worked on ("running"), and ends in exactly one of the other four ways.
Status = Literal["queued", "running", "done", "stopped", "failed", "interrupted"]

ENDED: tuple[Status, ...] = ("done", "stopped", "failed", "interrupted")

#: The most rows of a run on a page or in a file.
MOST_ROWS = 100_000

#: Rows at which a worker ends a run: a study may write more than a page shows, but not any number.
LONGEST_RUN = 1_000_000


@dataclass(frozen=True)
class RunRecord:
    """One run as it stands in the store. Times are unix seconds, None for what has not happened yet.

    specification: as `specification_to_json` wrote it, `kind` included. progress: of a search,
    `relens.traversal.results.Progress` as JSON; {} before the first report. error: one sentence. stage: the present
    step of a running run, such as "loading the model"; stage_fraction: how far that is, 0 to 1, if known. device: the
    worker's use of the machine, see `relens.runs.device`. versions: of relens, python, torch and transformers.

    variety: the traversal or the study, see `relens.runs.search_words.variety`. name, note, pinned: set by a person.
    deleted: when it was put into the bin; None where it is not there. origin: for an imported run its "id" where it was
    made, and when it was "exported" and "imported"; else None.
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
    alive: as far as this reader knows, see `relens.runs.leases`.
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
