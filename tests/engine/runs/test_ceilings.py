"""No way into the store leads past the ceilings, and values below them stay as they are."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relens.query import Distribution, Limits, Query, Sampling, ShortestPath
from relens.runs.ceilings import CEILINGS, within_ceilings
from relens.runs.database import to_text
from relens.runs.run_file import read_run, write_run
from relens.runs.specification import SearchSpecification, StudySpecification, specification_from_json
from relens.runs.worker import Worker
from relens.setting import ceilings_of
from relens.studies.catalogue import STUDIES, presets, study_class
from tests.engine.runs.fakes import FakeServices

HOSTILE = Limits(
    matches=10**9,
    expansions=None,
    seconds=None,
    prefixes=10**9,
    pool_bytes=1 << 40,
    regex_length=10**9,
    automaton_states=10**9,
    token_arcs=10**12,
    compile_seconds=1e6,
    compile_bytes=12 << 30,
)
RUN = SearchSpecification("tiny", Query("3", max_tokens=10**9), Distribution(), HOSTILE)


def test_every_limit_becomes_its_ceiling():
    clamped = within_ceilings(RUN)
    assert clamped.limits == CEILINGS
    assert clamped.query.max_tokens == 2_048


@given(
    st.builds(
        Limits,
        matches=st.none() | st.integers(1, 10**9),
        expansions=st.none() | st.integers(1, 10**9),
        seconds=st.none() | st.floats(1e-3, 1e9),
        compile_seconds=st.floats(1e-3, 1e9),
        compile_bytes=st.integers(1, 1 << 50),
    ),
    st.sampled_from([ShortestPath(), Sampling(10), Sampling(10**12), Distribution()]),
)
def test_a_search_is_clamped_once_and_never_widened(limits, traversal):
    given = SearchSpecification("tiny", Query("a"), traversal, limits)
    clamped = within_ceilings(given)
    assert within_ceilings(clamped) == clamped
    for item in dataclasses.fields(Limits):
        before, after = getattr(limits, item.name), getattr(clamped.limits, item.name)
        ceiling = getattr(CEILINGS, item.name)
        if item.name == "matches" and isinstance(traversal, Sampling):
            assert after == before
        else:
            assert after == (ceiling if before is None else min(before, ceiling))
    if isinstance(traversal, Sampling):
        assert clamped.traversal == dataclasses.replace(traversal, count=min(traversal.count, 100_000))


@pytest.mark.parametrize("kind", STUDIES)
def test_a_study_is_clamped_where_it_has_ceilings_and_its_presets_are_below_them(kind):
    for study in presets(kind).values():
        specification = StudySpecification("tiny", study)
        assert within_ceilings(specification) == specification
    ceilings = ceilings_of(study_class(kind))
    above = dataclasses.replace(study_class(kind)(), **{name: type(most)(10 * most) for name, most in ceilings.items()})
    clamped = within_ceilings(StudySpecification("tiny", above))
    assert {name: getattr(clamped.study, name) for name in ceilings} == dict(ceilings)


def imported(store):
    run_id = store.submit(specification_from_json(RUN.to_json()))
    run = dataclasses.replace(store.get(run_id), specification=RUN.to_json(), status="done")
    return store.import_run(read_run(write_run(run, [])))


def written_by_another_program(store):
    run_id = store.submit(RUN)
    with store._database.writing() as connection:
        connection.exec_driver_sql(f"UPDATE runs SET specification = '{to_text(RUN.to_json())}' WHERE id = '{run_id}'")
    return run_id


def test_queued_imported_and_repeated_runs_are_kept_within_the_ceilings(store):
    queued = store.submit(RUN)
    file = imported(store)
    for run_id in (queued, file, store.repeat(file), store.repeat(written_by_another_program(store))):
        limits = Limits.from_json(store.get(run_id).specification["limits"])
        assert limits == CEILINGS, run_id


def test_a_worker_clamps_runs_in_the_store(store):
    begun: list[SearchSpecification] = []

    class Services(FakeServices):
        def begin_search(self, model, specification, stop):
            begun.append(specification)
            return super().begin_search(model, specification, stop)

    written_by_another_program(store)
    worker = Worker(store, Services())
    worker._serve_one()
    assert begun[0].limits == CEILINGS
