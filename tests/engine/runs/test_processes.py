"""A process is known again, and not taken for another one with its number."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys

import psutil
import pytest

from relens.runs.processes import ProcessMark
from tests.engine.runs.helpers import dead_pid, wait_until


def test_this_process_has_not_ended():
    mark = ProcessMark.of(os.getpid())
    assert mark.is_here
    assert not mark.has_ended
    assert ProcessMark.from_json(json.loads(json.dumps(mark.to_json()))) == mark


def test_a_finished_process_has_ended():
    assert ProcessMark.of(dead_pid()).has_ended


def test_a_zombie_has_ended():
    process = subprocess.Popen([sys.executable, "-c", ""])
    mark = ProcessMark.of(process.pid)
    wait_until(lambda: psutil.Process(process.pid).status() == psutil.STATUS_ZOMBIE)
    assert mark.has_ended
    process.wait()


def test_a_later_process_with_the_same_number_is_another():
    mark = ProcessMark.of(os.getpid())
    assert dataclasses.replace(mark, begun=mark.begun - 1).has_ended
    assert not dataclasses.replace(mark, begun=None).has_ended  # as earlier versions wrote it


def test_a_process_of_another_machine_has_not_ended():
    mark = dataclasses.replace(ProcessMark.of(dead_pid()), host="elsewhere")
    assert not mark.is_here
    assert not mark.has_ended


@pytest.mark.parametrize(
    "data", [{}, {"host": 1, "pid": 1}, {"host": "a", "pid": "1"}, {"host": "a", "pid": 1, "begun": "x"}]
)
def test_bad_marks_are_none(data):
    assert ProcessMark.from_json(data) is None
