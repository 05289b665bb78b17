"""Many visitors, one after the other and at once: what they leave behind, and what they may ask for."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from urllib.parse import quote

import numpy as np
import pytest

from tests.attacks import made
from tests.attacks.server import settle, wait_until

PAGES = ["", "workbench", "history", "compare", "present", "automata", "tokens", "replay", "glossary"]
STUDIES = ["bias", "cloze", "knowledge", "memorization", "toxicity", "triggers", "causal-triggers", "relaxation"]


def kept_per_round(target, rounds, one_round, warm=10):
    """How much more memory the server has after each round, in bytes: the slope, after some rounds to warm up."""
    for _ in range(warm):
        one_round()
    sizes = []
    for _ in range(rounds):
        one_round()
        sizes.append(target.memory(server_alone=True))
    return float(np.polyfit(np.arange(rounds), sizes, 1)[0])


@pytest.mark.slow
def test_fifty_visits_of_every_page_leave_no_memory_and_no_process(target):
    run_id = made.plant(
        target.store,
        made.search("a", target.model),
        [made.match_row(number, f"text {number}") for number in range(1, 200)],
        {"matches": 199},
    )
    settle(target)
    processes = len(target.processes())

    def visit() -> None:
        with target.visitor() as visitor:
            for page in PAGES:
                visitor.open(page, f"run={run_id}" if page == "workbench" else "")

    kept = kept_per_round(target, 50, visit)
    assert kept < 0.3e6, f"each visit leaves {kept / 1e6:.2f} MB"
    settle(target)
    assert len(target.processes()) <= processes


@pytest.mark.slow
def test_visitors_who_leave_in_the_midst_leave_nothing_behind(target):
    def visit() -> None:
        visitors = [target.visitor() for _ in range(4)]
        for visitor, page in zip(visitors, ["workbench", "memorization", "history", "automata"], strict=True):
            visitor.open(page, f"pattern={quote('(a|b)*a(a|b){9}')}&lesson=a*b", wait=False)
        for visitor in visitors:
            visitor.close()

    server = target.process.pid
    kept = kept_per_round(target, 30, visit)
    assert kept < 0.5e6, f"each round leaves {kept / 1e6:.2f} MB"
    settle(target)
    threads = len(os.listdir(f"/proc/{server}/task"))
    for _ in range(10):
        visit()
    settle(target)
    assert len(os.listdir(f"/proc/{server}/task")) <= threads + 8


@pytest.mark.slow
def test_thirty_visitors_at_once_all_get_their_pages(target):
    problems: list[str] = []

    def visit(number: int) -> None:
        try:
            with target.visitor() as visitor:
                for page in (*PAGES[number % 5 :: 5], *STUDIES[number % 4 :: 4]):
                    visitor.open(page)
                    problems.extend(visitor.exceptions())
        except Exception as error:
            problems.append(repr(error))

    def all_at_once() -> None:
        threads = [threading.Thread(target=visit, args=(number,)) for number in range(30)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    # A crowd shares one interpreter: it waits for itself, but not for long, and nobody is sent away.
    assert target.deafness(all_at_once) < 3.0
    assert problems == []


NAMES = [
    "",
    "  ",
    "../../../etc",
    "/etc/passwd",
    "/proc/self",
    "~root",
    "file:///etc/passwd",
    "http://evil.example/model",
    "evil/model",
    "gpt2/../../etc",
    "a\x00b",
    "\ud800".encode("utf-8", "replace").decode(),
    "model; touch /tmp/x",
    "$(touch /tmp/x)",
    "x" * 10_000,
    "smollm2-135m\n",
    "..",
    "C:\\windows",
]


def test_a_hostile_name_of_a_model_is_a_sentence(target):
    with target.visitor() as visitor:
        for name in NAMES:
            for page, field in [("workbench", "model"), ("automata", "lesson_model"), ("tokens", "tokens_model")]:
                value = quote(name, safe="")
                visitor.open(page, f"{field}={value}&pattern=a&lesson=a&tokens_text=a")
                visitor.look()
                assert visitor.exceptions() == []
                assert "root:" not in visitor.texts()


def test_a_run_of_a_model_that_is_not_allowed_fails_in_a_sentence(target):
    runs = [
        target.store.repeat(made.plant(target.store, made.search("a", name)))
        for name in NAMES
        if name.strip() and len(name) < 5_000
    ]
    wait_until(lambda: all(not target.store.get(run).is_live for run in runs), "the end of these runs")
    for run_id in runs:
        run = target.store.get(run_id)
        assert run.status == "failed"
        assert "inside Relens" not in run.error
        assert "model" in run.error or "folder" in run.error


def test_paths_lead_nowhere(target):
    """What a study may read is what was uploaded, or what the operator named; an address has no files of ours."""
    import urllib.error
    import urllib.request

    for path in [
        "/app/static/../main.py",
        "/static/../../app/relens_dashboard/main.py",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/media/../../runs.db",
        "/component/../../../etc/passwd",
        "/_stcore/bidi-components/relens.ticker/../../../app/relens_dashboard/main.py",
        "//etc/passwd",
        "/app/relens_dashboard/.streamlit/config.toml",
        "/.streamlit/config.toml",
        "/runs.db",
    ]:
        with contextlib.suppress(urllib.error.HTTPError):
            with urllib.request.urlopen(f"{target.url}{path}", timeout=30) as answer:
                body = answer.read()
            assert b"root:" not in body
            assert b"import streamlit" not in body
            assert not body.startswith(b"SQLite")
            assert b"headless" not in body
    for path in ["/etc/passwd", "../../etc/passwd", str(target.folder / "runs.db"), "/proc/self/environ", "~/.ssh"]:
        study = made.study("memorization", target.model, validator={"kind": "in_text", "path": path}, seconds=1.0)
        run_id = target.store.repeat(made.plant(target.store, study))
        wait_until(lambda run_id=run_id: not target.store.get(run_id).is_live, "the end of the study")
        assert target.store.get(run_id).status == "failed", path
        time.sleep(0.01)
