"""A study's run: units one after the other, rows as they come, and no unit twice."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest

from relens.errors import LimitError, ModelError
from relens.studies.rows import StudyRow, current_rows, done_units, rows_of
from relens.studies.study import MOST_UNITS, Study, StudyContext, StudyRun, Unit


@dataclass(frozen=True)
class Number(StudyRow):
    row_name: ClassVar[str] = "number"
    number: int


@dataclass(frozen=True)
class Counting(Study):
    kind: ClassVar[str] = "counting"
    title: ClassVar[str] = "Counting"
    question: ClassVar[str] = "How far?"

    counts: tuple[int, ...] = (2, 0, 3)
    log: list[str] = field(default_factory=list, compare=False)

    def plan(self) -> Iterator[Unit]:
        for place, count in enumerate(self.counts):
            yield Unit(f"{place}", f"to {count}")

    def carry_out(self, unit: Unit, context: StudyContext) -> Iterator[StudyRow | None]:
        self.log.append(unit.key)
        for number in range(self.counts[int(unit.key)]):
            yield None
            yield Number(number)
            if context.stop():
                return

    def close(self) -> None:
        self.log.append("closed")


def context(stop=lambda: False) -> StudyContext:
    model: Any = None
    return StudyContext(model, stop=stop)


def test_units_are_worked_on_in_order_and_each_tells_when_it_is_done():
    run = StudyRun(Counting(), context())
    rows = list(run)
    assert [(row["unit"], row["row"]) for row in rows] == [
        ("0", "begin"), ("0", "number"), ("0", "number"), ("0", "done"), ("1", "begin"), ("1", "done"),
        ("2", "begin"), ("2", "number"), ("2", "number"), ("2", "number"), ("2", "done"),
    ]  # fmt: skip
    assert run.finished
    assert run.progress.ended == "done"
    assert (run.progress.units, run.progress.units_done, run.progress.rows) == (3, 3, 11)
    assert [row["number"] for row in rows_of(rows, "number", "2")] == [0, 1, 2]


def test_what_is_done_is_not_done_again():
    study = Counting()
    rows = list(StudyRun(study, context()))
    cut = rows[:8]  # in the midst of the last unit
    assert done_units(cut) == {"0", "1"}
    study.log.clear()
    again = StudyRun(study, context(), finished=done_units(cut))
    assert again.progress.units_done == 2
    new = list(again)
    assert new == rows[6:]
    # What the last unit had told before it was cut short counts no more.
    assert [row["number"] for row in rows_of([*cut, *new], "number")] == [0, 1, 0, 1, 2]
    assert current_rows([*cut, *new]) == [*rows[:6], *new]
    assert study.log == ["2", "closed"]
    assert StudyRun(study, context(), finished={"0", "1", "2"}).finished


@pytest.mark.parametrize("looks", [0, 1, 4, 9])
def test_a_stop_leaves_the_unit_undone(looks):
    seen = iter([False] * looks + [True] * 100)
    study = Counting()
    run = StudyRun(study, context(lambda: next(seen)))
    rows = list(run)
    assert run.progress.ended == "stopped"
    assert study.log[-1:] == ["closed"]
    assert len(done_units(rows)) < 3
    assert rows == list(StudyRun(Counting(), context()))[: len(rows)]


def test_a_poll_gives_its_time_back():
    run = StudyRun(Counting((1_000_000,)), context())
    rows = run.poll(0.01)
    assert 0 < len(rows) < 1_000_000
    assert run.progress.unit == "to 1000000"
    assert not run.finished


@dataclass(frozen=True)
class Failing(Counting):
    def carry_out(self, unit: Unit, context: StudyContext) -> Iterator[StudyRow | None]:
        yield from super().carry_out(unit, context)
        if unit.key == "1":
            raise ModelError("The second model is missing.")


def test_rows_that_were_found_come_before_the_error_of_the_next_unit():
    study = Failing()
    run = StudyRun(study, context())
    rows = run.poll(60.0)
    assert study.log == ["0", "1", "closed"]
    assert rows == list(StudyRun(Counting(), context()))[:5]
    assert done_units(rows) == {"0"}
    assert run.progress.rows == len(rows)
    for _ in range(2):  # and the unit that failed is not taken for done, however often one asks
        assert not run.finished
        with pytest.raises(ModelError, match="second model"):
            run.poll(60.0)


def test_no_more_units_are_made_than_a_study_may_have():
    made: list[int] = []

    class Endless(Counting):
        def plan(self) -> Iterator[Unit]:
            for place in itertools.count():
                made.append(place)
                yield Unit(f"{place}", "one more")

    with pytest.raises(LimitError, match="20,000 pieces") as refused:
        Endless().units()
    assert refused.value.limit == "units"
    assert len(made) == MOST_UNITS + 1
