"""Live previews: one at a time a session, only the newest question matters, and nobody waits for a slow one."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from relens.errors import RegexError
from relens.query import Query
from relens_dashboard.live_preview import PREVIEW_LIMITS, LivePreview
from tests.app.fakes import FakePreviewer


class HeldPreviewer(FakePreviewer):
    """A source that answers when a test releases it, and counts simultaneous requests."""

    def __init__(self):
        super().__init__()
        self.go = threading.Semaphore(0)
        self.at_once, self.most_at_once = 0, 0

    def preview(self, query, model_name, limits=None):
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            assert self.go.acquire(timeout=20)
            return super().preview(query, model_name, limits)
        finally:
            self.at_once -= 1


@pytest.fixture
def threads():
    with ThreadPoolExecutor(4) as pool:
        yield pool


def test_a_quick_preview_is_drawn_at_once(threads):
    source = FakePreviewer()
    live = LivePreview(source, threads, threads)
    answer = live.ask(Query("cat", prefix="The "), "m", wait=20)
    assert answer.value.preview.strings == "1"
    assert 'label="cat"' in answer.value.language.dot
    assert 'label="c · a · t"' in answer.value.tokens.dot
    assert live.ask(Query("cat", prefix="The "), "m").value is answer.value
    assert source.patterns == ["cat"]


def test_an_error_is_an_answer(threads):
    live = LivePreview(FakePreviewer(), threads)
    answer = live.ask(Query("(a"), "m", wait=20)
    assert isinstance(answer.error, RegexError)
    assert not answer.is_pending


def test_a_bug_in_the_preview_is_a_sentence_and_not_for_ever(threads):
    class Broken(FakePreviewer):
        def preview(self, query, model_name, limits=None):
            raise ZeroDivisionError("secret")

    answer = LivePreview(Broken(), threads).ask(Query("a"), "m", wait=20)
    assert answer.error.sentence == "The preview failed: ZeroDivisionError."


def test_while_one_is_worked_on_only_the_newest_question_is_kept(threads):
    source = HeldPreviewer()
    live = LivePreview(source, threads)
    for pattern in ("s", "sl", "slo", "abc"):
        assert live.ask(Query(pattern), "m").is_pending
    source.go.release(2)
    assert live.ask(Query("abc"), "m", wait=20).value is not None
    assert source.patterns == ["s", "abc"]
    assert source.most_at_once == 1


def test_another_session_does_not_wait(threads):
    source = HeldPreviewer()
    held = LivePreview(source, threads)
    assert held.ask(Query("a"), "m").is_pending
    assert LivePreview(FakePreviewer(), threads).ask(Query("b"), "m", wait=20).value is not None
    source.go.release()


def test_the_same_pattern_for_another_model_is_another_question(threads):
    source = FakePreviewer()
    live = LivePreview(source, threads)
    live.ask(Query("a"), "one", wait=20)
    live.ask(Query("a"), "two", wait=20)
    assert source.patterns == ["a", "a"]


def test_what_is_remembered_is_bounded(threads):
    source = FakePreviewer()
    live = LivePreview(source, threads)
    for number in range(40):
        live.ask(Query(f"a{number}"), "m", wait=20)
    live.ask(Query("a39"), "m", wait=20)
    assert len(source.patterns) == 40
    live.ask(Query("a0"), "m", wait=20)
    assert len(source.patterns) == 41


def test_a_preview_has_a_shorter_limit_than_a_run():
    assert PREVIEW_LIMITS.compile_seconds < 10
