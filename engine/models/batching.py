"""How many nodes to compute in one forward: learnt while working.

A forward over two tokens costs little more than one over one, because the weights are read once for both; over four,
little more again. At some size the arithmetic units are full, and from there on twice the tokens take twice the time,
while a larger batch means more speculation on nodes that are never needed. Where that knee lies depends on the machine,
the model and the length of the texts, so it is measured: after each forward a search reports how many tokens took how
many seconds, and the best size is the smallest power of two whose double is not at least 5 % faster per token. Now and
then the double is tried again: texts grow longer, and a process's first forwards are slow for reasons of their own.
"""

from __future__ import annotations

import torch

#: The most nodes worth computing at once, by type of device.
CEILINGS = {"cpu": 64, "mps": 256, "cuda": 1024}

#: A doubling must raise the rate by this much to be kept.
WORTHWHILE = 1.05

#: After this many forwards of one size, what is known of its double is forgotten and the double tried again.
PATIENCE = 64

#: How much a new observation counts against the rate remembered.
NOVELTY = 0.3


class BatchSizer:
    """Chooses powers of two from 1 to a ceiling. O(1) a call."""

    def __init__(self, device: torch.device | str, start: int = 1) -> None:
        self.ceiling = CEILINGS.get(torch.device(device).type, CEILINGS["cpu"])
        self.size = min(max(1, start), self.ceiling)
        self._rates: dict[int, float] = {}
        self._forwards = 0

    def observe(self, size: int, seconds: float) -> None:
        """A forward over `size` new nodes took `seconds`; moves `size` by at most one doubling or halving.

        A forward is counted under the power of two at or below its size, as its own rate of nodes a second.
        """
        if size < 1 or seconds <= 0.0:
            return
        power = min(1 << (size.bit_length() - 1), self.ceiling)
        rate = size / seconds
        self._rates[power] = rate + (1 - NOVELTY) * (self._rates.get(power, rate) - rate)
        if power == self.size:
            self._forwards += 1
            if self._forwards >= PATIENCE:
                self._rates.pop(self.size * 2, None)
            self._reconsider()

    def _reconsider(self) -> None:
        """Move to half the size where this one is not worth it, else to the double where that is, or is not known."""
        here = self._rates[self.size]
        half, double = self._rates.get(self.size // 2), self._rates.get(self.size * 2)
        if half is not None and here < half * WORTHWHILE:
            self._move(self.size // 2)
        elif self.size < self.ceiling and (double is None or double >= here * WORTHWHILE):
            self._move(self.size * 2)

    def _move(self, size: int) -> None:
        self.size = size
        self._forwards = 0
