"""Which models there are, which of them the operator allows, and where a name leads.

A model is named in one of three ways:

    smollm2-135m                    the embedded model, always at hand
    /data/models/mine, ./mine, ~/m  a folder in the layout of the Hugging Face libraries
    gpt2, Qwen/Qwen2.5-0.5B         anything else is a name on the model hub, fetched by a run with it

The Python API and the command line load any model. The dashboard is open to people whom the operator may not know, so
it loads only models that match the patterns of `RELENS_MODELS`. Folders are compared by their real absolute
path, after `..` and symbolic links are gone: with `/data/models/*` allowed, `/data/models/../secret` is not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path

from relens import settings
from relens.errors import ModelError
from relens.models import embedded

HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?", re.ASCII)


class Kind(StrEnum):
    """Where a model's files come from."""

    EMBEDDED = "embedded"
    FOLDER = "folder"
    HUB = "hub"


@dataclass(frozen=True)
class CatalogueEntry:
    """A model as it is offered to a person. `location` is the folder or the name on the hub, "" when embedded."""

    name: str
    title: str
    description: str
    kind: Kind
    location: str


def _hub(name: str, title: str, description: str) -> CatalogueEntry:
    return CatalogueEntry(name, title, description, Kind.HUB, name)


KNOWN = (
    CatalogueEntry(
        embedded.NAME,
        "SmolLM2 135M Instruct",
        "Comes with Relens: small, quick on a CPU, needs no download.",
        Kind.EMBEDDED,
        "",
    ),
    _hub("gpt2", "GPT-2 (124M)", "The small model of the ReLM paper."),
    _hub("gpt2-medium", "GPT-2 Medium (355M)", "Between the two models of the ReLM paper."),
    _hub("gpt2-large", "GPT-2 Large (774M)", "Between the two models of the ReLM paper."),
    _hub("gpt2-xl", "GPT-2 XL (1.5B)", "The large model of the ReLM paper; best on a GPU."),
    _hub("distilgpt2", "DistilGPT-2 (82M)", "A distilled GPT-2."),
    _hub("HuggingFaceTB/SmolLM2-360M", "SmolLM2 360M", "The next size of the embedded model's family, not instructed."),
    _hub("HuggingFaceTB/SmolLM2-1.7B", "SmolLM2 1.7B", "The largest of the embedded model's family; best on a GPU."),
    _hub("Qwen/Qwen2.5-0.5B", "Qwen2.5 0.5B", "Many languages; trained without a begin-of-text token."),
    _hub("Qwen/Qwen2.5-1.5B", "Qwen2.5 1.5B", "Many languages; best on a GPU."),
)


def available_models() -> tuple[CatalogueEntry, ...]:
    """The models of the dashboard: the known ones that are allowed, then the allowed folders and names without `*`."""
    known = tuple(entry for entry in KNOWN if is_allowed(entry.name))
    listed = {entry.name for entry in known}
    others = [name for name in settings.allowed_models() if name not in listed and not _has_wildcard(name)]
    return known + tuple(resolve(name) for name in others if _is_folder(name) or HUB_NAME.fullmatch(name))


def likely_model() -> str | None:
    """The model that will probably be used: the first one on this machine, so that none has to be fetched."""
    return next((entry.name for entry in available_models() if entry.kind is not Kind.HUB), None)


def resolve(name: str) -> CatalogueEntry:
    """The catalogue entry of any name or folder; whether its files exist is not looked at.

    Raises `ModelError` for a name that can be none of the three kinds.
    """
    for entry in KNOWN:
        if name == entry.name:
            return entry
    if _is_folder(name):
        try:
            path = Path(name).expanduser().resolve()
        except (OSError, RuntimeError, ValueError) as error:  # no such home, too long, or no text for a file system
            raise ModelError(f"{_shown(name)} is no folder that there can be.") from error
        return CatalogueEntry(name, path.name, f"The model in {path}.", Kind.FOLDER, str(path))
    if not HUB_NAME.fullmatch(name) or ".." in name:
        raise ModelError(f"{_shown(name)} is neither a known model, nor a folder, nor a name on the model hub.")
    return _hub(name, name, "A model from the hub.")


def is_allowed(name: str) -> bool:
    """Whether the operator's list lets the dashboard load this name or folder."""
    try:
        entry = resolve(name)
    except ModelError:
        return False
    patterns = settings.allowed_models()
    if entry.kind is not Kind.FOLDER:
        return any(fnmatchcase(entry.name, pattern) for pattern in patterns)
    return any(fnmatchcase(entry.location, _real(pattern)) for pattern in patterns if _is_folder(pattern))


def check_allowed(name: str) -> None:
    """Raise `ModelError` for a model that the operator's list does not contain."""
    if not is_allowed(name):
        raise ModelError(f"The model {_shown(name)} is not among those that this server may load (RELENS_MODELS).")


def _shown(name: str) -> str:
    return repr(name if len(name) <= 200 else name[:200] + "...")


def _is_folder(name: str) -> bool:
    if name.startswith(("/", "./", "../", "~")) or name in (".", ".."):
        return True
    try:
        return name != "" and Path(name).is_dir()
    except (OSError, ValueError):  # longer than a file system's names, or no text that it takes
        return False


def _has_wildcard(pattern: str) -> bool:
    return any(sign in pattern for sign in "*?[")


def _real(pattern: str) -> str:
    """A folder pattern with the part before its first wildcard made absolute and real."""
    parts = Path(pattern).expanduser().absolute().parts
    fixed = next((index for index, part in enumerate(parts) if _has_wildcard(part)), len(parts))
    return str(Path(*parts[:fixed]).resolve().joinpath(*parts[fixed:]))
