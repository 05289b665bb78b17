"""What a dialogue model may be called: its name is that of a folder, so `../secrets` and `.training` are none."""

from __future__ import annotations

import re

from engine.errors import QueryError

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


def is_name(name: str) -> bool:
    """Whether a model may be called so."""
    return _NAME.fullmatch(name) is not None


def check_name(name: str) -> None:
    """Raises `QueryError` where a model may not be called so."""
    if not is_name(name):
        raise QueryError(
            "The name of a dialogue model has small letters, digits, '.', '_' and '-', at most 64, and begins with a"
            f" letter or digit; {name[:80]!r} is none."
        )
