"""Ten people at once, one of them with a hostile pattern: nobody sees another's work, and nobody waits for it.

How long a page takes to answer a keystroke is measured and printed; what is asserted is only that it answers, since how
fast depends on what else the machine does.
"""

from __future__ import annotations

import threading
import time
import urllib.request

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

WORDS = ("apple", "berry", "cedar", "daisy", "elder", "fennel", "grape", "hazel", "ivy")
#: Its deterministic automaton has 2^40 states: whoever compiles it runs into a limit.
HOSTILE = "(a|b)*a(a|b){40}"

#: Milliseconds from a key to the next change of the verdict, measured inside the page.
ANSWER_TIME = """
([selector, character]) => new Promise((resolve) => {
  const field = document.querySelector(selector + " input")
  const verdict = () => document.querySelector(".st-key-verdict")?.textContent ?? ""
  const before = verdict(), begun = performance.now()
  const setter = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set
  setter.call(field, field.value + character)
  field.dispatchEvent(new Event("input", { bubbles: true }))
  const look = () => {
    if (verdict() !== before) resolve(performance.now() - begun)
    else if (performance.now() - begun > 60000) resolve(-1)
    else requestAnimationFrame(look)
  }
  look()
})
"""


class ServerWatch:
    """Asks the server for its health again and again; the longest answer tells how long it was deaf."""

    def __init__(self, url: str) -> None:
        self.seconds: list[float] = []
        self._url = f"{url}/_stcore/health"
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._end.wait(0.02):
            begun = time.monotonic()
            with urllib.request.urlopen(self._url, timeout=60) as answer:
                answer.read()
            self.seconds.append(time.monotonic() - begun)


def test_ten_people_at_once(new_workbench, dashboard):
    people = [new_workbench() for _ in WORDS]
    hostile = new_workbench()
    for person, word in zip(people, WORDS, strict=True):
        person.open(f"prefix=The&pattern=+({word}|{word}s)&matches=2&seconds=120&encoding=Canonical")
        expect(person.verdict).to_contain_text("2 strings")
    hostile.open()

    with ServerWatch(dashboard.url) as watch_before:
        times_before = [person.page.evaluate(ANSWER_TIME, [".st-key-pattern", "?"]) for person in people]
    with ServerWatch(dashboard.url) as watch:
        hostile.pattern.fill(HOSTILE)
        # A moment later it is refused already.
        refused = hostile.page.locator(".st-key-verdict [data-testid=stAlert]")
        expect(hostile.page.locator("[data-pending]").or_(refused).first).to_be_visible()
        times = [person.page.evaluate(ANSWER_TIME, [".st-key-pattern", "s"]) for person in people]
    # The hostile page itself answers too: its other field takes text while the pattern is worked on or refused.
    hostile.prefix.fill("still here")
    expect(hostile.prefix).to_have_value("still here")
    expect(refused.first).to_be_visible()
    assert min(times_before + times) > 0, "A page did not answer."
    print(
        f"\nKeystroke to verdict, ms: alone {_summary(times_before)}; beside a hostile pattern {_summary(times)}"
        f"\nServer's answer, ms: alone {_summary([1e3 * value for value in watch_before.seconds])};"
        f" beside a hostile pattern {_summary([1e3 * value for value in watch.seconds])}"
    )

    for person, word in zip(people, WORDS, strict=True):
        person.pattern.fill(f" ({word}|{word}s)")
        expect(person.verdict).to_contain_text("2 strings")
        person.run_button.click()
    runs = {}
    for person, word in zip(people, WORDS, strict=True):
        expect(person.ended("done")).to_be_visible()
        runs[word] = person.run_id()
    assert len(set(runs.values())) == len(WORDS)
    for person, word in zip(people, WORDS, strict=True):
        assert {row["text"] for row in dashboard.store.rows(runs[word])} == {f"The {word}", f"The {word}s"}
        expect(person.pattern).to_have_value(f" ({word}|{word}s)")
        expect(person.verdict).to_contain_text(word)
        others = [other for other in WORDS if other != word]
        words_on_page = person.page.locator("[data-testid=stMain]").inner_text()
        assert not [other for other in others if other in words_on_page]


def _summary(milliseconds: list[float]) -> str:
    ordered = sorted(milliseconds)
    middle, high = ordered[len(ordered) // 2], ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return f"median {middle:.0f}, 95th percentile {high:.0f}, longest {ordered[-1]:.0f} (n = {len(ordered)})"
