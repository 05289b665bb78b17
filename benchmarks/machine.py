"""The machine of a benchmark, because seconds depend on it."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from typing import Any


def describe() -> dict[str, Any]:
    """Processor, cores, memory, Python and, where there are any, PyTorch and its accelerator."""
    import psutil
    import torch

    machine: dict[str, Any] = {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "torch_threads": torch.get_num_threads(),
    }
    if torch.cuda.is_available():
        machine["accelerator"] = torch.cuda.get_device_name()
    return machine


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def report(benchmark: str, result: dict[str, Any]) -> None:
    """Print the result of one benchmark as JSON."""
    print(json.dumps({"benchmark": benchmark, "machine": describe(), **result}, indent=2))
