"""From a keystroke to both automata drawn, in a real browser on the real dashboard.

    python -m benchmarks.interface [--samples 40] [--people 10]

One person has the date query open and types one more character at its end, another one each time, so that no measured
preview was computed before. The clock runs inside the page: from the input event to the frame in which both viewers
show the automata of the new query. The pause before the page reads the text is included.

With `--people`, that many pages are open. The same is then measured again while one of them compiles a hostile pattern
over and over, whose automaton has 2^40 states; and so is the longest time that the server takes for a plain request
meanwhile, which is how long all pages would stall.
"""

from __future__ import annotations

import argparse
import string
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
from playwright.sync_api import Page, sync_playwright

from benchmarks import machine, questions
from relens.runs.specification import SearchSpecification
from relens_dashboard.components.query_form import TYPING_PAUSE
from relens_dashboard.form import Form
from relens_dashboard.links import parameters
from tests.browser.server import Dashboard, Workbench, launch, running_dashboard

#: Resolves with milliseconds when both viewers have drawn the automata of another query, or -1 after ten seconds.
DRAWN = """
(character) => new Promise((resolve) => {
  const frames = () => ["language_automaton", "token_automaton"].map((key) => {
    const hosts = document.querySelectorAll(".st-key-" + key + ", .st-key-" + key + " *")
    for (const host of hosts) {
      const frame = (host.shadowRoot ?? host).querySelector(".frame")
      if (frame) return frame.dataset.question
    }
  })
  const before = frames(), begun = performance.now()
  const field = document.querySelector(".st-key-pattern input")
  const setter = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set
  setter.call(field, field.value + character)
  field.dispatchEvent(new Event("input", { bubbles: true }))
  const look = () => {
    const now = frames()
    if (now.every((question, place) => question && question !== before[place])) resolve(performance.now() - begun)
    else if (performance.now() - begun > 10000) resolve(-1)
    else requestAnimationFrame(look)
  }
  look()
})
"""

#: Its deterministic automaton has 2^40 states and more with each letter that is added.
HOSTILE = "(a|b)*a(a|b){40}"


def measure(page: Page, samples: int) -> list[float]:
    """Milliseconds from a keystroke to both automata drawn."""
    characters = (string.ascii_letters + string.digits)[:samples]
    field = page.locator(".st-key-pattern input")
    base = field.input_value()
    times = []
    for character in characters:
        taken = page.evaluate(DRAWN, character)
        if taken < 0:
            raise SystemExit(f"Nothing was drawn within ten seconds after {character!r}.")
        times.append(float(taken))
        field.fill(base)
        time.sleep(0.5)
    return times


def summary(milliseconds: list[float]) -> dict[str, Any]:
    """Median, 95th percentile and the worst."""
    return {
        "samples": len(milliseconds),
        "median_ms": round(float(np.median(milliseconds)), 1),
        "p95_ms": round(float(np.percentile(milliseconds, 95)), 1),
        "longest_ms": round(max(milliseconds), 1),
    }


class Nuisance:
    """A person whose patterns are hostile, one after the other, and a watch over the server meanwhile."""

    def __init__(self, page: Workbench, url: str) -> None:
        self.answers: list[float] = []
        self._page = page
        self._health = f"{url}/_stcore/health"
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Nuisance:
        self._page.pattern.fill(HOSTILE)
        self._page.page.locator("[data-pending]").wait_for()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def again(self, number: int) -> None:
        """Another pattern, as hostile as the last."""
        self._page.pattern.fill(HOSTILE + "a" * number)

    def _watch(self) -> None:
        while not self._end.wait(0.02):
            begun = time.monotonic()
            with urllib.request.urlopen(self._health, timeout=60) as answer:
                answer.read()
            self.answers.append(1000 * (time.monotonic() - begun))


def interface(dashboard: Dashboard, samples: int, people: int) -> dict[str, Any]:
    """The measurements, as a record."""
    form = Form.from_specification(SearchSpecification("smollm2-135m", questions.DATE_QUERY))
    with sync_playwright() as playwright:
        browser = launch(playwright)
        pages = [Workbench(browser.new_context().new_page(), dashboard.url) for _ in range(max(people, 1))]
        typist = pages[0]
        typist.page.set_viewport_size({"width": 1440, "height": 900})
        for number, page in enumerate(pages):
            page.open(urlencode(parameters(form)) if number == 0 else f"pattern=cat{number}")
        typist.page.locator(".st-key-token_automaton .frame .host svg").wait_for()
        measure(typist.page, 2)
        result: dict[str, Any] = {"pause_ms": int(TYPING_PAUSE.removesuffix("ms")), "people": people}
        result["keystroke_to_drawn"] = summary(measure(typist.page, samples))
        if people > 1:
            with Nuisance(pages[-1], dashboard.url) as nuisance:
                times: list[float] = []
                for number in range(4):
                    nuisance.again(number)
                    times += measure(typist.page, samples // 4)
            result["beside_a_hostile_pattern"] = summary(times)
            result["server_answer_meanwhile"] = summary(nuisance.answers)
        browser.close()
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=40, help="keystrokes to measure (%(default)s)")
    parser.add_argument("--people", type=int, default=1, help="pages that are open at once (%(default)s)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running_dashboard(Path(folder)) as dashboard:
        machine.report("interface", interface(dashboard, options.samples, options.people))


if __name__ == "__main__":
    main()
