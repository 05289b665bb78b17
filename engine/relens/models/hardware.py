"""Where a model runs: the device, the number format and the threads."""

from __future__ import annotations

import math
import os
from pathlib import Path

import psutil
import torch

from relens import settings
from relens.errors import ModelError

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


def choose_device(requested: str | torch.device | None = None) -> torch.device:
    """The requested device, else that of RELENS_DEVICE, else the best available.

    From then on float32 is float32 there: cuDNN's LSTMs would otherwise round what they multiply to 10 bits (TF32), and
    the same numbers computed step by step would not agree with them. Raises `ModelError` for a device that this machine
    does not have.
    """
    torch.backends.cudnn.allow_tf32 = False
    name = str(requested or settings.device_name())
    if not name:
        if torch.cuda.is_available():
            return torch.device("cuda", 0)
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ModelError(f"This machine has no device called {name!r}.") from error
    return device


def choose_dtype(requested: str | torch.dtype | None, device: torch.device) -> torch.dtype:
    """The requested number format, else that of RELENS_DTYPE, else float32 on a CPU and bfloat16 elsewhere.

    Raises `ModelError` for a format that is unknown.
    """
    if isinstance(requested, torch.dtype):
        return requested
    name = requested or settings.dtype_name()
    if not name:
        return torch.float32 if device.type == "cpu" else torch.bfloat16
    if name not in DTYPES:
        raise ModelError(f"The number format must be one of {', '.join(DTYPES)}, not {name!r}.")
    return DTYPES[name]


def use_physical_cores(device: torch.device) -> None:
    """Let torch use every physical core that this process may run on; an operator's OMP_NUM_THREADS has precedence."""
    if device.type == "cpu" and "OMP_NUM_THREADS" not in os.environ and torch.get_num_threads() != usable_cores():
        torch.set_num_threads(usable_cores())


def usable_cores() -> int:
    """Physical cores within the process's affinity and its control group's quota; at least 1.

    Two threads of one core share its vector units, so more threads than cores only get in each other's way.
    """
    physical = psutil.cpu_count(logical=False) or os.cpu_count() or 1
    logical = psutil.cpu_count(logical=True) or physical
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else logical
    cores = math.ceil(allowed * physical / logical)
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        if quota != "max":
            cores = min(cores, math.ceil(int(quota) / int(period)))
    except (OSError, ValueError):
        pass
    return max(1, min(cores, physical))
