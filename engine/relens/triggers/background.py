"""Work in one piece, in a thread of its own, for a generator that has to yield meanwhile.

    corpus = yield from run_in_background(lambda: read_corpus(path))      None, None, None, and then the corpus

Reading a corpus takes seconds, in which a study cannot stop. So the work runs in a thread, and the study yields ten
times a second. After a stop the thread runs to its end; its result is dropped, or stays in a cache for the next study.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import Future, wait
from threading import Thread
from typing import Any, TypeVar

#: Seconds between two yields.
LOOK_SECONDS = 0.1

Made = TypeVar("Made")
Report = TypeVar("Report")
Row = TypeVar("Row")


def run_in_background(work: Callable[[], Made]) -> Generator[None, None, Made]:
    """The result of the work, or its error; None ten times a second until then, and never where it is done at once."""
    future: Future[Made] = Future()

    def carry_out() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # raised again by `result`
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
    """The result of the work, without a stop."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            made: Made = end.value
            return made
