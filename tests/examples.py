"""How many examples a property is tried with.

    @settings(max_examples=examples(600))

600 where somebody asks for a thorough run (`make thorough-tests`), and in an ordinary one, which is to take minutes, a
fifth of them, but no fewer than 40. An ordinary run tries other examples each time, except where a failure would stop
somebody else's work (CI). The properties on which exactness stands (`tests/engine/language`, `tokens`, `traversal`)
name their numbers without this: 60 examples of pairs of tokens have missed a mistake that 300 found.
"""

from __future__ import annotations

import os

FEW, MANY = 40, 100
THOROUGH = bool(os.environ.get("RELENS_THOROUGH"))


def examples(thorough: int = MANY) -> int:
    """The number of examples in this run; thorough: in a thorough one."""
    return thorough if THOROUGH else min(thorough, max(FEW, thorough // 5))
