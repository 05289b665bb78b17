"""Files of runs, read and kept by a process of their own.

    page:    take_in(bytes of the file, store)  ---->  child: unpack, check every row, draw the verdict, write
             id of the run, or one sentence     <----

A file comes from anywhere, may hold 128 MB once it is unpacked, and is checked by drawing from it what its study draws.
That takes seconds of a processor and hundreds of megabytes, whoever made the file. So the page's process hands the
bytes on and waits; the child has limits of time and memory, and gives both back when it ends. One file is read at a
time: what several people import at once comes one after the other.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import numpy as np

from engine.language.isolation import IsolatedProcess

#: For one file.
SECONDS, MEMORY_BYTES = 120.0, 3 << 30

_one_at_a_time = threading.Lock()


def take_in(data: bytes, store_url: str) -> str:
    """Keep the run in the bytes of a file in the store of that address; returns the id it has there.

    Raises what `engine.runs.run_file.read_run` and `Store.import_run` raise, and `LimitError` where that takes more
    time or memory than a file may take.
    """
    with _one_at_a_time:
        child = IsolatedProcess(
            "engine.runs.intake:intake_job", seconds=SECONDS, memory_bytes=MEMORY_BYTES, subject="Reading the file"
        )
        try:
            return str(child.call({"file": np.frombuffer(data, np.uint8), "store": store_url})["run"])
        finally:
            child.close()


def intake_job(payload: Mapping[str, Any]) -> dict[str, Any]:
    """`take_in`, for the child."""
    from engine.runs.run_file import read_run
    from engine.runs.store import Store

    store = Store(payload["store"])
    try:
        return {"run": store.import_run(read_run(payload["file"].tobytes()))}
    finally:
        store.close()
