"""The loading time of each page on a warm server: to its first paint, and to its own heading.

    python -m benchmarks.pages [--visits 5] [--results]

Each page is opened once, so that the server has imported its modules, and then `--visits` times by its address, as by a
link or a reload. The clock runs in the browser, from the beginning of the navigation: to the first contentful paint,
the frame of all pages, and to the page's own heading, for which the server has to run the page's script. The browser
has the scripts of the frame in its cache; with `--new` it has not.

With `--results` small runs of every kind are made first, and the pages that show them are measured too.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from benchmarks import machine
from tests.browser.every_page import EMPTY, fill
from tests.browser.server import PATIENCE, Dashboard, launch, running_dashboard

#: Records when the first heading of the page is drawn: in the frame after it came.
WATCH = """
new MutationObserver((_, observer) => {
  if (!document.querySelector("[data-testid=stMain] h1")) return
  observer.disconnect()
  requestAnimationFrame(() => { window.headingSeen = performance.now() })
}).observe(document, { childList: true, subtree: true })
"""
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
IDLE = "[data-testid=stApp][data-test-script-state=notRunning]"


def visit(page: Page, address: str) -> tuple[float, float]:
    """Milliseconds to the first contentful paint, and to the heading; returns when the page is complete."""
    page.goto(address, wait_until="commit")
    page.wait_for_function("window.headingSeen")
    seen = float(page.evaluate("window.headingSeen"))
    page.locator(IDLE).wait_for()
    return float(page.evaluate(PAINT)), seen


def new_context(browser: Browser) -> BrowserContext:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(PATIENCE)
    context.add_init_script(WATCH)
    return context


def pages(dashboard: Dashboard, addresses: dict[str, str], visits: int, *, is_new: bool) -> dict[str, Any]:
    """The measurements of each page, as a record."""
    result: dict[str, Any] = {}
    with sync_playwright() as playwright:
        browser = launch(playwright)
        context = new_context(browser)
        for address in addresses.values():
            visit(context.new_page(), f"{dashboard.url}/{address}")
            context.pages[0].close()
        for name, address in addresses.items():
            times = []
            for _ in range(visits):
                here = new_context(browser) if is_new else context
                page = here.new_page()
                times.append(visit(page, f"{dashboard.url}/{address}"))
                page.close()
                if is_new:
                    here.close()
            paint, heading = np.median(times, axis=0)
            result[name] = {
                "first_paint_ms": round(float(paint)),
                "heading_ms": round(float(heading)),
                "shortest_heading_ms": round(min(seen for _, seen in times)),
                "longest_heading_ms": round(max(seen for _, seen in times)),
            }
        browser.close()
    return result


def with_results(dashboard: Dashboard) -> dict[str, str]:
    """The addresses of pages with results. A page is open meanwhile, which keeps the worker running."""
    with sync_playwright() as playwright:
        browser = launch(playwright)
        browser.new_page().goto(dashboard.url)
        addresses = fill(dashboard)
        browser.close()
    # A deck that is shown has its headings in a frame of its own.
    return {f"{name}, with results": address for name, address in addresses.items() if name != "present, shown"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visits", type=int, default=5, help="visits to each page (%(default)s)")
    parser.add_argument("--results", action="store_true", help="measure pages with results too")
    parser.add_argument("--new", action="store_true", help="in a browser that was never here before")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running_dashboard(Path(folder)) as dashboard:
        addresses = EMPTY | (with_results(dashboard) if options.results else {})
        measured = pages(dashboard, addresses, options.visits, is_new=options.new)
        # Other programs on the machine affect these times; the load average shows how much.
        load = round(os.getloadavg()[0], 1)
        result = {"visits": options.visits, "new_browser": options.new, "load_average": load, "pages": measured}
        machine.report("pages", result)


if __name__ == "__main__":
    main()
