"""Lessons made in a child process: what anybody types may take for ever, and a page must not.

What the parent sends and gets is plain JSON. The tokenizer's tables stay with the child from one lesson to the next.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from engine.errors import RelensError
from engine.learn.lesson import lesson
from engine.learn.steps import LessonOptions
from engine.query import Limits
from engine.tokens.tokenizer import Tokenizer


def lesson_payload(pattern: str, model: str, options: LessonOptions, limits: Limits) -> dict[str, Any]:
    """What to ask `lesson_job` for a lesson with the tokenizer of `model`."""
    return {"pattern": pattern, "model": model, "options": options.to_json(), "limits": limits.to_json()}


def lesson_job(payload: Mapping[str, Any]) -> dict[str, Any]:
    """`lesson` for a child process: JSON in, JSON out; nothing in, nothing out. Raises what `lesson` raises, and
    `ModelError` for a model that is unknown or not allowed.
    """
    if not payload:
        return {}
    options, limits = LessonOptions.from_json(payload["options"]), Limits.from_json(payload["limits"])
    return {"lesson": lesson(payload["pattern"], _tokenizer(payload["model"]), options, limits).to_json()}


def warm_up() -> None:
    """What every new child does before its first job: the tables of the model that is probably asked for."""
    from engine.language import compile
    from engine.models.catalogue import Kind, available_models

    compile.warm_up()
    with contextlib.suppress(RelensError):  # whoever asks for that model will be told
        # Only one that is on this machine: nobody has asked for anything from the hub.
        for entry in [entry for entry in available_models() if entry.kind is not Kind.HUB][:1]:
            lesson("a", _tokenizer(entry.name))


@lru_cache(maxsize=4)
def _tokenizer(name: str) -> Tokenizer:
    from engine.models.loading import load_tokenizer

    return load_tokenizer(name, enforce_allow_list=True, fetch=False)
