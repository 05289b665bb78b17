"""The figures of this process against the operating system's own."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from relens.runs.device import DeviceMeter
from relens.runs.versions import versions


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_memory_is_that_of_the_kernel():
    figures = DeviceMeter().read("cpu")
    resident = int(re.search(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024
    assert figures["memory_bytes"] == pytest.approx(resident, rel=0.1)
    assert (figures["name"], figures["cpu_count"]) == ("cpu", os.cpu_count())
    assert figures["cpu_percent"] >= 0.0


def test_a_device_without_a_driver_has_fewer_figures():
    figures = DeviceMeter().read("cuda:99")
    assert figures["name"] == "cuda:99"
    assert "gpu_percent" not in figures
    assert figures["memory_bytes"] > 0


def test_versions_are_those_of_this_process():
    assert versions()["python"] == sys.version.split()[0]
    assert re.fullmatch(r"\d+\.\d+\.\d+", versions()["relens"])
