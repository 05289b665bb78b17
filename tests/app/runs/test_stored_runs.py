"""A store of an earlier version opens: its runs are shown, compared and repeated.

`tests/data/store_schema_3.sql` holds one run of each study and of each traversal, carried out with models of random
weights by the version before settings were declared (November 2026).
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from relens.runs.specification import SearchSpecification, StudySpecification, specification_from_json
from relens.runs.store import Store
from relens.studies.catalogue import STUDIES
from relens.studies.rows import done_units
from relens_dashboard.present.explanation import restraints
from relens_dashboard.study_views import study_views

DUMP = Path(__file__).parents[2] / "data" / "store_schema_3.sql"


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "runs.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(DUMP.read_text(encoding="utf-8"))
    connection.close()
    store = Store(f"sqlite:///{path}")
    yield store
    store.close()


@pytest.fixture
def runs(store):
    """The runs by the kind of their study or traversal."""
    runs_by_kind = {}
    for line in store.listed(limit=100):
        run = store.get(line.id)
        specification = specification_from_json(run.specification)
        is_search = isinstance(specification, SearchSpecification)
        runs_by_kind[specification.traversal.kind if is_search else specification.study.kind] = run
    return runs_by_kind


def test_every_run_is_there_with_its_rows(store, runs):
    assert set(runs) == {*STUDIES, "shortest_path", "sampling", "distribution"}
    for run in runs.values():
        assert run.status == "done"
        assert len(list(store.rows(run.id))) == run.row_count


@pytest.mark.parametrize("kind", STUDIES)
def test_a_study_opens_with_its_findings(store, runs, kind):
    specification = specification_from_json(runs[kind].specification)
    assert isinstance(specification, StudySpecification)
    rows = list(store.rows(runs[kind].id))
    study, view = specification.study, study_views().get(kind)
    assert done_units(rows)
    assert kind in ("decoder", "trigger-check") or study.verdict(rows)
    if view is not None and kind not in ("replay", "prompt-check", "trigger-check"):
        findings = study.findings(rows)
        assert view.figures(findings, study) or view.tables(findings, study)


@pytest.mark.parametrize(
    ("kind", "caveats"), [("bias", 2), ("causal-triggers", 1), ("memorization", 1), ("toxicity", 5)]
)
def test_the_caveats_of_a_verdict_go_with_a_pinned_figure(store, runs, kind, caveats):
    study = specification_from_json(runs[kind].specification).study
    assert len(restraints(study.verdict(store.rows(runs[kind].id)))) == caveats


@pytest.mark.parametrize("kind", [*STUDIES, "shortest_path", "sampling", "distribution"])
def test_a_run_is_repeated_unchanged(store, runs, kind):
    again = store.get(store.repeat(runs[kind].id))
    assert specification_from_json(again.specification) == specification_from_json(runs[kind].specification)


@pytest.mark.parametrize("kind", STUDIES)
def test_a_page_shows_it(store, runs, dashboard, kind):
    pages = {"encodings": "tokens", "decoder": "automata"}
    dashboard.query_params["run"] = runs[kind].id
    dashboard.run()
    name = pages.get(kind, kind).replace("-", "_")
    page = dashboard.switch_page(f"../../pages/{name}.py").run()
    page.query_params["run"] = runs[kind].id
    page = page.run()
    assert not page.exception
