"""Work that fails: what was found before is given first."""

from __future__ import annotations

import pytest

from engine.errors import ModelError
from engine.polling import Polled


class Failing(Polled[int]):
    """Finds one number a step, and fails at the third, in the midst of what it finds there."""

    steps = 0

    def _advance(self) -> None:
        self.steps += 1
        self._ready.append(self.steps)
        if self.steps == 3:
            raise ModelError("No memory is left.")


def test_a_poll_gives_what_was_found_before_the_error():
    run = Failing()
    assert run.poll(60.0) == [1, 2, 3]
    for _ in range(2):
        assert not run.finished
        with pytest.raises(ModelError, match="No memory"):
            run.poll(60.0)
    assert run.steps == 3


def test_so_does_iterating():
    found = []
    with pytest.raises(ModelError, match="No memory"):
        found.extend(Failing())
    assert found == [1, 2, 3]
