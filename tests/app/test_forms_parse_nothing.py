"""A child checks forms: their pages draw without the parser of expressions, and wait for the result."""

from __future__ import annotations

import dataclasses

import pytest

from relens.runs.specification import StudySpecification
from relens.runs.study_checks import Checked
from relens.studies.bias import BiasStudy
from relens.studies.knowledge import KnowledgeStudy
from relens.studies.memorization import MemorizationStudy
from relens.studies.validators import OfForm
from relens_dashboard.study_check import StudyCheck
from relens_dashboard.study_views import study_views

HOSTILE = "b{" + "1" * 1_500 + "xa{99999999999}"
STUDIES = [
    BiasStudy(subjects=(HOSTILE, "b"), outcomes=("c", HOSTILE)),
    KnowledgeStudy(pattern=HOSTILE),
    MemorizationStudy(prefix=HOSTILE, pattern=HOSTILE, validator=OfForm(HOSTILE)),
]


@pytest.fixture
def unparsed(services, monkeypatch):
    """Services that count 7 units of any study; parsing an expression fails the test."""

    def refuse(*_, **__):
        raise AssertionError("an expression was parsed")

    monkeypatch.setattr("relens.language.syntax._judge", refuse)
    monkeypatch.setattr(
        type(services.study_checks), "check", lambda checks, study: Checked(7, {"passages": 1, "unanswerable": 0})
    )
    return services


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.kind)
def test_a_study_is_drawn_and_submitted_without_the_parser(study, dashboard, unparsed):
    run_id = unparsed.store.submit(StudySpecification("m", study))
    unparsed.store.change(run_id, status="done")
    dashboard.run()
    dashboard.switch_page(f"../../pages/{study.kind}.py")
    dashboard.query_params["run"] = run_id
    page = dashboard.run()
    assert not page.exception
    assert [error.value for error in page.error] == []
    assert not page.button(key="study_run_button").disabled


@pytest.mark.parametrize("kind", sorted(set(study_views()) - {"replay"}))
def test_every_form_is_drawn_without_the_parser(kind, dashboard, unparsed):
    dashboard.run()
    page = dashboard.switch_page(f"../../pages/{kind.replace('-', '_')}.py").run()
    assert not page.exception


def test_a_page_that_waits_says_so_and_cannot_run(dashboard, services, monkeypatch):
    monkeypatch.setattr(StudyCheck, "check", lambda check, study: None)
    dashboard.run()
    page = dashboard.switch_page("../../pages/bias.py").run()
    assert not page.exception
    assert any("still checks the settings" in caption.value for caption in page.caption)
    assert page.button(key="study_run_button").disabled
    monkeypatch.setattr(StudyCheck, "check", lambda check, study: Checked(1))
    assert not page.run().button(key="study_run_button").disabled


def test_the_extent_is_of_the_counted_units():
    assert study_views()["memorization"].extent(dataclasses.replace(STUDIES[2], seconds=2.0), Checked(3)) == (
        "3 methods, about 6.0 s in all."
    )
