"""The use of the machine by this process, as figures for a page.

    {"name": "cpu", "cpu_percent": 184.0, "cpu_count": 2, "memory_bytes": 912000000}

cpu_percent is of one core, so two busy cores make 200. With an accelerator there are also gpu_memory_bytes,
gpu_memory_total_bytes and, if the driver reports it, gpu_percent.
"""

from __future__ import annotations

import logging
import os
from typing import Any

import psutil

log = logging.getLogger(__name__)


class DeviceMeter:
    """Reads the use of the processor and of the accelerator by the calling process."""

    def __init__(self) -> None:
        self._process = psutil.Process()
        self._process.cpu_percent(None)

    def read(self, device: str) -> dict[str, Any]:
        """The figures since the last reading; `device` names the accelerator, such as "cpu" or "cuda:0"."""
        figures: dict[str, Any] = {
            "name": device,
            "cpu_percent": self._process.cpu_percent(None),
            "cpu_count": os.cpu_count() or 1,
            "memory_bytes": self._process.memory_info().rss,
        }
        if device.startswith("cuda"):
            figures |= _cuda_figures(device)
        return figures


def _cuda_figures(device: str) -> dict[str, Any]:
    # A process that reads the figures of a CUDA device has torch already.
    import torch

    figures: dict[str, Any] = {}
    try:
        free, total = torch.cuda.mem_get_info(device)
        figures["gpu_name"] = torch.cuda.get_device_name(device)
        figures["gpu_memory_total_bytes"] = total
        figures["gpu_memory_bytes"] = total - free
        figures["gpu_percent"] = torch.cuda.utilization(device)
    except Exception as error:  # the driver's management library has errors of its own, where it is installed at all
        log.debug("Some figures of %s cannot be read: %s", device, error)
    return figures
