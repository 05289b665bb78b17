"""What every study of the catalogue does, from the day that it is listed there."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from relens.errors import QueryError
from relens.studies.catalogue import STUDIES, presets, study_class
from relens.studies.study import MOST_UNITS, Study

CASES = [
    pytest.param(study, id=f"{kind}, {name}")
    for kind in STUDIES
    for name, study in {"default": study_class(kind)(), **presets(kind)}.items()
]
#: Kinds whose default has nothing to do before somebody says what.
OPEN = {"prompt-check", "trigger-check"}


def test_describing_studies_and_reading_their_rows_needs_no_torch():
    program = (
        "import sys\n"
        "from relens.studies.catalogue import STUDIES, presets, study_class\n"
        "for kind in STUDIES:\n"
        "    study = study_class(kind)()\n"
        "    presets(kind), study.to_json(), study.verdict([])\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("study", CASES)
def test_a_study_survives_json(study):
    read = Study.from_json(json.loads(json.dumps(study.to_json())))
    assert read == study
    assert type(read) is type(study)


@pytest.mark.parametrize("study", [case for case in CASES if case.values[0].kind not in OPEN])
def test_units_have_keys_of_their_own_and_say_what_they_are(study):
    units = study.units()
    assert 1 <= len(units) <= MOST_UNITS
    assert len({unit.key for unit in units}) == len(units)
    assert all(unit.label.strip() for unit in units)
    assert study.units() == units


@pytest.mark.parametrize("kind", STUDIES)
def test_a_study_says_what_it_is_and_what_it_asks(kind):
    study = study_class(kind)
    assert study.kind == kind
    assert study.title
    assert study.question.endswith("?")
    assert study.__doc__


@pytest.mark.parametrize("kind", STUDIES)
def test_a_field_that_there_is_not_is_refused(kind):
    with pytest.raises(QueryError, match="nonsense"):
        study_class(kind).from_json({"nonsense": 1})


@pytest.mark.parametrize("kind", STUDIES)
def test_nothing_is_concluded_from_nothing(kind):
    sentences = study_class(kind)().verdict([])
    assert isinstance(sentences, tuple)
    assert all(sentence.endswith(".") for sentence in sentences)
    assert len(sentences) <= 2


def test_a_kind_that_there_is_not_is_refused():
    with pytest.raises(QueryError, match="not 'nonsense'"):
        study_class("nonsense")
