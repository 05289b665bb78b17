"""How long a process is held up: Python passes from thread to thread between its own steps, never within one of C."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any


def longest_call(function: Callable[..., Any], *arguments: Any) -> float:
    """The most CPU seconds that any one function of C took: no other thread has the interpreter meanwhile."""
    began: list[float] = []
    longest = 0.0

    def note(frame, event, argument) -> None:
        nonlocal longest
        if event == "c_call":
            began.append(time.thread_time())
        elif event in ("c_return", "c_exception") and began:
            longest = max(longest, time.thread_time() - began.pop())

    sys.setprofile(note)
    try:
        function(*arguments)
    finally:
        sys.setprofile(None)
    return longest


def grows_too_fast(function: Callable[[str], Any], made: Callable[[int], str]) -> bool:
    """Whether a text of 64,000 characters takes far more than four times as long as one of 16,000, whenever tried."""

    def seconds(length: int) -> float:
        text = made(length)
        begun = time.thread_time()
        function(text)
        return time.thread_time() - begun

    return all(seconds(64_000) > 9 * max(seconds(16_000), 0.01) for _ in range(3))
