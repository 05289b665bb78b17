"""The fuzzer for ten seconds; `python -m tests.attacks.fuzz` goes on for longer."""

from __future__ import annotations

import pytest

from tests.attacks.fuzz import _examples as examples
from tests.attacks.fuzz import anything, faults, fuzzed, mutated, specifications, valid_lines


@pytest.mark.parametrize("seconds", [10.0, pytest.param(90.0, marks=pytest.mark.slow)])
def test_inputs_that_nobody_thought_of_do_no_harm(tiny, tmp_path, seconds):
    with fuzzed(tmp_path / "fuzzed", tiny, seconds, seed=0) as report:
        print(report)
    assert report["accepted"] > 0
    assert report["refused"] > 0
    assert faults(report) == []


def test_the_same_seed_draws_the_same_inputs(tiny):
    assert str(examples(specifications(tiny), 5, 7)) == str(examples(specifications(tiny), 5, 7))
    assert str(examples(specifications(tiny), 5, 7)) != str(examples(specifications(tiny), 5, 8))


def test_the_files_that_are_changed_were_good(tiny):
    """Else everything would be refused for one and the same reason."""
    import random

    from relens.errors import RelensError
    from relens.runs.run_file import read_run
    from tests.attacks.made import packed

    read = 0
    for lines in valid_lines(tiny):
        try:
            read_run(packed(lines))
            read += 1
        except RelensError as error:
            print(error)
        values = iter(examples(anything, 10, 3))
        assert mutated(lines, 2, random.Random(1), lambda values=values: next(values, None)) != lines
    assert read > len(valid_lines(tiny)) // 2
