"""Bounds on the probability that the decoder's output begins with a match.

Every sequence of tokens that the decoder can write is in one of four places: below a match that was found, below
something the search still holds open, outside the language, or cut by the rule. The first is a lower bound on this
probability, the first and second together an upper bound:

    found  <=  P(the output begins with a match)  <=  found + remaining

Each node weighs the probability with which the decoder comes by it. Opening a node replaces its weight by that of its
legal children; a match moves its weight from remaining to found, once: what extends a match is below it already.

These are sums of many terms of very different size, with subtractions: for a language of probability 1e-12 ordinary
floating point would drown the answer in the rounding of the first steps. So sums are kept exactly, as a list of
floats that do not overlap (Shewchuk, "Adaptive precision floating-point arithmetic", 1997; the method of
`math.fsum`, kept open).
"""

from __future__ import annotations

import math


class ExactSum:
    """A running sum of floats without rounding error."""

    def __init__(self, value: float = 0.0) -> None:
        self._parts = [value]

    def add(self, value: float) -> None:
        """Add `value` exactly."""
        parts = []
        for part in self._parts:
            larger, smaller = (value, part) if abs(value) >= abs(part) else (part, value)
            value = larger + smaller
            error = smaller - (value - larger)
            if error:
                parts.append(error)
        parts.append(value)
        self._parts = parts

    @property
    def value(self) -> float:
        """The sum, rounded once."""
        return math.fsum(self._parts)


class MassBounds:
    """What was found and what is still open, as probabilities of the decoder's output."""

    def __init__(self) -> None:
        self._found = ExactSum()
        self._remaining = ExactSum(1.0)

    def open(self, weight: float, legal_mass: float) -> None:
        """A node of this weight is replaced by its legal children, which take `legal_mass` of it between them."""
        self._remaining.add(-weight)
        self._remaining.add(weight * legal_mass)

    def drop(self, weight: float) -> None:
        """A node of this weight leads nowhere."""
        self._remaining.add(-weight)

    def find(self, weight: float) -> None:
        """A match of this weight was found that extends no other match."""
        self._remaining.add(-weight)
        self._found.add(weight)

    @property
    def found(self) -> float:
        """The lower bound."""
        return min(1.0, max(0.0, self._found.value))

    @property
    def remaining(self) -> float:
        """What may still be added to the lower bound."""
        return min(1.0 - self.found, max(0.0, self._remaining.value))
