"""Settings of studies checked here against the study itself, and in child processes that may be killed."""

from __future__ import annotations

import dataclasses
import time

import pytest

from relens.errors import LimitError, QueryError, RegexError, RelensError
from relens.runs import study_checks
from relens.runs.sizes import LONGEST_TEXT
from relens.runs.study_checks import StudyChecks, check_job
from relens.studies.catalogue import STUDIES, presets, study_class
from relens.studies.cloze import ClozeStudy
from relens.studies.knowledge import KnowledgeStudy
from relens.studies.memorization import MemorizationStudy


def counting_checks():
    payloads = []

    def call(payload):
        payloads.append(payload)
        return check_job(payload)

    return StudyChecks(call=call), payloads


def outcome(count, study) -> tuple:
    try:
        return ("units", count(study))
    except RelensError as error:
        return (type(error), error.sentence)


@pytest.mark.parametrize("kind", STUDIES)
def test_units_are_those_of_the_study_and_errors_too(kind):
    checks, _ = counting_checks()
    for study in presets(kind).values() or [study_class(kind)()]:
        assert outcome(lambda one: checks.check(one).units, study) == outcome(lambda one: len(one.units()), study)


def test_settings_that_are_too_large_are_not_sent():
    checks, payloads = counting_checks()
    with pytest.raises(LimitError) as refused:
        checks.check(MemorizationStudy(pattern="a" * (LONGEST_TEXT + 1)))
    assert refused.value.limit == "text"
    assert not payloads


def test_a_file_is_read_again_and_settings_are_checked_once(tmp_path, monkeypatch):
    checks, payloads = counting_checks()
    for _ in range(3):
        checks.check(KnowledgeStudy())
    assert len(payloads) == 1
    monkeypatch.setenv("RELENS_TEXTS", str(tmp_path))
    path = tmp_path / "passages.txt"
    path.write_text("The end of this passage is near.\n" * 3)
    study = ClozeStudy(path=str(path))
    assert checks.check(study).counts == {"passages": 3, "unanswerable": 0}
    path.write_text("".join(f"The end of passage {number} is near.\n" for number in range(300)))
    checked = checks.check(study)
    assert checked.units == len(study.units())
    assert checked.counts == {"passages": 300, "unanswerable": 0}


def test_a_file_elsewhere_is_refused_before_it_is_read(tmp_path):
    checks, _ = counting_checks()
    with pytest.raises(QueryError, match="may not read"):
        checks.check(ClozeStudy(path=str(tmp_path / "not there.txt")))


def test_in_child_processes(monkeypatch):
    checks = StudyChecks(pool_size=1)
    try:
        study = MemorizationStudy(new_tokens=(1, 2))
        assert checks.check(study).units == 3
        begun = time.perf_counter()
        assert checks.check(dataclasses.replace(study, seed=1)).units == 3
        assert time.perf_counter() - begun < 2.0, "a warm child answers at once"
        with pytest.raises(RegexError) as refused:
            checks.check(dataclasses.replace(study, pattern="b{" + "1" * 19_900 + "xa{99999999999}"))
        assert (refused.value.position, refused.value.part) == (19_904, "pattern")
        hurried = dataclasses.replace(study_checks.CHECK_LIMITS, compile_seconds=0.001)
        monkeypatch.setattr(study_checks, "CHECK_LIMITS", hurried)
        with pytest.raises(LimitError, match="Checking the settings took longer"):
            checks.check(dataclasses.replace(study, pattern="a?" * 9_000))
    finally:
        checks.close()


def test_no_child_is_started_before_the_first_check_or_after_the_end(monkeypatch):
    started = []
    monkeypatch.setattr("relens.runs.warm_answers.IsolatedPool", lambda *_, **__: started.append(1))
    checks = StudyChecks()
    checks.close()
    with pytest.raises(RelensError, match="failed inside Relens"):
        checks.check(KnowledgeStudy())
    assert not started
