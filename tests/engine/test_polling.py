"""Work that fails: the results before the error come first."""

from __future__ import annotations

import pytest

from relens.errors import ModelError
from relens.polling import Polled


class Failing(Polled[int]):
    """One number a step; the third step gives its number and fails."""

    steps = 0

    def _advance(self) -> None:
        self.steps += 1
        self._ready.append(self.steps)
        if self.steps == 3:
            raise ModelError("No memory is left.")


def test_a_poll_gives_the_results_before_the_error():
    run = Failing()
    assert run.poll(60.0) == [1, 2, 3]
    for _ in range(2):
        assert not run.finished
        with pytest.raises(ModelError, match="No memory"):
            run.poll(60.0)
    assert run.steps == 3


def test_iterating_gives_the_results_before_the_error():
    results = []
    with pytest.raises(ModelError, match="No memory"):
        results.extend(Failing())
    assert results == [1, 2, 3]
