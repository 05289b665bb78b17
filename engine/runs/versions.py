"""The versions recorded with a run, to explain its results later."""

from __future__ import annotations

import platform
import tomllib
from functools import lru_cache
from importlib import metadata
from pathlib import Path


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """Version of relens, python, torch and transformers, by name; "unknown" for a missing one."""
    return {
        "relens": _own_version(),
        "python": platform.python_version(),
        "torch": _installed("torch"),
        "transformers": _installed("transformers"),
    }


def _installed(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "unknown"


def _own_version() -> str:
    """From the project's own file where it runs from its folder, else from the installed package."""
    project = Path(__file__).parents[2] / "pyproject.toml"
    try:
        return str(tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"])
    except (OSError, KeyError, tomllib.TOMLDecodeError):
        return _installed("relens")
