"""How a search for triggers goes, as settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from engine.errors import LimitError, QueryError
from engine.query import Record
from engine.triggers.seeds import check_seed

Method = Literal["gibbs", "averaged", "global", "flips"]
METHODS: tuple[Method, ...] = get_args(Method)

#: The most that may be asked for.
MOST_SHORTLIST, MOST_SWEEPS, MOST_RESTARTS, MOST_SUBSTITUTES = 200_000, 10_000, 1_000, 1_000


@dataclass(frozen=True)
class SearchSettings(Record):
    """method: "gibbs", "averaged" (the same with averaged gradients), "global" enumeration, or greedy "flips".

    shortlist: G, the words that are tried at a place ("flips" knows none). sweeps: T, at most so many; of "global" and
    "flips", which change the input as a whole, as many steps as there are places count as one. restarts: r.
    substitutes: gradients that are averaged. stop_at_hit: leave a target as soon as one restart has reached it; else
    each search goes on until a sweep brings nothing.
    """

    method: Method = "gibbs"
    shortlist: int = 100
    sweeps: int = 50
    restarts: int = 10
    seed: int = 0
    substitutes: int = 8
    stop_at_hit: bool = False

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise QueryError(f"The method is one of {', '.join(METHODS)}, not {self.method!r}.")
        for name, most in (
            ("shortlist", MOST_SHORTLIST),
            ("sweeps", MOST_SWEEPS),
            ("restarts", MOST_RESTARTS),
            ("substitutes", MOST_SUBSTITUTES),
        ):
            value = getattr(self, name)
            if value < 1:
                raise QueryError(f"The search needs at least 1 for {name}, not {value}.")
            if value > most:
                raise LimitError(f"The search takes at most {most:,} for {name}, not {value:,}.", limit=name)
        check_seed(self.seed)


#: What the paper asks for, and what is done in a fraction of the time.
PAPER = SearchSettings()
QUICK = SearchSettings(shortlist=30, restarts=3)
