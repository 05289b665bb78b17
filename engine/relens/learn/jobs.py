"""Lessons, encodings and random walks made in a child process: an expression may take for ever.

    {"text": "the", "model": "smollm2-135m", "limits": {...}}   ->   {"answer": TextEncodings as JSON}

A child keeps the tables of the tokenizers it has used. Each job raises what its function raises, and `ModelError` for a
model that is unknown or not allowed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from relens.errors import RelensError
from relens.language import compile
from relens.learn.lesson import lesson
from relens.learn.random_walks import random_walks
from relens.learn.steps import LessonOptions
from relens.learn.text_encodings import text_encodings
from relens.models.catalogue import likely_model
from relens.models.loading import tokenizer_for_page
from relens.query import Limits


def lesson_job(payload: Mapping[str, Any]) -> dict[str, Any]:
    """`lesson` of a pattern, with options."""
    options, limits = LessonOptions.from_json(payload["options"]), Limits.from_json(payload["limits"])
    return {"answer": lesson(payload["pattern"], tokenizer_for_page(payload["model"]), options, limits).to_json()}


def text_encodings_job(payload: Mapping[str, Any]) -> dict[str, Any]:
    """`text_encodings` of a text."""
    return {"answer": text_encodings(payload["text"], tokenizer_for_page(payload["model"])).to_json()}


def walk_job(payload: Mapping[str, Any]) -> dict[str, Any]:
    """`random_walks` of a pattern, so many of a seed."""
    walks = random_walks(
        payload["pattern"],
        tokenizer_for_page(payload["model"]),
        draws=payload["draws"],
        seed=payload["seed"],
        limits=Limits.from_json(payload["limits"]),
    )
    return {"answer": walks.to_json()}


def warm_up() -> None:
    """Prepare a new child for its first job: the parser's tables, and those of the likely model's tokenizer."""
    compile.warm_up()
    with contextlib.suppress(RelensError):  # a job with that model raises it
        if (name := likely_model()) is not None:
            lesson("a", tokenizer_for_page(name))
