"""The state of worker, model, device and queue: one line, on every page."""

from __future__ import annotations

import streamlit as st

from relens.errors import StoreError
from relens.runs.records import QueueState, WorkerRecord
from relens.runs.supervisor import WorkerState
from relens_dashboard.charts import BLUE, GREEN, ORANGE, RED
from relens_dashboard.components.run_panel import device_line
from relens_dashboard.components.ticker import ticker
from relens_dashboard.messages import show_error
from relens_dashboard.services import Services
from relens_dashboard.text import as_html

_LOOK_EVERY = 2.0


def status_html(state: WorkerState | None, worker: WorkerRecord | None, queue: QueueState) -> str:
    """The line as HTML; the worker's reports are escaped."""
    hue, words = _condition(state, worker)
    pieces = [f'<span><i class="relens-dot" style="--hue:{hue}"></i>{as_html(words)}</span>']
    if worker is not None and worker.alive:
        model = worker.model or "none loaded yet"
        pieces.append(f'<span><span class="label">Model</span>{as_html(model)}</span>')
        device = device_line({"name": worker.device, **worker.extra})
        if device:
            pieces.append(f'<span><span class="label">Device</span>{as_html(device)}</span>')
    waiting = "empty" if not queue.waiting else f"{queue.waiting} waiting"
    running = f", {queue.running} running" if queue.running else ""
    pieces.append(f'<span><span class="label">Queue</span>{waiting}{running}</span>')
    return f'<div class="relens-state" role="status">{"".join(pieces)}</div>'


def status_line(services: Services) -> None:
    """The line, drawn anew every few seconds; each drawing starts a dead worker again."""
    # Alone in a container: if the browser loses a part of the fragment (see `ticker`), the rest of the page stays.
    with st.container():
        st.fragment(_status_line, key="status_line")(services)


def _status_line(services: Services) -> None:
    state = services.ensure_worker()
    try:
        workers = services.store.workers()
        queue = services.store.queue()
    except StoreError as error:
        show_error(error)
        ticker(_LOOK_EVERY, key="status")
        return
    with st.container(horizontal=True, gap=None):
        st.html(status_html(state, workers[0] if workers else None, queue))
        ticker(_LOOK_EVERY, key="status")


def _condition(state: WorkerState | None, worker: WorkerRecord | None) -> tuple[str, str]:
    if state is not None and state.trouble:
        return RED, state.trouble  # for example a full disk: the worker's last report is old
    if worker is not None and worker.alive:
        words = {"running": "Working", "idle": "Ready", "starting": "Starting"}.get(worker.state, worker.state)
        return (BLUE if worker.state == "running" else ORANGE if worker.state == "starting" else GREEN), words
    if state is not None and (state.starting or state.alive):
        return ORANGE, "The worker is starting" + (" again" if state.restarts else "")
    why = f": {state.last_exit}" if state is not None and state.last_exit else ""
    return RED, f"No worker is running{why}"
