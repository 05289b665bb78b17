"""Work in a thread of its own: its result, its errors, and that a study can be stopped in the midst of it."""

from __future__ import annotations

import threading
import typing

import pytest

from relens.errors import QueryError
from relens.studies.study import StudyContext, StudyRun
from relens.triggers.background import reported, run_in_background, to_the_end
from relens.triggers.brute_force.study import BruteForceStudy
from relens.triggers.model.model_list import model_folder
from relens.triggers.model.training_study import DialogueModelStudy
from relens.triggers.relaxation.study import RelaxationStudy
from relens.triggers.search.trigger_study import TriggerStudy


def test_results_are_returned_and_errors_raised():
    assert to_the_end(run_in_background(lambda: 5)) == 5

    def refuse():
        raise QueryError("No.")

    with pytest.raises(QueryError, match="No"):
        to_the_end(run_in_background(refuse))


def test_it_yields_meanwhile():
    is_enough = threading.Event()
    work = run_in_background(is_enough.wait)
    assert [next(work), next(work)] == [None, None]
    is_enough.set()
    assert to_the_end(work) is True


def test_quick_work_yields_nothing():
    assert list(run_in_background(lambda: 5)) == []


def test_reports_become_rows_and_the_result_stays():
    def work():
        yield None
        yield 2
        return "done"

    def rows():
        return (yield from reported(work(), lambda number: 10 * number))

    assert list(reported(work(), lambda number: 10 * number)) == [None, 20]
    assert to_the_end(rows()) == "done"


@pytest.mark.parametrize(
    ("study", "what"),
    [
        (DialogueModelStudy(), "relens.triggers.model.preparation.prepare"),
        (TriggerStudy(), "relens.triggers.search.search_preparation.prepare_search"),
        (RelaxationStudy("toy"), "relens.triggers.search.targets.normal_targets"),
        (BruteForceStudy(), "relens.triggers.brute_force.run.prepare_characters"),
    ],
)
def test_a_study_is_stopped_while_it_prepares(study, what, monkeypatch, tmp_path, dialogue_model):
    monkeypatch.setenv("RELENS_CACHE", str(tmp_path))
    dialogue_model.save(model_folder("toy"))
    is_begun, is_enough, is_stopped = threading.Event(), threading.Event(), threading.Event()

    def for_ever(*_):
        is_begun.set()
        is_enough.wait()

    monkeypatch.setattr(what, for_ever)
    run = StudyRun(study, StudyContext(typing.cast("typing.Any", None), stop=is_stopped.is_set))
    while not is_begun.is_set():
        run.poll(0.01)
    is_stopped.set()
    try:
        run.poll(0.01)
        assert run.progress.ended == "stopped"
    finally:
        is_enough.set()
