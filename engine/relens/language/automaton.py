"""A deterministic automaton over bytes: the form in which every other room sees a regular language.

For `ca[tr]` the automaton has four states and the transitions

    0 --c--> 1 --a--> 2 --r,t--> 3        final: 3

kept as one table, `transitions[state, byte]`, with -1 where there is none. Text is UTF-8, so a character outside
ASCII is a path of two to four bytes, and the token automata can cut characters in the middle as tokenizers do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class ByteAutomaton:
    """A trim deterministic automaton over the bytes 0 to 255; state 0 is the start.

    Invariants: every state can be reached from the start and can reach a final state, but for the start of an empty
    language; the arrays are never written to once made.

    transitions: (states, 256) int32, -1 for none. final: (states,) bool. in_prefix: (states,) bool, whether the
    bytes read so far still begin some string of the query's prefix (all False where there is no prefix to mark).
    """

    transitions: npt.NDArray[np.int32]
    final: npt.NDArray[np.bool_]
    in_prefix: npt.NDArray[np.bool_]

    @property
    def states(self) -> int:
        """Number of states."""
        return len(self.final)

    @property
    def arcs(self) -> int:
        """Number of transitions, one a byte."""
        return int(np.count_nonzero(self.transitions >= 0))

    @property
    def is_empty(self) -> bool:
        """Whether no string at all is accepted."""
        return not self.final.any()

    def run(self, data: bytes, state: int = 0) -> int:
        """The state after reading `data` from `state`, or -1."""
        for byte in data:
            if state < 0:
                return -1
            state = int(self.transitions[state, byte])
        return state

    def accepts(self, text: str | bytes) -> bool:
        """Whether the whole of `text` belongs to the language; text that is not valid Unicode never does."""
        try:
            data = text.encode() if isinstance(text, str) else text
        except UnicodeEncodeError:
            return False
        state = self.run(data)
        return state >= 0 and bool(self.final[state])
