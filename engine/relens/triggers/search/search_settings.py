"""How a search for triggers goes, as settings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Literal, get_args

from relens.record import Record
from relens.setting import Setting, check_settings
from relens.triggers.shared_settings import SEED

Method = Literal["gibbs", "averaged", "global", "flips"]
METHODS: tuple[Method, ...] = get_args(Method)

METHOD = Setting(
    "Method",
    "**gibbs-enum**: the paper's, one place after the other. **Averaged gradients**: the same with a steadier guess of "
    "which words to try. **Global enumeration** and **greedy flips** are weaker ones to compare with.",
    choices={
        "gibbs": "gibbs-enum",
        "averaged": "gibbs-enum, averaged gradients",
        "global": "global enumeration",
        "flips": "greedy flips",
    },
)
SHORTLIST = Setting(
    "Words tried (G)",
    "At each place of the input, so many words that look best by the gradient are tried. More: better triggers, and "
    "longer.",
    least=1,
    most=200_000,
    ceiling=5_000,
)
SWEEPS = Setting(
    "Sweeps at most",
    "How often a search goes over all places of the input. It ends earlier when a sweep brings nothing.",
    least=1,
    most=10_000,
    ceiling=500,
)
RESTARTS = Setting(
    "Restarts",
    "Searches for each target, each from other words; the best is kept. Time grows in proportion.",
    least=1,
    most=1_000,
    ceiling=50,
)
SEARCH_SEED = replace(
    SEED,
    help="Another seed draws other targets and begins from other words; the same gives the same triggers.",
)


@dataclass(frozen=True)
class SearchSettings(Record):
    """method: "gibbs", "averaged" (the same with averaged gradients), "global" enumeration, or greedy "flips".

    shortlist: G, the words that are tried at a place ("flips" knows none). sweeps: T, at most so many; of "global" and
    "flips", which change the input as a whole, as many steps as there are places count as one. restarts: r.
    substitutes: gradients that are averaged. stop_at_hit: leave a target as soon as one restart has reached it; else
    each search goes on until a sweep brings nothing.
    """

    method: Annotated[Method, METHOD] = "gibbs"
    shortlist: Annotated[int, SHORTLIST] = 100
    sweeps: Annotated[int, SWEEPS] = 50
    restarts: Annotated[int, RESTARTS] = 10
    seed: Annotated[int, SEARCH_SEED] = 0
    substitutes: Annotated[
        int,
        Setting(
            "Gradients averaged",
            "Only with averaged gradients: how many words stand in at a place to see which way is better.",
            least=1,
            most=1_000,
            ceiling=100,
        ),
    ] = 8
    stop_at_hit: Annotated[
        bool,
        Setting(
            "Leave a target as soon as it is reached",
            "Quicker; without it the search goes on towards a clearer hit, and one by other hit types.",
        ),
    ] = False

    def __post_init__(self) -> None:
        check_settings(self)


#: The settings of the paper, and faster ones.
PAPER = SearchSettings()
QUICK = SearchSettings(shortlist=30, restarts=3)
