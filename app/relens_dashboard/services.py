"""The services that all browser sessions share: store, supervisor of the worker, previews, checks of settings.

They are made once a process, for the first page. Every page on a screen calls `ensure_worker` again and again, so a
worker that died is started again while anybody looks.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache

import streamlit as st

from relens import settings
from relens.errors import RelensError
from relens.runs.preview import Previewer
from relens.runs.screens import ScreenStore
from relens.runs.store import Store
from relens.runs.study_checks import StudyChecks
from relens.runs.supervisor import Supervisor, WorkerState
from relens_dashboard.live_preview import LivePreview
from relens_dashboard.shared import shared
from relens_dashboard.study_check import StudyCheck

#: Child processes that compute previews. Each keeps a tokenizer warm, so it costs memory; few people type at once.
PREVIEW_PROCESSES = 4

#: Child processes that check the settings of studies; a check takes milliseconds.
CHECK_PROCESSES = 2


@dataclass(frozen=True)
class Services:
    """The dashboard's connections to the engine.

    `threads` wait for previews, `drawers` for `dot`, `checkers` for checks of studies: there are as many of these as
    children for the checks, so a session that waits for its turn holds no thread.
    """

    store: Store
    supervisor: Supervisor
    previewer: Previewer
    threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(32, "preview"))
    drawers: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(4, "dot"))
    study_checks: StudyChecks = field(default_factory=lambda: StudyChecks(CHECK_PROCESSES))
    checkers: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(CHECK_PROCESSES, "check"))

    @property
    def screens(self) -> ScreenStore:
        """The findings that were pinned, in the same database as the runs. Raises `StoreError`."""
        return _screens(settings.store_url())

    def new_live_preview(self) -> LivePreview:
        """Previews for one more browser session."""
        return LivePreview(self.previewer, self.threads, self.drawers)

    def ensure_worker(self) -> WorkerState | None:
        """Start the worker where none runs; returns its state, None where the state cannot be read."""
        try:
            self.supervisor.ensure()
            return self.supervisor.state()
        except (RelensError, OSError):
            return None

    def close(self) -> None:
        """End the worker, the children that preview and check, and the threads, and close the store."""
        self.supervisor.stop()
        self.previewer.close()
        self.study_checks.close()
        for threads in (self.threads, self.drawers, self.checkers):
            threads.shutdown(wait=False, cancel_futures=True)
        self.store.close()


@lru_cache(maxsize=2)
def _screens(url: str) -> ScreenStore:
    return ScreenStore(url)


@shared
def get_services() -> Services:
    """The shared services; made at the first call. Raises `StoreError` where the store cannot be opened."""
    url = settings.store_url()
    return Services(Store(url), Supervisor(url), Previewer(pool_size=PREVIEW_PROCESSES))


def live_preview(services: Services) -> LivePreview:
    """The previews of this browser session."""
    if "live_preview" not in st.session_state:
        st.session_state["live_preview"] = services.new_live_preview()
    return st.session_state["live_preview"]


def study_check(services: Services) -> StudyCheck:
    """The checks of studies of this browser session."""
    if "study_check" not in st.session_state:
        st.session_state["study_check"] = StudyCheck(services.study_checks, services.checkers)
    return st.session_state["study_check"]
