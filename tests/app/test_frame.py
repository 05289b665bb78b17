"""A page that cannot be drawn shows the sentence of the error until it can."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import relens_dashboard.services
from relens.runs.store import Store
from relens_dashboard.services import get_services
from tests.app.conftest import MAIN
from tests.app.fakes import FakePreviewer, FakeSupervisor

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "pages").glob("*.py"))


def no_database(path):
    path.write_text("These are no runs. " * 100)


def damaged(path):
    Store(f"sqlite:///{path}").close()
    data = bytearray(path.read_bytes())
    data[100:] = b"x" * (len(data) - 100)  # all but the header
    path.write_bytes(data)


def no_folder(path):
    path.parent.rmdir()


BROKEN = {no_database: "is not a database", damaged: "is damaged", no_folder: "could not be opened"}


@pytest.fixture
def path(tmp_path, monkeypatch):
    """The path of the store of the dashboard's services."""
    store = tmp_path / "folder" / "runs.db"
    store.parent.mkdir()
    monkeypatch.setenv("RELENS_STORE", f"sqlite:///{store}")
    monkeypatch.setattr(relens_dashboard.services, "Supervisor", lambda url: FakeSupervisor())
    monkeypatch.setattr(relens_dashboard.services, "Previewer", lambda pool_size: FakePreviewer())
    get_services.replace()
    yield store
    get_services.replace()


def dashboard():
    return AppTest.from_file(MAIN, default_timeout=30)


@pytest.mark.parametrize("breaks", BROKEN)
def test_a_page_says_what_is_wrong_with_the_store_until_it_is_mended(path, breaks):
    breaks(path)
    page = dashboard().run()
    assert not page.exception
    (error,) = page.error
    assert BROKEN[breaks] in error.value
    page.run()
    assert len(page.error) == 1
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    page.run()
    assert not page.error
    assert not page.exception
    assert page.header[0].value == "Open an example"


@pytest.mark.parametrize("script", PAGES, ids=lambda script: script.stem)
def test_every_page_does(path, script):
    no_database(path)
    page = dashboard().run().switch_page(f"../../pages/{script.name}").run()
    assert not page.exception
    assert ["is not a database" in error.value for error in page.error] == [True]
    assert sum(element.proto.body.startswith("<h1") for element in page.get("html")) == 1
