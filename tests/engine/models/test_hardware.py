"""Devices, number formats and threads."""

import pytest
import torch

from relens.errors import ModelError
from relens.models import hardware


def test_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RELENS_DEVICE", raising=False)
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", True)
    assert hardware.choose_device("cpu").type == "cpu"
    assert not torch.backends.cudnn.allow_tf32
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert hardware.choose_device().type == "cpu"
    monkeypatch.setenv("RELENS_DEVICE", "nonsense")
    with pytest.raises(ModelError, match="no device called 'nonsense'"):
        hardware.choose_device()
    assert hardware.choose_device("cpu").type == "cpu"


def test_formats_follow_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RELENS_DTYPE", raising=False)
    assert hardware.choose_dtype(None, torch.device("cpu")) is torch.float32
    assert hardware.choose_dtype(None, torch.device("cuda", 0)) is torch.bfloat16
    assert hardware.choose_dtype("float16", torch.device("cpu")) is torch.float16


def test_cores_are_physical_and_within_the_affinity(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = {True: 16, False: 8}
    monkeypatch.setattr(hardware.psutil, "cpu_count", lambda logical: counts[logical])
    monkeypatch.setattr(hardware.os, "sched_getaffinity", lambda pid: set(range(16)), raising=False)
    monkeypatch.setattr(hardware.Path, "read_text", lambda self: "max 100000")
    assert hardware.usable_cores() == 8
    monkeypatch.setattr(hardware.os, "sched_getaffinity", lambda pid: {0, 1, 2, 3}, raising=False)
    assert hardware.usable_cores() == 2
    monkeypatch.setattr(hardware.Path, "read_text", lambda self: "150000 100000")
    monkeypatch.setattr(hardware.os, "sched_getaffinity", lambda pid: set(range(16)), raising=False)
    assert hardware.usable_cores() == 2


def test_an_operators_number_of_threads_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    set_to: list[int] = []
    monkeypatch.setattr(torch, "set_num_threads", set_to.append)
    monkeypatch.setattr(hardware, "usable_cores", lambda: 77)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    hardware.use_physical_cores(torch.device("cpu"))
    assert set_to == []
    monkeypatch.delenv("OMP_NUM_THREADS")
    hardware.use_physical_cores(torch.device("cuda", 0))
    assert set_to == []
    hardware.use_physical_cores(torch.device("cpu"))
    assert set_to == [77]
