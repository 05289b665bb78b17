"""A study that counts: each unit counts to its number, slowly with a `pause`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from relens.studies.rows import Rows, StudyRow
from relens.studies.study import Study, StudyContext, Unit


@dataclass(frozen=True)
class Count(StudyRow):
    row_name: ClassVar[str] = "count"
    count: int


@dataclass(frozen=True)
class Counts:
    counts: tuple[Count, ...]
    verdict: tuple[str, ...] = ()


@dataclass(frozen=True)
class CountingStudy(Study):
    kind: ClassVar[str] = "counting"
    title: ClassVar[str] = "Counting"
    question: ClassVar[str] = "How far?"

    counts: tuple[int, ...] = (2, 3)
    pause: float = 0.0

    def plan(self) -> Iterator[Unit]:
        for place, count in enumerate(self.counts):
            yield Unit(f"{place}", f"to {count}")

    def carry_out(self, unit: Unit, context: StudyContext) -> Iterator[StudyRow | None]:
        for number in range(self.counts[int(unit.key)]):
            time.sleep(self.pause)
            yield Count(number)
            if context.stop():
                return

    def findings(self, rows: Rows) -> Counts:
        return Counts(tuple(Count.all_in(rows)))
