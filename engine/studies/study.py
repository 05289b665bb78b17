"""What all studies have in common: a typed specification, independent units of work, and rows that say everything.

A study of bias asks eight variants of one query; a cloze test asks hundreds of passages. Each variant, each chunk of
passages, is a unit that needs nothing of the others:

    BiasStudy(...)  ->  units   "canonical, prefix"   "all, prefix"   ...
                        rows    {"unit": "canonical, prefix", "row": "begin"}
                                {"unit": "canonical, prefix", "row": "match", "subject": "man", ...}
                                {"unit": "canonical, prefix", "row": "done"}

So a run that was cut short goes on with the units that are not done, units can be spread over machines, and figures,
verdict and report are functions of the rows alone: whoever has the rows has the study. Rows are only ever added; what
a unit that was cut short had told counts no more once it begins again.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, cast, final

from engine.errors import LimitError, QueryError, StoppedError
from engine.polling import Polled
from engine.record import Record
from engine.setting import check_settings
from engine.studies.rows import BEGIN, DONE, ROW, UNIT, Row, Rows, StudyRow

if TYPE_CHECKING:
    from engine.models.language_model import LanguageModel
    from engine.tokens.compiled import Compiler

#: Units of one study. Settings multiply: ten thousand targets with a thousand seeds each are ten million units.
MOST_UNITS = 20_000


@dataclass(frozen=True)
class Unit(Record):
    """One piece of a study that needs nothing of the others. key: the same in every run; label: in plain words."""

    key: str
    label: str


@dataclass(frozen=True)
class StudyContext:
    """What a unit works with. compiler: as in `search`; stop: whether to leave off."""

    model: LanguageModel
    compiler: Compiler | None = None
    stop: Callable[[], bool] = lambda: False


class Findings(Protocol):
    """What the rows of a study say; each study has its own, with what its figures and tables need."""

    @property
    def verdict(self) -> tuple[str, ...]:
        """Plain sentences, the most important first."""
        ...


class Study(Record):
    """A study as it is asked for: a frozen dataclass whose fields are its settings, with defaults for all.

    Source of each: ReLM section 4. A subclass has a `kind`, declares its settings (`engine.setting`), plans its units,
    and carries one out.
    """

    kind: ClassVar[str]
    #: What it is called, and what it finds out, for people.
    title: ClassVar[str]
    question: ClassVar[str]
    #: Whether it asks the language model of the context; a study that trains a model of its own does not.
    needs_model: ClassVar[bool] = True

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The study back from `to_json`; of `Study` itself, whichever its kind says. Raises `QueryError`."""
        if cls is not Study:
            return super().from_json(data)
        from engine.studies.catalogue import study_class

        if not isinstance(data, Mapping):
            raise QueryError(f"A study is described by a JSON object, not by {type(data).__name__}.")
        found = study_class(data.get("kind")).from_json(data)
        return cast(Self, found)

    def __post_init__(self) -> None:
        """Check each setting as it is declared; a subclass adds what several settings must be together."""
        check_settings(self)

    def check(self) -> None:
        """Raise `QueryError` or `LimitError` for what takes work to find: expressions, and files that settings name."""

    @abstractmethod
    def plan(self) -> Iterable[Unit]:
        """The units in the order in which to work on them, made one by one: `units` takes no more than it allows."""

    @final
    def units(self) -> tuple[Unit, ...]:
        """The units, once the settings are checked.

        Raises what `check` raises, and `LimitError` for more than `MOST_UNITS`, of which no more are made than that.
        """
        self.check()
        units = tuple(islice(self.plan(), MOST_UNITS + 1))
        if len(units) > MOST_UNITS:
            raise LimitError(
                f"These settings make more than the {MOST_UNITS:,} pieces that a study may have.", limit="units"
            )
        return units

    @abstractmethod
    def carry_out(self, unit: Unit, context: StudyContext) -> Iterator[StudyRow | None]:
        """The rows of one unit as they are found, without their unit; None now and then while nothing is found.

        Between two of them there is at most a forward or two, so that a stop is noticed soon. What ends early because
        `context.stop` says so is not done. Raises the errors of the engine.
        """

    def files(self) -> tuple[str, ...]:
        """The files and folders that the study reads, as its settings name them."""
        return ()

    def check_resumed(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Raise `ModelError` where what is done cannot be gone on with here: it was done with another model.

        rows: those found so far. The model of the context is looked at by whoever loads it; a study that names a model
        itself looks at that one.
        """

    def findings(self, rows: Rows) -> Findings:
        """What the rows say, which may be those of a study that is not finished. Raises `QueryError` for foreign rows.

        Sentences, figures, tables and the report are made of this alone.
        """
        from engine.studies import catalogue  # which knows where each study's findings are

        return catalogue.findings(self, rows)

    @final
    def verdict(self, rows: Rows) -> tuple[str, ...]:
        """The findings in plain sentences, and what they do not carry; () of a study that draws none."""
        return self.findings(rows).verdict

    def close(self) -> None:
        """Give back what was kept from one unit for the next; called when no more of them come."""


@dataclass(frozen=True)
class StudyProgress(Record):
    """The account of a study so far. unit: the label of what it is at. seconds of work, of this run.

    ended: "" while it runs, "done", or "stopped".
    """

    units: int = 0
    units_done: int = 0
    unit: str = ""
    rows: int = 0
    seconds_total: float = 0.0
    ended: str = ""


class StudyRun(Polled[Row]):
    """A study in progress, whose results are rows, each with its "unit".

    finished: keys of the units that an earlier run has done, which are not done again. Work that was given up in its
    midst because of `StudyContext.stop` is no error: the study has stopped.
    """

    def __init__(self, study: Study, context: StudyContext, finished: Collection[str] = ()) -> None:
        super().__init__()
        self._context = context
        self._study = study
        self._units = study.units()
        self._open = [unit for unit in self._units if unit.key not in finished]
        self._unit_rows: Iterator[StudyRow | None] = iter(())
        self._unit: Unit | None = None
        self._rows = 0
        self._seconds = 0.0
        self._ended = "" if self._open else "done"

    @property
    def progress(self) -> StudyProgress:
        """The account so far, of the rows that were handed out."""
        return StudyProgress(
            units=len(self._units),
            units_done=len(self._units) - len(self._open) - (self._unit is not None),
            unit=self._unit.label if self._unit is not None else "",
            rows=self._rows - len(self._ready),
            seconds_total=self._seconds,
            ended="" if self._ready else self._ended,
        )

    def _advance(self) -> None:
        """The next row of the unit under way, or the first of the next unit."""
        begun = time.perf_counter()
        try:
            row = self._next_row()
        except StoppedError:
            self._end("stopped")
        except BaseException:
            self._study.close()
            raise
        else:
            if row is not None:
                self._ready.append(row)
                self._rows += 1
        finally:
            self._seconds += time.perf_counter() - begun

    def _next_row(self) -> Row | None:
        if self._context.stop():
            raise StoppedError("The study was stopped.")
        if self._unit is None:
            self._unit = self._open.pop(0)
            self._unit_rows = self._study.carry_out(self._unit, self._context)
            return {UNIT: self._unit.key, ROW: BEGIN}
        for row in self._unit_rows:
            return None if row is None else row.to_json() | {UNIT: self._unit.key}
        if self._context.stop():
            raise StoppedError("The study was stopped.")
        done = {UNIT: self._unit.key, ROW: DONE}
        self._unit = None
        if not self._open:
            self._end("done")
        return done

    def _end(self, how: str) -> None:
        self._ended = how
        self._study.close()
