"""The dashboard's pages on fakes: real scripts, no model, no browser."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from streamlit import config
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

import relens_dashboard.services
from relens_dashboard.services import Services
from tests.app.fakes import FakePreviewer, FakeStore, FakeSupervisor, checks_here

ROOT = Path(__file__).resolve().parents[2]
MAIN = ROOT / "app" / "relens_dashboard" / "main.py"

# Pages are drawn under the settings of the server, which Streamlit looks for beside the script that it starts.
config._main_script_path = str(MAIN)

# Each page that a test opens looks through all installed packages for components, which takes longer than the page.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)


@pytest.fixture
def services(monkeypatch):
    """Services on fakes, which every page gets."""
    made = Services(FakeStore(), FakeSupervisor(), FakePreviewer(), **checks_here())
    monkeypatch.setattr(relens_dashboard.services, "get_services", lambda: made)
    yield made
    made.threads.shutdown()
    made.drawers.shutdown()


@pytest.fixture
def dashboard(services):
    """The dashboard on its Start page, not yet run."""
    return AppTest.from_file(MAIN, default_timeout=30)
