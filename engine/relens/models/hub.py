"""Models of the Hugging Face hub: the files on this machine, and fetching the others.

    here("gpt2", weights=False)              None, and no request is sent
    fetch("gpt2", weights=True, report=...)  "Fetching 0.6 GB from the hub", then the folder with the files
    here("gpt2", weights=False)              the same folder

Files go to the cache of huggingface_hub (HF_HOME, HF_HUB_CACHE), and with `HF_HUB_OFFLINE=1` none are fetched. Pages
use `here`: a name alone, in a link for instance, must not make a server fetch anything. Before the first byte of a
model comes, `fetch` requests the sizes of its missing files, and refuses those for which the disk has no room: a full
disk would stop all runs of all people.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from relens.errors import ModelError

#: Files at the top of a repository that a tokenizer may consist of; weights are requested separately.
DESCRIPTION_FILES = ["*.json", "merges.txt", "vocab.txt", "tokenizer.model", "*.tiktoken"]
WEIGHT_FILES = ["*.safetensors"]

#: Copies of the same weights for other programs.
UNWANTED_FILES = ["*/*", "consolidated*"]

#: One of these is in every folder from which a tokenizer can be read.
TOKENIZER_FILES = ("tokenizer.json", "vocab.json", "vocab.txt", "tokenizer.model")

#: Bytes to leave on the disk for the store and its runs.
SPARE_BYTES = 1 << 29


def here(name: str, *, weights: bool) -> Path | None:
    """The folder of a model whose description, and with `weights` the weights too, is on this machine; else None."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        folder = Path(
            snapshot_download(
                name, allow_patterns=_file_patterns(weights), ignore_patterns=UNWANTED_FILES, local_files_only=True
            )
        )
    except (LocalEntryNotFoundError, HFValidationError):
        return None
    # Other programs fetch single files into the same cache, and leave no list from which to see what is missing.
    described = (folder / "config.json").is_file() and any((folder / file).is_file() for file in TOKENIZER_FILES)
    return folder if described and (not weights or any(folder.glob("*.safetensors"))) else None


def fetch(name: str, *, weights: bool, report: Callable[[str], None]) -> Path:
    """The folder of a model, with its missing files fetched; `report` gets their size first.

    Where the hub cannot be reached, what is on this machine has to do. Raises `ModelError` where that is not enough,
    for a model that the hub does not have or does not give, and for one that does not fit on the disk.
    """
    from httpx2 import HTTPError
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import DryRunError, HFValidationError

    try:
        files = snapshot_download(
            name, allow_patterns=_file_patterns(weights), ignore_patterns=UNWANTED_FILES, dry_run=True
        )
        missing = sum(file.file_size or 0 for file in files if file.will_download)
        if missing:
            _check_room(name, missing)
            report(f"Fetching {_gigabytes(missing)} from the hub")
        return Path(snapshot_download(name, allow_patterns=_file_patterns(weights), ignore_patterns=UNWANTED_FILES))
    except DryRunError as error:  # the hub gives no list; the reason is the cause
        folder = here(name, weights=weights)
        if folder is None:
            _refuse(name, error.__cause__ or error)
        return folder
    except (HTTPError, OSError, HFValidationError) as error:
        _refuse(name, error)


def _file_patterns(weights: bool) -> list[str]:
    return DESCRIPTION_FILES + (WEIGHT_FILES if weights else [])


def _check_room(name: str, missing: int) -> None:
    from huggingface_hub import constants

    cache = Path(constants.HF_HUB_CACHE)
    folder = next(path for path in (cache, *cache.parents) if path.is_dir())
    room = max(0, shutil.disk_usage(folder).free - SPARE_BYTES)
    if missing > room:
        raise ModelError(
            f"The model {name!r} needs {_gigabytes(missing)} from the hub, and the disk with {cache} has room for"
            f" {_gigabytes(room)}."
        )


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e8 else f"{size / 1e6:,.1f} MB"


def _refuse(name: str, error: BaseException) -> NoReturn:
    from httpx2 import TransportError
    from huggingface_hub.errors import (
        GatedRepoError,
        HFValidationError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
    )

    if isinstance(error, GatedRepoError):
        sentence = f"The model {name!r} is on the hub, but needs an account that may use it."
    elif isinstance(error, RepositoryNotFoundError | HFValidationError):
        sentence = f"There is no model called {name!r} on the hub."
    elif isinstance(error, LocalEntryNotFoundError | ConnectionError | TransportError):
        sentence = f"The model {name!r} is not on this machine and the hub cannot be reached."
    else:
        sentence = f"The model {name!r} cannot be fetched from the hub ({type(error).__name__})."
    raise ModelError(sentence) from error
