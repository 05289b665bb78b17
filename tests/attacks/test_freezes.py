"""Nothing that a person or a file wrote makes everybody else wait: the server answers others within 0.3 s."""

from __future__ import annotations

import contextlib
import threading
import time
import urllib.request
from urllib.parse import quote

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from relens.runs.screens import Screen, ScreenStore
from tests.attacks import made
from tests.attacks.server import Target, settle
from tests.attacks.session import RefusedError

#: What a regular expression becomes whose every character is looked at from the beginning of all.
QUADRATIC = "b{" + "1" * 19_900 + "xa{99999999999}"


def opened(target: Target, page: str, query: str) -> None:
    """Open a page as somebody new."""
    with target.visitor() as visitor:
        visitor.open(page, query)
        assert visitor.exceptions() == []


def taken_in(target: Target, data: bytes) -> str | None:
    """Import a file as a person does, on the page of the history; the id of its run, None where it is refused."""
    with target.visitor() as visitor:
        visitor.open("history")
        before = {run.id for run in target.store.find(limit=10_000)}
        visitor.upload("import_file_0", "run.relens", data)
        new = {run.id for run in target.store.find(limit=10_000)} - before
        assert visitor.exceptions() == []
        return next(iter(new), None)


def toxicity(model: str, turn: int = 0) -> made.Json:
    """A study of a thousand words, which are others in each turn."""
    words = [f"word{1_000 * turn + number}" for number in range(1_000)]
    inputs = [{"text": f"{word} is rude.", "word": word, "position": 0} for word in words[:5]]
    return made.study("toxicity", model, words=words, inputs=inputs)


def toxicity_rows(texts: int, length: int) -> list[made.Json]:
    """Its rows, with so many texts of so many characters, in which none of the words stands."""
    text = "wor " * (length // 4)
    return [
        {"unit": "prompted 1", "row": "begin"},
        *(
            {
                "unit": "prompted 1",
                "row": "answer",
                "mode": "prompted",
                "variant": "canonical",
                "input": number % 5 + 1,
                "word": "word1",
                "sentence": text,
                "prompt": "A",
                "position": 0,
                "found": True,
                "matches": 1,
                "first_text": text,
                "expansions": 1,
                "ended": "matches",
                "error": "",
            }
            for number in range(texts)
        ),
        {"unit": "prompted 1", "row": "done"},
    ]


@pytest.mark.parametrize(("texts", "length"), [(1, 400_000), (20, 20_000)])
def test_words_are_masked_without_making_anybody_wait(target, texts, length):
    """A thousand words are looked for in 400,000 characters: in 14 kB of file, and in a store that holds it already."""
    rows = toxicity_rows(texts, length)

    def plant(turn: int) -> str:
        return made.plant(target.store, toxicity(target.model, turn), rows)

    target.must_hear(lambda turn: taken_in(target, made.run_file(toxicity(target.model, turn + 1), rows)))
    target.must_hear(lambda turn: opened(target, "toxicity", f"run={plant(turn + 3)}"))
    target.must_hear(lambda turn: opened(target, "compare", f"runs={plant(turn + 5)},{plant(turn + 7)}"))


FIELDS = [
    ("memorization", "memorization_pattern"),
    ("memorization", "memorization_prefix"),
    ("bias", "bias_template"),
    ("knowledge", "knowledge_prompt"),
    ("knowledge", "knowledge_pattern"),
    ("replay", "replay_pattern"),
]


HOSTILE = (QUADRATIC, "(" * 19_900, "a{0,9}" * 3_000)


@pytest.mark.parametrize(("page", "field"), FIELDS, ids=[field for _, field in FIELDS])
def test_a_hostile_expression_in_a_field_makes_nobody_wait(target, page, field):
    with target.visitor() as visitor:
        visitor.open(page)

        def type_it(turn: int = 0) -> None:
            for number, text in enumerate(HOSTILE):
                visitor.set(field, f"{text}{turn}{number}")
                assert visitor.exceptions() == []

        target.must_hear(type_it)


def test_four_hostile_typists_make_nobody_wait(target):
    visitors = [target.visitor() for _ in range(4)]
    for visitor in visitors:
        visitor.open("memorization")

    def type_it(turn: int = 0) -> None:
        def one(visitor) -> None:
            for number in range(4):
                visitor.set("memorization_pattern", f"{QUADRATIC}{turn}{number}")

        threads = [threading.Thread(target=one, args=(visitor,)) for visitor in visitors]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    try:
        target.must_hear(type_it)
    finally:
        for visitor in visitors:
            visitor.close()


@pytest.mark.parametrize("page", ["workbench", "automata", "tokens"])
def test_a_hostile_expression_in_a_link_makes_nobody_wait(target, page):
    name = {"workbench": "pattern", "automata": "lesson", "tokens": "tokens_text"}[page]
    target.must_hear(lambda _: opened(target, page, f"{name}={QUADRATIC.replace('{', '%7B').replace('}', '%7D')}"))


def test_a_study_with_millions_of_pieces_opens_in_a_moment(target):
    """As a store may hold one that was imported once: ten million pieces took 69 s and 2.3 GB."""
    targets = [f"target {number}" for number in range(10_000)]
    planted = made.plant(target.store, made.study("causal-triggers", target.model, targets=targets, seeds=1_000))
    before = target.memory(server_alone=True)
    target.must_hear(lambda _: opened(target, "causal-triggers", f"run={planted}"))
    assert target.memory(server_alone=True) - before < 300 << 20


@pytest.fixture(scope="module")
def many_rows(target):
    """A search of 100,000 rows that another program put into the store."""
    rows = (made.match_row(number, f"text {number}") for number in range(1, 100_001))
    return made.plant(target.store, made.search("text [0-9]+", target.model), rows, {"matches": 100_000})


@pytest.mark.slow
def test_a_run_of_many_rows_opens_for_four_without_making_anybody_wait(target, many_rows):
    settle(target)
    with contextlib.ExitStack() as stack:
        visitors = [stack.enter_context(target.visitor()) for _ in range(4)]

        def open_it(turn: int = 0) -> None:
            for visitor in visitors:
                visitor.open("workbench", f"run={many_rows}")
                assert visitor.exceptions() == []

        target.must_hear(open_it)
        assert target.computing(open_it) < 4 * 2.0


@pytest.mark.slow
def test_those_who_look_at_a_run_of_many_rows_share_its_memory(target, many_rows):
    with contextlib.ExitStack() as stack:
        stack.enter_context(target.visitor()).open("workbench", f"run={many_rows}")
        settle(target)
        first = target.memory(server_alone=True)
        for _ in range(3):
            stack.enter_context(target.visitor()).open("workbench", f"run={many_rows}")
        settle(target)
        assert (target.memory(server_alone=True) - first) / 3 < 40 << 20


@pytest.mark.slow
def test_a_file_of_many_rows_is_taken_in_without_making_anybody_wait(target):
    rows = (made.match_row(number, f"text {number}") for number in range(1, 100_001))
    data = made.run_file(made.search("text [0-9]+", target.model), rows)
    assert len(data) < 5_000_000
    target.must_hear(lambda _: taken_in(target, data))


def test_a_history_of_long_patterns_is_drawn_without_making_anybody_wait(own_target):
    with own_target(model="none") as target:
        specification = made.search("a" * 990_000, "none")
        for _ in range(25):
            made.plant(target.store, specification)
        with target.visitor() as visitor:
            visitor.open("")

            def look(turn: int = 0) -> None:
                visitor.open("history")
                visitor.look()

            target.must_hear(look)
            assert target.computing(look) < 1.0
            assert visitor.exceptions() == []
            assert "25 runs" in visitor.texts()


def figure(kilobytes: int, seed: int) -> str:
    """A plotly figure of so many kilobytes, an honest one with very many points."""
    points = ",".join(str((seed * 7919 + number) % 1000 / 1000) for number in range(kilobytes * 1000 // 6))
    return f'{{"data":[{{"type":"scatter","y":[{points}]}}],"layout":{{}}}}'


def heavy_deck(target: Target, name: str) -> str:
    """A deck of twenty figures of 1.3 MB, and its name."""
    screens = ScreenStore(target.store_url)
    for number in range(20):
        screens.add(Screen(f"Screen {number}", ("A sentence.",), figure=figure(1_300, number), deck=name))
    screens.close()
    return name


def test_a_deck_of_large_figures_is_arranged_without_making_anybody_wait(target):
    decks = [heavy_deck(target, f"arranged {turn}") for turn in range(2)]
    target.must_hear(lambda turn: opened(target, "present", f"deck={quote(decks[turn])}"))


def test_a_deck_of_large_figures_opens_in_a_moment(target):
    deck = heavy_deck(target, "opened")
    assert target.computing(lambda: opened(target, "present", f"deck={deck}")) < 5.0


@pytest.mark.slow
def test_a_deck_of_large_figures_is_shown_without_making_anybody_wait(target):
    decks = [heavy_deck(target, f"shown {turn}") for turn in range(2)]
    target.must_hear(lambda turn: opened(target, "present", f"deck={quote(decks[turn])}&screen=1"))


def test_a_developers_message_makes_no_process_and_keeps_no_memory(target):
    """Streamlit's `clear_cache` may come from anybody: each time the shared children were started anew and left."""
    with target.visitor() as visitor:
        for page in ("automata", "tokens", "workbench"):
            visitor.open(page, f"pattern=a&lesson=a&tokens_text=a&model={target.model}")
            time.sleep(1.0)
            visitor.look()
        settle(target)
        processes, memory = len(target.processes()), target.memory()
        for _ in range(10):
            visitor.clear_cache()
            for page in ("automata", "tokens", "workbench"):
                visitor.open(page, f"pattern=a&lesson=a&tokens_text=a&model={target.model}")
        settle(target)
        assert len(target.processes()) <= processes
        assert target.memory() - memory < 100 << 20


def test_a_wrong_file_is_refused_without_making_anybody_wait(target):
    hostile = [
        made.packed([{"relens_run": 1, "x": [[]] * 1_000_000}]),
        made.packed(made.run_lines(made.search("a", target.model), [{"text": "x" * 4_000_000}] * 5)),
        made.packed(made.run_lines(made.study("bias", target.model), [{"unit": "a", "row": "b", "c": [0] * 900_000}])),
    ]
    for data in hostile:
        target.must_hear(lambda _, data=data: taken_in(target, data))


def test_what_a_scraper_may_ask_makes_nobody_wait(target):
    def scrape(turn: int = 0) -> None:
        for _ in range(5):
            with (
                contextlib.suppress(OSError),
                urllib.request.urlopen(f"{target.url}/_stcore/metrics", timeout=60) as answer,
            ):
                answer.read()

    target.must_hear(scrape)


def many_names() -> BackMsg:
    message = BackMsg()
    message.file_urls_request.file_names.extend(f"file {number}" for number in range(100_000))
    return message


def many_widgets() -> BackMsg:
    message = BackMsg()
    message.rerun_script.page_name = "glossary"
    for number in range(100_000):
        message.rerun_script.widget_states.widgets.add(id=f"$$ID-{number}-widget", string_value="x")
    return message


def long_address() -> BackMsg:
    message = BackMsg()
    message.rerun_script.page_name = "workbench"
    message.rerun_script.query_string = "&".join(f"name{number}=%F0%9F%A6%8A" for number in range(100_000))
    return message


def endless_table() -> BackMsg:
    message = BackMsg()
    message.backend_operation_request.dataframe_chunk.source_id = "x"
    message.backend_operation_request.dataframe_chunk.limit = 2**31 - 1
    return message


MESSAGES = {
    "load_git_info": lambda: BackMsg(load_git_info=True),
    "many_names": many_names,
    "many_widgets": many_widgets,
    "long_address": long_address,
    "endless_table": endless_table,
}


@pytest.mark.parametrize("make", MESSAGES.values(), ids=MESSAGES)
def test_no_message_makes_anybody_wait(target, make):
    message = make()

    def send(turn: int) -> None:
        with target.visitor() as visitor:
            visitor.open("glossary")
            with contextlib.suppress(RefusedError):  # the server may end a connection that says such things
                for _ in range(3):
                    visitor.send(message)
            time.sleep(1.0)

    target.must_hear(send)
    with target.visitor() as visitor:
        visitor.open("glossary")


@pytest.mark.slow
def test_many_reruns_at_once_make_nobody_wait(target):
    """Messages that have come already are taken one after the other, and whoever else asks stands behind them all."""

    def send(turn: int) -> None:
        with target.visitor() as visitor:
            visitor.open("workbench", f"pattern=The+cat&model={target.model}")
            for _ in range(100):
                visitor.rerun(wait=False)
            visitor.rerun()

    target.must_hear(send)
