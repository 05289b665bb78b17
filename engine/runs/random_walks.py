"""Random walks for the dashboard: made in a limited child process, and remembered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.learn.random_walks import MOST_DRAWS, RandomWalks
from engine.learn.walk_job import walk_payload
from engine.query import Limits
from engine.runs.warm_answers import WarmAnswers

#: Walks are refused after so many seconds.
WALK_LIMITS = Limits(compile_seconds=12.0, regex_length=300)


class WalkAnswers(WarmAnswers[RandomWalks]):
    """Random walks computed in child processes; see `WarmAnswers`."""

    def __init__(self, pool_size: int = 1, call: Callable[[dict[str, Any]], Mapping[str, Any]] | None = None) -> None:
        super().__init__(
            "engine.learn.walk_job:walk_job",
            pool_size,
            warm_up="engine.learn.walk_job:warm_up",
            read=lambda reply: RandomWalks.from_json(reply["walks"]),
            subject="The random walks",
            call=call,
        )

    def walks(self, pattern: str, model: str, seed: int = 0, draws: int = MOST_DRAWS) -> RandomWalks:
        """The walks; raises what `engine.learn.random_walks.random_walks` raises, `ModelError` and `LimitError`."""
        return self.ask(walk_payload(pattern, model, seed, draws, WALK_LIMITS))
