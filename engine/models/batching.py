"""How many nodes to compute in one forward: learnt while working.

A forward over two tokens costs little more than one over one, because the weights are read once for both; over four,
little more again. At some size the arithmetic units are full, and from there on twice the tokens take twice the time,
while a larger batch means more speculation on nodes that are never needed. Where that knee lies depends on the machine,
the model and the length of the texts, so it is measured: after each forward a search reports how many tokens took how
many seconds, and the best size is the smallest power of two whose double is not at least 5 % faster per token.
"""

from __future__ import annotations

import torch

#: The most nodes worth computing at once, by type of device.
CEILINGS = {"cpu": 64, "mps": 256, "cuda": 1024}

#: A doubling must raise the rate by this much to be kept.
WORTHWHILE = 1.05

#: How much a new observation counts against the rate remembered.
NOVELTY = 0.3


class BatchSizer:
    """Chooses powers of two from 1 to a ceiling. O(1) a call."""

    def __init__(self, device: torch.device | str, start: int = 1) -> None:
        self.ceiling = CEILINGS.get(torch.device(device).type, CEILINGS["cpu"])
        self.size = min(max(1, start), self.ceiling)
        self._rates: dict[int, float] = {}

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
            self._reconsider()

    def _reconsider(self) -> None:
        here, half, double = (self._rates.get(size) for size in (self.size, self.size // 2, self.size * 2))
        if here is None:
            return
        if half is not None and here < half * WORTHWHILE:
            self.size //= 2
        elif self.size < self.ceiling and (double is None or double >= here * WORTHWHILE):
            self.size *= 2
