"""Work in one piece, in a thread of its own, for a generator that has to look up meanwhile.

    corpus = yield from run_in_background(lambda: read_corpus(path))      None, None, None, and then the corpus

Reading a corpus takes seconds and has no place to ask "shall I stop?". A study that asked only afterwards would keep
somebody waiting who has pressed Stop. So the piece is done in a thread, and the study looks up ten times a second. When
it is stopped the thread goes on to its end, and what it made is dropped, or found in a cache by the next who asks.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import Future, wait
from threading import Thread
from typing import Any, TypeVar

#: How often the one who waits looks up.
LOOK_SECONDS = 0.1

Made = TypeVar("Made")
Report = TypeVar("Report")
Row = TypeVar("Row")


def run_in_background(work: Callable[[], Made]) -> Generator[None, None, Made]:
    """What the work returns, or raises; None ten times a second until then, and never where it is done at once."""
    future: Future[Made] = Future()

    def carry_out() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # handed to the one who waits
            future.set_exception(error)

    Thread(target=carry_out, name="background", daemon=True).start()
    while wait([future], LOOK_SECONDS).not_done:
        yield None
    return future.result()


def reported(
    work: Generator[Report | None, None, Made], row: Callable[[Report], Row | None]
) -> Generator[Row | None, None, Made]:
    """The same work, which yields the row of each of its reports."""
    while True:
        try:
            report = next(work)
        except StopIteration as end:
            made: Made = end.value
            return made
        yield None if report is None else row(report)


def to_the_end(work: Generator[Any, None, Made]) -> Made:
    """What the work returns, for somebody who has nothing else to look up for."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            made: Made = end.value
            return made
