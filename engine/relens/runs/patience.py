"""Writing to a store that may be busy or full for a moment."""

from __future__ import annotations

import time
from collections.abc import Callable

from relens.errors import StoreError

#: How long, and how often, a refused write is tried again.
PATIENCE_SECONDS, RETRY_SECONDS = 10.0, 0.25


def patiently(write: Callable[[], None]) -> None:
    """Call `write` until it raises no `StoreError`; the last one is raised after `PATIENCE_SECONDS`."""
    give_up = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return write()
        except StoreError:
            if time.monotonic() >= give_up:
                raise
            time.sleep(RETRY_SECONDS)
