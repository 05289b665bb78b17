"""Pages on a real store, without a model."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import app.services
from app.services import Services
from engine.runs.store import Store
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
    monkeypatch.setattr(app.services, "get_services", lambda: made)
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
    yield AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=30)
    made.threads.shutdown()
    made.drawers.shutdown()
