"""Folders, and what the operator allows, read from the environment.

    RELENS_CACHE   folder for files that can be made again: converted models  (~/.cache/relens)
    RELENS_DATA    folder for files that cannot: models, uploads, the store   (the cache folder)
    RELENS_STORE   database URL of the runs                                   (SQLite in the folder of RELENS_DATA)
    RELENS_MODELS  names and folders the dashboard may load, by comma; `*` as a wildcard
    RELENS_TEXTS   folders whose files a study of the dashboard may read, by comma    (uploads alone)
    RELENS_HTTPS   0: no study may ask web servers whether an address exists  (studies decide)
    RELENS_DEVICE  cpu, cuda, cuda:1, mps; empty picks the best available
    RELENS_DTYPE   float32 or bfloat16; empty picks by device
    RELENS_QUEUE   how many runs may wait at once                             (32)
    RELENS_KEEP_DELETED  days for which a deleted run can be restored         (30)

Settings are read at each call, so a change counts at once.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

DEFAULT_MODELS = "smollm2-135m,gpt2,gpt2-medium,gpt2-large,gpt2-xl,distilgpt2,HuggingFaceTB/SmolLM2-*,Qwen/Qwen2*"


def cache_folder() -> Path:
    """Folder for everything that can be made again; created when missing."""
    folder = Path(os.environ.get("RELENS_CACHE") or Path.home() / ".cache" / "relens").expanduser()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def data_folder() -> Path:
    """Folder for files of runs that cannot be made again; created when missing."""
    path = os.environ.get("RELENS_DATA")
    if not path:
        return cache_folder()
    folder = Path(path).expanduser()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def store_url() -> str:
    """SQLAlchemy URL of the store of runs."""
    return os.environ.get("RELENS_STORE") or f"sqlite:///{data_folder() / 'runs.db'}"


def allowed_models() -> tuple[str, ...]:
    """Patterns (`fnmatch`) of the model names and folders that the dashboard may load."""
    text = os.environ.get("RELENS_MODELS") or DEFAULT_MODELS
    return tuple(name.strip() for name in text.split(",") if name.strip())


def uploads_folder() -> Path:
    """Folder for texts that were uploaded."""
    return data_folder() / "texts"


def texts_folders() -> tuple[Path, ...]:
    """The folders whose files the dashboard may read for a study: uploads, and those of RELENS_TEXTS."""
    named = [name.strip() for name in os.environ.get("RELENS_TEXTS", "").split(",")]
    return (uploads_folder(), *(Path(name).expanduser() for name in named if name))


def https_allowed() -> bool:
    """Whether a study whose settings allow it may ask web servers for what a model wrote."""
    return os.environ.get("RELENS_HTTPS", "").strip().lower() not in ("0", "no", "off", "false")


def device_name() -> str:
    """The chosen device, or an empty string for the best available."""
    return os.environ.get("RELENS_DEVICE", "").strip()


@contextlib.contextmanager
def chosen_device(name: str | None) -> Iterator[None]:
    """Inside, RELENS_DEVICE is this device; None changes nothing.

    A study may load several models, also in other threads; they see the environment, not the command line's options.
    """
    before = os.environ.get("RELENS_DEVICE")
    if name:
        os.environ["RELENS_DEVICE"] = name
    try:
        yield
    finally:
        if name and before is None:
            del os.environ["RELENS_DEVICE"]
        elif name and before is not None:
            os.environ["RELENS_DEVICE"] = before


def dtype_name() -> str:
    """The chosen number format, or an empty string to choose by device."""
    return os.environ.get("RELENS_DTYPE", "").strip()


def queue_length() -> int:
    """How many runs may wait in the queue at once."""
    return int(os.environ.get("RELENS_QUEUE") or 32)


def keep_deleted_seconds() -> float:
    """For how long a deleted run can be restored, in seconds; RELENS_KEEP_DELETED is in days."""
    return 86_400.0 * float(os.environ.get("RELENS_KEEP_DELETED") or 30.0)
