"""A worker is given up for what was seen of it, and for nothing that a clock says."""

from __future__ import annotations

import os

from relens.runs.leases import STALE_SECONDS, Leases
from relens.runs.processes import ProcessMark
from tests.engine.runs.helpers import dead_pid

ELSEWHERE = ProcessMark("another machine", 1)


def leases():
    now = [0.0]
    return now, Leases(lambda: now[0])


def test_a_worker_elsewhere_lives_while_its_heartbeat_changes():
    now, seen = leases()
    for beat in (5e9, -3.0, 0.0, 1e12):  # clocks that are wrong, and set
        now[0] += STALE_SECONDS - 1
        assert seen.lives("w", "idle", beat, ELSEWHERE)
    now[0] += STALE_SECONDS - 1
    assert seen.lives("w", "idle", 1e12, ELSEWHERE)
    now[0] += 2
    assert not seen.lives("w", "idle", 1e12, ELSEWHERE)
    assert seen.lives("w", "idle", 1e12 + 1, ELSEWHERE)


def test_a_worker_of_this_machine_lives_as_long_as_its_process():
    now, seen = leases()
    here = ProcessMark.of(os.getpid())
    assert seen.lives("w", "running", 1.0, here)
    now[0] += 10 * STALE_SECONDS
    assert seen.lives("w", "running", 1.0, here)
    assert not seen.lives("w", "ended", 1.0, here)
    assert not seen.lives("v", "running", 1.0, ProcessMark.of(dead_pid()))


def test_a_worker_that_was_forgotten_is_seen_anew():
    now, seen = leases()
    seen.lives("w", "idle", 1.0, ELSEWHERE)
    now[0] += 2 * STALE_SECONDS
    assert not seen.lives("w", "idle", 1.0, ELSEWHERE)
    seen.forget(["w", "unknown"])
    assert seen.lives("w", "idle", 1.0, ELSEWHERE)
