"""The versions recorded with a run, to explain its results later."""

from __future__ import annotations

import platform
from functools import lru_cache
from importlib import metadata

import relens


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """Version of relens, python, torch and transformers, by name; "unknown" for a missing one."""
    return {
        "relens": relens.__version__,
        "python": platform.python_version(),
        "torch": _installed("torch"),
        "transformers": _installed("transformers"),
    }


def _installed(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "unknown"
