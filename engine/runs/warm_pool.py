"""Isolated child processes of which only the warm ones are given work.

A child is warm a second after it is started, longer on a busy machine, and answers in milliseconds from then on. So
when all warm ones are taken, waiting for one of them is better than starting another and waiting for that; and the
successor of a child that was killed for its hostile job must not get the next keystroke of somebody else.

    free  [3] [1]      call: takes 1, answers, puts 1 back on top
    cold  [2] [4]      a thread takes them one after the other, asks them something easy, and puts them among the free
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Mapping
from typing import Any

from engine.errors import LimitError, RelensError
from engine.language.isolation import IsolatedProcess

#: How long a child may take for the easy question.
WARMING_SECONDS = 120.0

log = logging.getLogger(__name__)


class WarmPool:
    """`size` isolated processes for one function; safe for threads.

    The options are those of `IsolatedProcess`; the function is asked `easy` of every new child before its first job.
    """

    def __init__(self, target: str, size: int, easy: Mapping[str, Any], **options: Any) -> None:
        if size < 1:
            raise ValueError("A pool needs at least one process.")
        self._easy = easy
        self._free: queue.LifoQueue[IsolatedProcess] = queue.LifoQueue()
        self._cold: queue.SimpleQueue[IsolatedProcess | None] = queue.SimpleQueue()
        self._target = target
        self._options = options
        self._processes = [self._new_process()]
        self._missing = size - 1
        self._closed = False
        self._cold.put(self._processes[0])
        threading.Thread(target=self._warm, name="warming", daemon=True).start()

    def call(self, payload: Mapping[str, Any], seconds: float, memory_bytes: int) -> dict[str, Any]:
        """`IsolatedProcess.call` in a process that is warm and free; waits for one."""
        process = self._free.get()
        if self._closed:
            self._free.put(process)
            raise RuntimeError("The pool of warm processes is closed.")
        killed = True
        try:
            result = process.call(payload, seconds, memory_bytes)
            killed = False
        except RelensError as error:
            # An error that the job itself raised left the child alive; a limit or a crash has cost its life.
            killed = isinstance(error, LimitError) or type(error) is RelensError
            raise
        finally:
            (self._cold if killed else self._free).put(process)
        return result

    def close(self) -> None:
        """End all processes. Waits for the calls in progress."""
        self._closed = True
        self._cold.put(None)
        for process in list(self._processes):
            process.close()
            self._free.put(process)  # wakes up whoever still waits

    def _new_process(self) -> IsolatedProcess:
        return IsolatedProcess(self._target, **self._options)

    def _warm(self) -> None:
        while (process := self._cold.get()) is not None and not self._closed:
            try:
                process.call(self._easy, WARMING_SECONDS)
            except (RelensError, RuntimeError) as error:
                log.warning("A child process did not warm up: %s", error)
            self._free.put(process)
            # One after the other, so that the first of them is not held up by the rest.
            if self._missing and not self._closed:
                self._missing -= 1
                try:
                    self._processes.append(self._new_process())
                except RuntimeError:  # the program ends, and starts nothing more
                    return
                self._cold.put(self._processes[-1])
