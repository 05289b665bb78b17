"""The dashboard's watch over the worker process. (Signatures; the bodies follow.)"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class WorkerState:
    """The worker of a store as its supervisor sees it.

    alive: a worker runs, started here or by another dashboard. starting: it was started but has not reported yet, or
    waits for its next attempt. restarts: how often it was started again after it had ended. last_exit: in words,
    None while it never ended. pid: of the worker, None for none. log: file that it writes its messages to.
    """

    alive: bool
    starting: bool
    restarts: int
    last_exit: str | None
    pid: int | None
    log: str


class Supervisor:
    """Keeps one worker alive for a store; safe for threads."""

    def __init__(self, store_url: str | None = None) -> None:
        raise NotImplementedError

    def ensure(self) -> None:
        """Start the worker where none runs; cheap, meant to be called at every rerun of a page."""
        raise NotImplementedError

    def state(self) -> WorkerState:
        """How the worker is."""
        raise NotImplementedError

    def stop(self) -> None:
        """End the worker that this supervisor started, letting it mark its run first."""
        raise NotImplementedError
