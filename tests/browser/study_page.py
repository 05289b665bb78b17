"""A study's page as a person uses it, on one page of a browser."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Locator, Page, TimeoutError, expect

from relens.runs.records import ENDED
from relens.studies.catalogue import study_class
from tests.browser.server import PATIENCE, Dashboard, download, parameter, wait_until

#: True where each figure is called by a whole text, or begins with a sentence.
_SAY = """alts => {
  const figures = [...document.querySelectorAll("[data-testid=stPlotlyChart]")]
  const says = (figure, alt) => figure.ariaLabel === alt || figure.ariaLabel?.startsWith(alt + ".")
  return figures.length === alts.length && figures.every((figure, place) => says(figure, alts[place]))
}"""


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
        """Wait until the page is drawn. What was done just now it may not have heard of yet."""
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
        before = self.page.evaluate("new URL(location).searchParams.get('run')")
        self.button("study_run_button").click()
        run_id = parameter(self.page, "run", before)
        store = self._dashboard.store
        # Asked of the store, which says at once that a study failed, however long one that goes well may take.
        wait_until(lambda: store.get(run_id).status in ENDED, 4 * PATIENCE / 1000, "The end of the study")
        ended = store.get(run_id)
        assert ended.status == "done", (ended.status, ended.error)
        expect(self.ended("done")).to_be_visible()
        return run_id

    def ended(self, status: str) -> Locator:
        """The headline of a run that is over with that status."""
        return self.page.locator(f'[data-run-status="{status}"]').first

    @property
    def verdict(self) -> Locator:
        """The sentences of what was found."""
        # While the page is drawn anew, those of before may stand beside it for a moment.
        return self.page.locator("[data-study-verdict]").first

    @property
    def figures(self) -> Locator:
        """All figures."""
        return self.page.locator("[data-testid=stPlotlyChart]")

    def shows(self, verdict: Sequence[str], alts: Sequence[str]) -> None:
        """Wait until the verdict has these sentences and no other, and `figures_say` these."""
        expect(self.page.locator("[data-study-verdict] p")).to_have_text(list(verdict))
        self.figures_say(alts)

    def figures_say(self, alts: Sequence[str]) -> None:
        """Wait until the figures are drawn that say these to who does not see them; a first sentence is enough."""
        try:
            self.page.wait_for_function(_SAY, arg=list(alts))
        except TimeoutError:
            seen = self.figures.evaluate_all("figures => figures.map(figure => figure.ariaLabel)")
            raise AssertionError(f"The figures say {seen}, not {list(alts)}") from None
        expect(self.figures.first.locator(".js-plotly-plot .main-svg").first).to_be_visible()

    def saved(self, key: str) -> tuple[str, Path]:
        """Press a button that saves a file; what it is called, and where it is."""
        file = download(self.button(key))
        return file.suggested_filename, file.path()
