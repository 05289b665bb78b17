"""From a model's name to a folder with its files, and what those files must be.

A model folder is config.json, weights and a tokenizer. Weights are accepted as safetensors only: a `.bin` or `.pt` file
is a Python pickle, which runs whatever code it holds when it is read. The folder of a model from the hub
(`relens.models.hub`) is treated like any other, so there is one way to load.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from relens.errors import ModelError
from relens.models import embedded, hub
from relens.models.catalogue import CatalogueEntry, Kind

PICKLE_SUFFIXES = ("*.bin", "*.pt", "*.pth", "*.ckpt")


def model_folder(entry: CatalogueEntry, *, weights: bool, report: Callable[[str], None] = lambda stage: None) -> Path:
    """The folder with the files of `entry`, made or fetched first where needed; with `weights` False, without them.

    `report` gets the size of a download. Raises `ModelError` for a folder that is missing or incomplete, and the errors
    of `relens.models.hub.fetch`.
    """
    if entry.kind is Kind.EMBEDDED:
        return embedded.ensure()
    if entry.kind is Kind.FOLDER:
        folder = Path(entry.location)
    else:
        folder = hub.fetch(entry.location, weights=weights, report=report)
    where = f"The folder {folder}" if entry.kind is Kind.FOLDER else f"The model {entry.name!r} on the hub"
    if not folder.is_dir():
        raise ModelError(f"{where} does not exist.")
    if not (folder / "config.json").is_file():
        raise ModelError(f"{where} is not a model: it has no config.json.")
    if weights and not any(folder.glob("*.safetensors")):
        if entry.kind is Kind.HUB or any(next(folder.glob(suffix), None) for suffix in PICKLE_SUFFIXES):
            raise ModelError(f"{where} has no weights in the safetensors format; pickled weights are not loaded.")
        raise ModelError(f"{where} has no weights: there is no .safetensors file in it.")
    return folder


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in a file, empty where the file is missing. Raises `ModelError` for anything else."""
    return parse_json(path.read_text(encoding="utf-8"), path) if path.is_file() else {}


def parse_json(text: str, path: Path) -> dict[str, Any]:
    """The JSON object in `text`, which came from `path`. Raises `ModelError` for anything else."""
    try:
        contents = json.loads(text)
    except ValueError as error:
        raise ModelError(f"The file {path} cannot be read as JSON.") from error
    if not isinstance(contents, dict):
        raise ModelError(f"The file {path} does not hold a JSON object.")
    return contents


def fingerprint(folder: Path, tokenizer_fingerprint: str) -> str:
    """A short name for exactly these weights, configuration and tokenizer: 16 hexadecimal digits.

    Of each weight file its size and 64 KiB at 17 places are read, which tells two trainings of one architecture apart
    without reading gigabytes.
    """
    digest = hashlib.sha256((folder / "config.json").read_bytes())
    digest.update(tokenizer_fingerprint.encode())
    for path in sorted(folder.glob("*.safetensors")):
        size = path.stat().st_size
        digest.update(f"{path.name} {size}".encode())
        with path.open("rb") as file:
            for part in range(17):
                file.seek(max(0, size - (1 << 16)) * part // 16)
                digest.update(file.read(1 << 16))
    return digest.hexdigest()[:16]
