"""A nondeterministic automaton over bytes that is run as it is, for languages too large to determinize.

`.*a.{30}` takes 2^31 deterministic states and 33 nondeterministic ones. To ask whether one string belongs to it, it is
enough to follow the set of states that the string can be in, byte after byte.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class NondeterministicAutomaton:
    """Arc i goes from sources[i] to destinations[i] on the bytes lows[i] to highs[i]; there are no silent arcs.

    State 0 is the start; final: (states,) bool. All columns (arcs,) int64.
    """

    sources: Integers
    lows: Integers
    highs: Integers
    destinations: Integers
    final: npt.NDArray[np.bool_]

    def accepts(self, text: str | bytes) -> bool:
        """Whether the whole of `text` belongs to the language; O(length x arcs)."""
        raise NotImplementedError
