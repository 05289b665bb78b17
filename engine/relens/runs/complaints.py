"""Warnings about lasting trouble: a store on a full disk fails many times a second, and the log says so once."""

from __future__ import annotations

import logging
import time

#: How often the same sentence is logged.
AGAIN_SECONDS = 60.0


class Complaints:
    """Warnings to a log, the same one at most once a minute."""

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._sentence = ""
        self._next = 0.0

    def warn(self, error: Exception) -> None:
        """Log the error's text, unless it was logged within the last minute."""
        now = time.monotonic()
        if str(error) != self._sentence or now >= self._next:
            self._sentence, self._next = str(error), now + AGAIN_SECONDS
            self._log.warning("%s", error)
