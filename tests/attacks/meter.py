"""How long the server is deaf: its health is asked every 20 ms, from a process of its own.

    python tests/attacks/meter.py PORT PID
        <- mark
        -> {"seconds": 0.013, "answers": 49}       the longest wait for an answer since the last mark

The waits of a test's own process would say more of the test than of the server, hence a process. On a busy machine the
server also waits for a processor, which is no fault of its own: Linux tells of each thread how long it stood in the run
queue, and the longest of these times within a wait is taken off it.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import sys
import time

PAUSE = 0.02


def main(port: int, pid: int) -> None:
    longest, answers = 0.0, 0
    queued = _queued(pid)
    while True:
        ready, _, _ = select.select([sys.stdin], [], [], PAUSE)
        if ready:
            if not sys.stdin.readline():
                return
            print(json.dumps({"seconds": longest, "answers": answers}), flush=True)
            longest, answers = 0.0, 0
            continue
        begun = time.monotonic()
        try:
            _ask(port)
        except OSError:
            if not os.path.exists(f"/proc/{pid}"):
                return
            continue
        waited = time.monotonic() - begun
        before, queued = queued, _queued(pid)
        starved = max((time - before.get(thread, 0) for thread, time in queued.items()), default=0)
        longest = max(longest, waited - starved / 1e9)
        answers += 1


def _ask(port: int) -> None:
    # A connection of its own for each question: the second answer on one would wait 40 ms for an acknowledgement.
    with socket.create_connection(("localhost", port), timeout=600) as connection:
        connection.sendall(b"GET /_stcore/health HTTP/1.1\r\nHost: localhost:%d\r\nConnection: close\r\n\r\n" % port)
        while connection.recv(4096):
            pass


def _queued(pid: int) -> dict[str, int]:
    """Of each thread of the process, for how many nanoseconds it has waited for a processor so far."""
    times: dict[str, int] = {}
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/schedstat") as file:
                times[thread] = int(file.read().split()[1])
    return times


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
