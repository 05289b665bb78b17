"""What all studies have in common: typed settings, independent units of work, and rows that hold all results.

A study of bias has eight variants of one query; a cloze test has hundreds of passages. Each variant, and each chunk of
passages, is a unit that needs no other one:

    BiasStudy(...)  ->  units   "canonical, prefix"   "all, prefix"   ...
                        rows    {"unit": "canonical, prefix", "row": "begin"}
                                {"unit": "canonical, prefix", "row": "match", "subject": "man", ...}
                                {"unit": "canonical, prefix", "row": "done"}

So a run that was cut short is resumed with the units that are not done, units can be spread over machines, and
findings, figures and report are functions of the rows alone. Rows are only added: when a unit that was cut short begins
again, its earlier rows no longer count (`rows.current_rows`).
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, cast, final

from relens.errors import LimitError, QueryError, StoppedError
from relens.polling import Polled
from relens.record import Record
from relens.setting import check_settings
from relens.studies.rows import BEGIN, DONE, ROW, UNIT, Row, Rows, StudyRow

if TYPE_CHECKING:
    from relens.models.language_model import LanguageModel
    from relens.tokens.compiled import Compiler

#: Units of one study. Settings multiply: ten thousand targets with a thousand seeds each are ten million units.
MOST_UNITS = 20_000


@dataclass(frozen=True)
class Unit(Record):
    """One piece of a study that needs no other one. key: the same in every run; label: in plain words."""

    key: str
    label: str


@dataclass(frozen=True)
class StudyContext:
    """The model and the tools of a unit. compiler: as in `search`; stop: whether to end the work."""

    model: LanguageModel
    compiler: Compiler | None = None
    stop: Callable[[], bool] = lambda: False


class Findings(Protocol):
    """The findings of a study; each study has its own class, with all that its figures and tables need."""

    @property
    def verdict(self) -> tuple[str, ...]:
        """Plain sentences, the most important first."""
        ...


class Study(Record):
    """The settings of a study: a frozen dataclass with defaults for all fields.

    Source of each: ReLM section 4. A subclass has a `kind`, declares its settings (`relens.setting`), plans its units,
    and carries one out.
    """

    kind: ClassVar[str]
    #: Its name, and its question, on pages.
    title: ClassVar[str]
    question: ClassVar[str]
    #: Whether it uses the language model of the context; a study that trains a model of its own does not.
    needs_model: ClassVar[bool] = True

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The study back from `to_json`; of `Study` itself, whichever its kind says. Raises `QueryError`."""
        if cls is not Study:
            return super().from_json(data)
        from relens.studies.catalogue import study_class

        if not isinstance(data, Mapping):
            raise QueryError(f"A study is described by a JSON object, not by {type(data).__name__}.")
        return cast(Self, study_class(data.get("kind")).from_json(data))

    def __post_init__(self) -> None:
        """Check each setting as it is declared; a subclass adds the rules for several settings together."""
        check_settings(self)

    def check(self) -> None:
        """Check what takes work: expressions, and files that settings name. Raises `QueryError` and `LimitError`."""

    @abstractmethod
    def plan(self) -> Iterable[Unit]:
        """The units in the order of work, made one by one: `units` takes no more than `MOST_UNITS`."""

    @final
    def units(self) -> tuple[Unit, ...]:
        """The units, after a check of the settings.

        Raises what `check` raises, and `LimitError` for more than `MOST_UNITS` units.
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
        """The rows of one unit as they come, without their unit; None after a forward or two without a row.

        So a stop is noticed soon. A unit that ends early because of `context.stop` is not done. Raises the errors of
        the engine.
        """

    def files(self) -> tuple[str, ...]:
        """The files and folders that the study reads, as its settings name them."""
        return ()

    def check_resumed(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Raise `ModelError` where the study cannot be resumed here, because its units were done with another model.

        rows: all so far. The model of the context is checked by the worker; a study that names a model in its settings
        checks that one.
        """

    def findings(self, rows: Rows) -> Findings:
        """The findings of these rows, also of an unfinished study. Raises `QueryError` for foreign rows.

        Sentences, figures, tables and the report are made of this alone.
        """
        from relens.studies import catalogue  # here, since it imports the modules of findings

        return catalogue.findings(self, rows)

    @final
    def verdict(self, rows: Rows) -> tuple[str, ...]:
        """The findings in plain sentences, and what they do not carry; () of a study that draws none."""
        return self.findings(rows).verdict

    def close(self) -> None:
        """Release what one unit kept for the next; called after the last unit."""


@dataclass(frozen=True)
class StudyProgress(Record):
    """The account of a study so far. unit: the label of the present one. seconds_total: of work, in this run.

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

    finished: keys of the units that an earlier run has done, which are not done again. A unit that ends because of
    `StudyContext.stop` is no error: the study has stopped.
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
        """The account so far, of the rows that were taken."""
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
