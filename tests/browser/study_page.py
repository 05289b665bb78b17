"""A study's page as a person uses it, on one page of a browser."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Locator, Page, expect

from engine.studies.catalogue import study_class
from tests.browser.server import PATIENCE, Dashboard

expect.set_options(timeout=PATIENCE)


class StudyPage:
    """The page of one study."""

    def __init__(self, page: Page, dashboard: Dashboard, kind: str) -> None:
        self.page = page
        self.kind = kind
        self._dashboard = dashboard
        page.set_default_timeout(PATIENCE)

    def open(self, run_id: str = "") -> None:
        """Go to the page, or to a run on it."""
        query = f"?{urlencode({'run': run_id})}" if run_id else ""
        self.page.goto(f"{self._dashboard.url}/{self.kind}{query}")
        expect(self.page.locator(".relens-title", has_text=study_class(self.kind).title)).to_be_visible()

    def button(self, key: str) -> Locator:
        """A button that can be pressed; Streamlit keeps a second, hidden one for other widths."""
        return self.page.locator(f".st-key-{key} button:visible:enabled").first

    def field(self, name: str, element: str = "input") -> Locator:
        """A field of the study's settings."""
        return self.page.locator(f".st-key-{self.kind}_{name} {element}").first

    def settle(self) -> None:
        """Wait until the page is drawn."""
        expect(self.page.locator("[data-testid=stApp]")).to_have_attribute("data-test-script-state", "notRunning")

    def fill(self, name: str, text: str, element: str = "input") -> None:
        """Write into a field and leave it."""
        place = self.field(name, element)
        place.fill(text)
        place.press("Tab")
        self.settle()

    def press(self, name: str, *labels: str) -> None:
        """Press pills or segments of a field."""
        for label in labels:
            self.page.locator(f".st-key-{self.kind}_{name} button", has_text=label).first.click()
            self.settle()

    def preset(self, name: str, field: str, value: str) -> None:
        """Choose what the settings start from; wait until a field holds what it has there."""
        self.page.locator(f".st-key-study_preset_{self.kind} input").first.click()
        self.page.get_by_role("option", name=name, exact=True).click()
        expect(self.field(field)).to_have_value(value)
        self.settle()

    def run(self) -> str:
        """Press Run, and wait until its run is done; the run."""
        self.button("study_run_button").click()
        self.page.wait_for_url("**run=*")
        expect(self.page.locator("[data-run-status]")).to_have_attribute("data-run-status", "done")
        return self.page.url.split("run=")[1].split("&")[0]

    def ended(self, status: str) -> Locator:
        """The headline of a run that is over with that status."""
        return self.page.locator(f'[data-run-status="{status}"]')

    @property
    def verdict(self) -> Locator:
        """The sentences of what was found."""
        return self.page.locator("[data-study-verdict]")

    def figures(self) -> list[str]:
        """What the figures say to who does not see them."""
        drawn = self.page.locator("[data-testid=stPlotlyChart]")
        expect(drawn.first.locator(".js-plotly-plot .main-svg").first).to_be_visible()
        return [str(figure.get_attribute("aria-label")) for figure in drawn.all()]

    def saved(self, key: str) -> tuple[str, Path]:
        """Press a button that saves a file; what it is called, and where it is."""
        with self.page.expect_download() as waiting:
            self.button(key).click()
        return waiting.value.suggested_filename, waiting.value.path()
