"""One dashboard and one browser for all the tests; a page of its own for each."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.browser.server import PATIENCE, Workbench, launch, running_dashboard, stop_everything

expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def dashboard(tmp_path_factory):
    """The real dashboard with the embedded model and an empty store."""
    with running_dashboard(tmp_path_factory.mktemp("dashboard")) as running:
        yield running


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium."""
    with sync_playwright() as playwright:
        chromium = launch(playwright)
        yield chromium
        chromium.close()


@pytest.fixture(autouse=True)
def nothing_left_running(request):
    """Runs wait in one queue: an endless one that a failed test left behind would hold up all later tests."""
    dashboard = request.getfixturevalue("dashboard") if "dashboard" in request.fixturenames else None
    yield
    if dashboard is not None:
        stop_everything(dashboard.store)


@pytest.fixture
def new_workbench(browser, dashboard):
    """A function that gives a Workbench in a browser context of its own: another person."""
    contexts = []

    def make():
        context = browser.new_context(viewport={"width": 1440, "height": 900}, accept_downloads=True)
        contexts.append(context)
        return Workbench(context.new_page(), dashboard.url)

    yield make
    for context in contexts:
        context.close()


@pytest.fixture
def workbench(new_workbench):
    """The Workbench of one person."""
    return new_workbench()
