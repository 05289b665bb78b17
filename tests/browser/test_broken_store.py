"""A dashboard whose store cannot be opened says so, and shows its pages once it can."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.server import PATIENCE, running_dashboard

pytestmark = pytest.mark.browser


def test_a_page_is_drawn_by_itself_once_the_store_is_mended(browser, tmp_path: Path):
    path = tmp_path / "runs.db"
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    with running_dashboard(tmp_path) as dashboard:
        dashboard.store.close()
        path.write_text("These are no runs. " * 100)
        page.goto(f"{dashboard.url}/history")
        alert = page.locator("[data-testid=stAlert]")
        expect(alert).to_contain_text("is not a database")
        expect(page.locator("h1")).to_have_text("History")
        path.unlink()
        expect(page.locator("[role=status]", has_text="Queue")).to_be_visible()
        expect(alert).not_to_contain_text("is not a database")
        expect(page.locator("h1")).to_have_text("History")
    context.close()
