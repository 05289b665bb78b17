"""Uploaded files, read and kept by a process of their own.

    page:    take_in_run(bytes of the file, store)   ---->  child: unpack, check every row, draw the verdict, write
             id of the run, or one sentence          <----

A file comes from anywhere and may hold 128 MB unpacked. To check it, its study's verdict is drawn from its rows. That
takes seconds and hundreds of megabytes, and reading one long text as JSON is a single call, during which nothing else
of Python runs. So the page's process hands the bytes on and waits. The child has limits of time and memory, and frees
both when it ends. One file is read at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import numpy as np

from relens.language.isolation import IsolatedProcess

#: For one file.
SECONDS, MEMORY_BYTES = 120.0, 3 << 30

_one_at_a_time = threading.Lock()


def take_in_run(data: bytes, store_url: str) -> str:
    """Keep the run in the bytes of a file in the store of that address; returns the id it has there.

    Raises the errors of `relens.runs.run_file.read_run` and `Store.import_run`, and `LimitError` for a file that takes
    too much time or memory.
    """
    return str(_kept("relens.runs.intake:run_job", {"store": store_url}, data)["run"])


def take_in_deck(data: bytes, store_url: str, deck: str) -> int:
    """Put the screens in the bytes of a file on a deck of the store of that address; returns how many were new.

    Raises the errors of `ScreenStore.load`, and `LimitError` as `take_in_run`.
    """
    return int(_kept("relens.runs.intake:deck_job", {"store": store_url, "deck": deck}, data)["new"])


def _kept(job: str, payload: Mapping[str, Any], data: bytes) -> dict[str, Any]:
    with _one_at_a_time:
        child = IsolatedProcess(
            job,
            seconds=SECONDS,
            memory_bytes=MEMORY_BYTES,
            warm_up="relens.runs.intake:warm_up",
            subject="Reading the file",
        )
        try:
            return child.call({**payload, "file": np.frombuffer(data, np.uint8)})
        finally:
            child.close()


def warm_up() -> None:
    """What the child imports before its limits hold."""
    import relens.runs.run_file
    import relens.runs.screens
    import relens.runs.store  # noqa: F401


def run_job(payload: Mapping[str, Any]) -> dict[str, Any]:
    """`take_in_run`, for the child."""
    from relens.runs.run_file import read_run
    from relens.runs.store import Store

    return {"run": Store(payload["store"]).import_run(read_run(payload["file"].tobytes()))}


def deck_job(payload: Mapping[str, Any]) -> dict[str, Any]:
    """`take_in_deck`, for the child."""
    from relens.runs.screens import ScreenStore

    text = payload["file"].tobytes().decode("utf-8", "replace")
    return {"new": ScreenStore(payload["store"]).load(text, payload["deck"])}
