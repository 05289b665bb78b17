"""From a model's name to a folder with its files, and what those files must be.

A model folder is config.json, weights and a tokenizer. Weights are accepted as safetensors only: a `.bin` or `.pt` file
is a Python pickle, which runs whatever code it holds when it is read. A model from the hub is fetched into the cache of
huggingface_hub, whose folder then is treated like any other, so there is one way to load. Nothing is fetched unless a
hub name was asked for, and nothing at all with `HF_HUB_OFFLINE=1`.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from engine.errors import ModelError
from engine.models import embedded
from engine.models.catalogue import CatalogueEntry, Kind

#: Files at the top of a repository that a tokenizer may consist of; weights are asked for on their own.
DESCRIPTION_FILES = ["*.json", "merges.txt", "vocab.txt", "tokenizer.model", "*.tiktoken"]
WEIGHT_FILES = ["*.safetensors"]

#: Copies of the same weights for other programs.
UNWANTED_FILES = ["*/*", "consolidated*"]

PICKLE_SUFFIXES = ("*.bin", "*.pt", "*.pth", "*.ckpt")


def model_folder(entry: CatalogueEntry, *, weights: bool) -> Path:
    """The folder with the files of `entry`, made or fetched first where needed; with `weights` False, without them.

    Raises `ModelError` for a folder that is missing or incomplete and a hub that cannot be reached.
    """
    if entry.kind is Kind.EMBEDDED:
        return embedded.ensure()
    folder = Path(entry.location) if entry.kind is Kind.FOLDER else _fetch(entry.location, weights)
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


def _fetch(name: str, weights: bool) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, LocalEntryNotFoundError, RepositoryNotFoundError

    wanted = DESCRIPTION_FILES + (WEIGHT_FILES if weights else [])
    try:
        return Path(snapshot_download(name, allow_patterns=wanted, ignore_patterns=UNWANTED_FILES))
    except GatedRepoError as error:
        raise ModelError(f"The model {name!r} is on the hub, but needs an account that may use it.") from error
    except RepositoryNotFoundError as error:
        raise ModelError(f"There is no model called {name!r} on the hub.") from error
    except LocalEntryNotFoundError as error:
        raise ModelError(f"The model {name!r} is not on this machine and the hub cannot be reached.") from error
    except (HfHubHTTPError, OSError) as error:
        raise ModelError(f"The model {name!r} cannot be fetched from the hub ({type(error).__name__}).") from error


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
