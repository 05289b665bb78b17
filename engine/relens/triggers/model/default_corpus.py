"""The corpus that comes with Relens: typed conversations of people getting to know each other.

    Hello / How are you doing today?        one turn, of two messages
    whats up MD / im doing good             the next one

The package `chitchat-dataset` (MIT License, Brigham Young University) has 7,168 conversations in one JSON file, which
is read without importing the package. A turn is the messages of one person in a row. A turn of more than forty words is
a speech; the conversation is cut there, so that no pair has one.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from sys import intern

from relens.errors import ModelError
from relens.triggers.model.corpus import MONOLOGUE_WORDS, Corpus, Dialogue, Words, split_corpus
from relens.triggers.model.vocabulary import words_of_text

NAME = "chitchat"
PACKAGE = "chitchat_dataset"


def default_corpus(test_share: float = 0.05, seed: int = 0, pairs: int | None = None) -> Corpus:
    """The corpus, split as `split_corpus` says (about 8 s). Raises `ModelError` without it."""
    return split_corpus(NAME, _dialogues(_file()), test_share, seed, pairs)


def _file() -> Path:
    specification = find_spec(PACKAGE)
    if specification is None or specification.origin is None:
        raise ModelError("The default corpus is not installed; `pip install --no-deps chitchat-dataset` brings it.")
    return Path(specification.origin).parent / "dataset.json"


def _dialogues(path: Path) -> tuple[Dialogue, ...]:
    try:
        conversations = json.loads(path.read_text(encoding="utf-8"))
        turns = [
            [" ".join(message["text"] for message in turn) for turn in conversation["messages"]]
            for conversation in conversations.values()
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"The default corpus {path} cannot be read ({type(error).__name__}).") from error
    return tuple(stretch for texts in turns for stretch in without_speeches([words_of_text(text) for text in texts]))


def without_speeches(turns: list[Words], longest: int = MONOLOGUE_WORDS) -> list[Dialogue]:
    """The stretches between turns of more than `longest` words; turns without words are passed over."""
    stretches: list[list[Words]] = [[]]
    for words in turns:
        if len(words) > longest:
            stretches.append([])
        elif words:
            stretches[-1].append(tuple(map(intern, words)))
    return [tuple(stretch) for stretch in stretches if stretch]
