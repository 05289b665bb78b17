"""The address of a run: the page of its variety, with parameters.

    a search                     workbench?run=4f3a...
    a study with a page          bias?run=4f3a...
    encodings of a text          tokens?run=4f3a...&tokens_text=The+cat&...
    samples of the model         tokens?samples=4f3a...&...
    a decoder's choices          automata?run=4f3a...&lesson=The+%28cat%7Cdog%29&...

Most pages take their settings from the run. Pages of lessons have fields of their own, which the address fills in.
"""

from __future__ import annotations

from dataclasses import dataclass

from relens.errors import QueryError
from relens.query import Decoding
from relens.runs.records import RunRecord
from relens.runs.specification import SearchSpecification, StudySpecification
from relens.studies.decoder_view import DecoderStudy
from relens.studies.encodings import EncodingsStudy
from relens.studies.replay import ReplayStudy
from relens.studies.study import Study
from relens_dashboard import lesson_parameters as parameters
from relens_dashboard import links
from relens_dashboard.study_views import study_views


@dataclass(frozen=True)
class Address:
    """page: its name in the address, such as "workbench". parameters: those after it, with the run."""

    page: str
    parameters: dict[str, str]


def address_of(run: RunRecord) -> Address | None:
    """The address of the run; None for a run without a page."""
    if run.kind == SearchSpecification.kind:
        return Address("workbench", {links.RUN: run.id})
    if run.kind != StudySpecification.kind:
        return None
    if run.variety in study_views() or run.variety == ReplayStudy.kind:
        return Address(run.variety, {links.RUN: run.id})
    try:
        study = StudySpecification.from_json(run.specification).study
    except QueryError:
        return None
    return _lesson_address(run, study)


def _lesson_address(run: RunRecord, study: Study) -> Address | None:
    if isinstance(study, EncodingsStudy):
        named = {links.RUN: run.id} if study.text else {}
        named |= {parameters.SAMPLES: run.id} if study.samples else {}
        fields = {parameters.TOKENS_MODEL: run.model}
        if study.text:
            fields |= {parameters.TOKENS_TEXT: study.text, parameters.TOKENS_PREFIX: study.prefix}
        return Address("tokens", named | {name: value for name, value in fields.items() if value})
    if isinstance(study, DecoderStudy) and _is_of_the_lesson(study):
        return Address(
            "automata",
            {
                links.RUN: run.id,
                parameters.LESSON: study.pattern,
                parameters.LESSON_MODEL: run.model,
                parameters.TOP_K: str(study.decoding.top_k),
            }
            | ({parameters.EDITS: "true"} if study.edits else {}),
        )
    return None


def _is_of_the_lesson(study: DecoderStudy) -> bool:
    """Whether the fields of the page can hold these settings; a terminal allows others too."""
    top_k = study.decoding.top_k
    return top_k is not None and study == DecoderStudy(study.pattern, edits=study.edits, decoding=Decoding(top_k=top_k))
