"""A model, a search and an inspection that cost nothing; the words of their query say what to do.

The pattern of a query is a script of words: "7" finds seven matches and is done; "forever" finds one match a poll and
never ends; "quiet" finds none and never ends; "draw" is silent for a few polls and then gives its whole sample at once;
"settle" finds three matches and ends at its tolerance; "refuse" raises a sentence; "bug", "memory" and "cuda" raise
what is no sentence; "hard" takes very long to compile.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from relens.errors import ModelError, QueryError
from relens.query import Query, ShortestPath, Traversal
from relens.runs.specification import InspectSpecification, SearchSpecification, StudySpecification
from relens.studies.study import StudyContext, StudyRun
from relens.traversal.results import Match, Progress

LONG_SECONDS = 60.0


def specification(pattern: str, model: str = "fake", traversal: Traversal | None = None) -> SearchSpecification:
    return SearchSpecification(model=model, query=Query(pattern=pattern), traversal=traversal or ShortestPath())


def match(number: int) -> Match:
    return Match(
        text=f"text {number}",
        prefix_text="",
        token_ids=(number,),
        prefix_tokens=0,
        prefix_log_prob=0.0,
        log_prob=-float(number),
        decoder_log_prob=-float(number),
        token_log_probs=(-float(number),),
        token_decoder_log_probs=(-float(number),),
        is_canonical=True,
        seconds=0.0,
    )


@dataclass(frozen=True)
class FakeModel:
    name: str
    fingerprint: str = "0123abcd"
    device: str = "cpu"
    dtype: str = "float32"


class FakeSearch:
    def __init__(self, script: str, stop: Callable[[], bool]) -> None:
        self._script = script
        self._stop = stop
        self._matches = 0
        self._polls = 0
        self.ended = ""

    @property
    def finished(self) -> bool:
        return bool(self.ended)

    @property
    def progress(self) -> Progress:
        return Progress(matches=self._matches, ended=self.ended)

    def poll(self, seconds: float) -> Sequence[Match]:
        if self._stop():
            self.ended = "stopped"
            return []
        if self._script == "bug":
            raise ZeroDivisionError("an accident")
        if self._script == "memory":
            raise MemoryError
        if self._script == "cuda":
            raise RuntimeError("CUDA error: device-side assert triggered")
        if self._script in ("forever", "quiet"):
            time.sleep(0.02)
            if self._script == "quiet":
                return []
            self._matches += 1
            return [match(self._matches)]
        if self._script == "draw":
            self._polls += 1
            if self._polls < 5:
                return []
            self._matches, self.ended = 3, "drawn"
            return [dataclasses.replace(match(number), count=10 * number, weight=0.5) for number in (1, 2, 3)]
        if self._script == "settle":
            self._matches, self.ended = 3, "tolerance"
            return [match(number) for number in (1, 2, 3)]
        self._matches = int(self._script)
        self.ended = "exhausted"
        return [match(number) for number in range(1, self._matches + 1)]


class FakeServices:
    def __init__(self) -> None:
        self.likely: str | None = None
        self.loaded: list[str] = []
        self.reclaimed = 0
        self.may_load = threading.Event()

    def prepare(self) -> None:
        pass

    def likely_model(self) -> str | None:
        return self.likely

    def check_model(self, name: str) -> None:
        if name == "missing":
            raise ModelError("There is no model called 'missing'.")

    def load_model(self, name: str, report: Callable[[str, float], None]) -> FakeModel:
        if name == "broken":
            raise ModelError("The model 'broken' has no weights.")
        report("Reading the weights", 0.5)
        if name == "slow":
            self.may_load.wait(LONG_SECONDS)
        self.loaded.append(name)
        return FakeModel(name)

    def begin_search(
        self, model: FakeModel, specification: SearchSpecification, stop: Callable[[], bool]
    ) -> FakeSearch:
        script = specification.query.pattern
        if script == "refuse":
            raise QueryError("This query has no meaning.")
        if script == "hard":
            time.sleep(LONG_SECONDS)
        return FakeSearch(script, stop)

    def begin_study(
        self, model: FakeModel, specification: StudySpecification, finished: Collection[str], stop: Callable[[], bool]
    ) -> StudyRun:
        unused: Any = model
        return StudyRun(specification.study, StudyContext(unused, stop=stop), finished)

    def inspect(self, model: FakeModel, specification: InspectSpecification) -> list[Mapping[str, Any]]:
        if 13 in specification.token_ids:
            raise ZeroDivisionError("an accident")
        return [{"token_id": token, "log_prob": None} for token in specification.token_ids]

    def reclaim_memory(self) -> None:
        self.reclaimed += 1

    def close(self) -> None:
        pass


if __name__ == "__main__":
    from relens.runs.worker import main

    raise SystemExit(main(services=FakeServices))
