"""The dialogue models there are, by name: each a folder of RELENS_DATA, which is read here without loading it.

    dialogue-models/chitchat/model.json     ->  chitchat: the corpus "chitchat", 80,000 pairs, perplexity 41

A name is that of a folder, so `../secrets` and `.training` are refused. Pages list the models, so this module does
without torch. `relens.triggers.model.dialogue_model` loads and checks a folder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from relens import settings
from relens.errors import QueryError
from relens.record import Record
from relens.studies.resumed import check_same_model
from relens.triggers.hits import Thresholds
from relens.triggers.model.vocabulary import WordVocabulary

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")

#: The description and the vocabulary in a model's folder, and the most bytes of each.
MODEL, VOCABULARY, MOST_JSON_BYTES = "model.json", "vocabulary.json", 32 << 20


@dataclass(frozen=True)
class Training(Record):
    """The training of a model, and its quality on held-out text.

    perplexity, sentence_perplexity: of a word of a reply, given the input, and by itself. unknown_share: the share of
    <unk> among the words.
    """

    corpus: str = ""
    corpus_fingerprint: str = ""
    pairs: int = 0
    test_pairs: int = 0
    perplexity: float | None = None
    sentence_perplexity: float | None = None
    unknown_share: float | None = None


@dataclass(frozen=True)
class ListedModel:
    """A dialogue model as its folder describes it."""

    name: str
    training: Training
    thresholds: Thresholds
    fingerprint: str


def is_name(name: str) -> bool:
    """Whether this may be the name of a model."""
    return _NAME.fullmatch(name) is not None


def check_name(name: str) -> None:
    """Raise `QueryError` for what may not be the name of a model."""
    if not is_name(name):
        raise QueryError(
            "The name of a dialogue model has small letters, digits, '.', '_' and '-', at most 64, and begins with a"
            f" letter or digit; {name[:80]!r} is none."
        )


def models_folder() -> Path:
    """The folder of all dialogue models."""
    return settings.data_folder() / "dialogue-models"


def model_folder(name: str) -> Path:
    """The folder of a model, which need not exist. Raises `QueryError` for what is no name."""
    check_name(name)
    return models_folder() / name


def model_names() -> tuple[str, ...]:
    """The names of all models."""
    if not models_folder().is_dir():
        return ()
    names = (path.name for path in models_folder().iterdir() if (path / MODEL).is_file())
    return tuple(sorted(name for name in names if is_name(name)))


def listed_model(name: str) -> ListedModel | None:
    """The model of that name by its description; None where none can be read."""
    try:
        description = _read(model_folder(name) / MODEL)
        training = Training.from_json(description.get("training", {}))
        thresholds = Thresholds.from_json(description.get("thresholds", {}))
    except (OSError, ValueError, RecursionError, QueryError):
        return None
    return ListedModel(name, training, thresholds, str(description.get("fingerprint", ""))[:64])


def check_listed_model(name: str, fingerprints: Iterable[object]) -> None:
    """Raise `ModelError` where the model of that name has a fingerprint other than these."""
    listed = listed_model(name)
    if listed is not None:  # without one, the study raises when it loads it
        check_same_model(name, fingerprints, listed.fingerprint)


def listed_vocabulary(name: str) -> WordVocabulary | None:
    """The vocabulary of the model of that name; None where none can be read."""
    try:
        path = model_folder(name) / VOCABULARY
        return _vocabulary(path, path.stat().st_mtime_ns)
    except (OSError, ValueError, RecursionError, QueryError):
        return None


@lru_cache(maxsize=4)
def _vocabulary(path: Path, _changed: int) -> WordVocabulary:
    return WordVocabulary.from_json(_read(path))


def _read(path: Path) -> dict[str, Any]:
    """The JSON object of a file. Raises `ValueError` for anything else, and for too large a file."""
    if path.stat().st_size > MOST_JSON_BYTES:
        raise ValueError(f"{path} is too large")
    read = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(read, dict):
        raise ValueError(f"{path} holds no object")
    return read
