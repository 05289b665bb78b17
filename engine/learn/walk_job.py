"""Random walks made in a child process, as lessons are (`engine.learn.lessons`): JSON in, JSON out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from engine.learn.random_walks import random_walks
from engine.query import Limits
from engine.tokens.tokenizer import Tokenizer


def walk_payload(pattern: str, model: str, seed: int, draws: int, limits: Limits) -> dict[str, Any]:
    """What to ask `walk_job` for walks with the tokenizer of `model`."""
    return {"pattern": pattern, "model": model, "seed": seed, "draws": draws, "limits": limits.to_json()}


def walk_job(payload: Mapping[str, Any]) -> dict[str, Any]:
    """`random_walks` for a child process; nothing in, nothing out. Raises what that raises, and `ModelError` for a
    model that is unknown or not allowed.
    """
    if not payload:
        return {}
    walks = random_walks(
        payload["pattern"],
        _tokenizer(payload["model"]),
        draws=payload["draws"],
        seed=payload["seed"],
        limits=Limits.from_json(payload["limits"]),
    )
    return {"walks": walks.to_json()}


def warm_up() -> None:
    """What a new child does before its first job: the imports that take longest."""
    from engine.language import compile

    compile.warm_up()


@lru_cache(maxsize=2)
def _tokenizer(name: str) -> Tokenizer:
    from engine.models.loading import load_tokenizer

    return load_tokenizer(name, enforce_allow_list=True, fetch=False)
