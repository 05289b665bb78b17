"""Pages on a real store, without a model."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

import relens_dashboard.services
from relens.runs.store import Store
from relens_dashboard.services import Services
from tests.app.conftest import MAIN
from tests.app.fakes import FakePreviewer, FakeSupervisor, checks_here


@pytest.fixture
def store(tmp_path):
    store = Store(f"sqlite:///{tmp_path / 'runs.db'}")
    yield store
    store.close()


@pytest.fixture
def dashboard(store, monkeypatch):
    """The dashboard on its Start page, not yet run."""
    made = Services(store, FakeSupervisor(), FakePreviewer(), **checks_here())
    monkeypatch.setattr(relens_dashboard.services, "get_services", lambda: made)
    yield AppTest.from_file(MAIN, default_timeout=30)
    made.threads.shutdown()
    made.drawers.shutdown()
