"""Pages on a real store, without a model."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import relens_dashboard.services
from relens.runs.store import Store
from relens_dashboard.services import Services
from tests.app.fakes import FakePreviewer, FakeSupervisor, checks_here

ROOT = Path(__file__).resolve().parents[3]


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
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
    yield AppTest.from_file(str(ROOT / "app" / "relens_dashboard" / "main.py"), default_timeout=30)
    made.threads.shutdown()
    made.drawers.shutdown()
