"""Which seeds a study takes: so small that torch, which counts to 2 to the 64th, takes them with an epoch added."""

from __future__ import annotations

from engine.errors import QueryError

MOST_SEED = 2**53


def check_seed(seed: int) -> None:
    """Raises `QueryError` for a number that is no seed."""
    if seed < 0:
        raise QueryError(f"The seed is at least 0, not {seed}.")
    if seed > MOST_SEED:
        raise QueryError(f"The seed is at most {MOST_SEED:,}.")
