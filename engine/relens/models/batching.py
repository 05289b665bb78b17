"""How many nodes to compute in one forward: learnt while working.

A forward over two tokens costs little more than one over one, because the weights are read once for both; over four,
little more again. At some size the arithmetic units are full, and from there on twice the tokens take twice the time,
while a larger batch means more speculation on nodes that are never needed. Where that knee lies depends on the machine,
the model and the length of the texts, so it is measured: after each forward a search reports how many tokens took how
many seconds.

A search begins with few nodes and has more the longer it runs, so the sizes on the way up are seen anyway. A size is
therefore taken for worthwhile until it was seen not to be: the size to use is the ceiling, unless some smaller power of
two is known to be as fast a token as everything above it that was tried. Single forwards are slow for reasons of their
own, so a rate is the median of the last few.
"""

from __future__ import annotations

from collections import defaultdict, deque
from statistics import median

import torch

#: The most nodes worth computing at once, by type of device.
CEILINGS = {"cpu": 64, "mps": 256, "cuda": 1024}

#: A larger batch must be faster by this factor.
WORTHWHILE = 1.05

#: How many forwards of a size a judgement needs, and how many it remembers.
FEWEST, REMEMBERED = 3, 7

#: After this many forwards at one size, what is known of larger ones is forgotten, and they are tried again.
PATIENCE = 64


class BatchSizer:
    """Chooses powers of two up to a ceiling. O(1) a call."""

    def __init__(self, device: torch.device | str) -> None:
        self.ceiling = CEILINGS.get(torch.device(device).type, CEILINGS["cpu"])
        self.size = self.ceiling
        self._rates: dict[int, deque[float]] = defaultdict(lambda: deque(maxlen=REMEMBERED))
        self._forwards = 0

    def observe(self, size: int, seconds: float) -> None:
        """A forward over `size` new nodes took `seconds`, and counts under the power of two at or below its size."""
        if size < 1 or seconds <= 0.0:
            return
        power = min(1 << (size.bit_length() - 1), self.ceiling)
        self._rates[power].append(size / seconds)
        # A forward may be larger than `size`: a chain of forced tokens comes along whole.
        self._forwards += power >= self.size
        if self._forwards >= PATIENCE:
            self._forwards = 0
            for larger in [known for known in self._rates if known > self.size]:
                del self._rates[larger]
        self.size = self._best()

    def _best(self) -> int:
        rates = {power: median(seen) for power, seen in self._rates.items() if len(seen) >= FEWEST}
        if not rates:
            return self.ceiling
        fastest = max(rates.values())
        best = min(power for power, rate in rates.items() if rate * WORTHWHILE > fastest)
        return self.ceiling if best == max(rates) else best
