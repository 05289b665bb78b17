"""What a study's page needs of the study itself; the rest is the same for all (`components.study_page`).

    settings       widgets -> the study that they describe
    switches       widgets -> how the reader wants to see what was found
    figures        findings -> figures, each with a title and the sentence that it shows
    tables         findings -> tables
    draw_details   widgets that open one finding, or ask the model about it
    mask           what hides words in all that leaves the page

Figures and tables are functions of the study's findings, and so of the rows in the store, and of the switches. A page
that is followed live, one that is opened next year, and a report in a file show the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import pandas as pd

from relens.runs.study_checks import Checked
from relens.studies.masking import Masker
from relens.studies.study import Findings, Study
from relens_dashboard.charts import Chart

if TYPE_CHECKING:
    from relens.runs.records import RunRecord
    from relens_dashboard.services import Services

Rows = Sequence[Mapping[str, Any]]

StudyT = TypeVar("StudyT", bound=Study)
FindingsT = TypeVar("FindingsT", bound=Findings)


@dataclass(frozen=True)
class Figure:
    """title: a few words. sentence: what one should see in it, in plain words, numbers second."""

    title: str
    sentence: str
    chart: Chart


@dataclass(frozen=True, eq=False)
class Table:
    """title: a few words. frame: as it is shown; help: what a column tells, by its name, where that needs saying."""

    title: str
    frame: pd.DataFrame
    help: Mapping[str, str]


class StudyView(ABC, Generic[StudyT, FindingsT]):
    """What one study shows; a module `relens_dashboard.studies.<kind>` has one, of a subclass of this, as `VIEW`.

    study: of the kind of the view; findings: those that it has of the rows so far.
    """

    #: The kind of the study, as in `relens.studies.catalogue`.
    kind: str
    #: Two or three sentences for somebody who does not program: what is done, and what the answer means.
    introduction: str
    #: What has to be said before anything is shown, "" for nothing.
    notice: str

    @abstractmethod
    def settings(self, study: StudyT) -> StudyT:
        """Draw the widgets, with `study` as their first values, and return what they hold.

        Widgets have keys that begin with the study's kind. Raises `QueryError` for what has no meaning; what takes
        more than a look at the fields to tell is left to `Study.check`.
        """

    def extent(self, study: StudyT, checked: Checked) -> str:
        """How much the settings ask for, in sentences below them; "" for nothing. checked: what they come to."""
        return ""

    def switches(self) -> tuple[bool, ...]:
        """Draw the switches that change what is shown and not what is run, above the findings; how they stand."""
        return ()

    def mask(self, study: StudyT) -> Masker | None:
        """What hides words in whatever leaves the page, as the switches stand; None where nothing is hidden."""
        return None

    def own_model(self, study: StudyT) -> str:
        """Who is asked in place of a language model, of a study that needs none: what its run is listed under."""
        return study.title

    @abstractmethod
    def figures(self, findings: FindingsT, study: StudyT) -> list[Figure]:
        """The figures that these findings allow by now, the most telling first."""

    @abstractmethod
    def tables(self, findings: FindingsT, study: StudyT) -> list[Table]:
        """The tables that these findings allow by now."""

    def draw_details(self, services: Services, run: RunRecord, study: StudyT, findings: FindingsT) -> bool:
        """Draw what can be opened of the findings, under the figures; whether it waits for an answer of the worker."""
        return False
