"""The page of lessons on a lesson source without a child process."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

import app.learn.lesson_page as page_module
from app.learn.lesson_page import DECODER
from app.learn.lesson_source import LessonSource, ask_lesson
from engine.learn.lesson import lesson
from engine.runs.screens import ScreenStore
from engine.runs.specification import StudySpecification
from engine.studies.decoder_view import DecoderStudy

PAGE = "../pages/automata.py"
PATTERN = "ab|<b>"


class OwnMaker:
    """Lessons made in this process."""

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        self.asked = []

    def lesson(self, pattern, model, options):
        self.asked.append((pattern, model, options))
        if pattern == "boom":
            raise ZeroDivisionError
        return lesson(pattern, self.tokenizer, options)


@pytest.fixture
def maker(byte_tokenizer, monkeypatch):
    made = OwnMaker(byte_tokenizer)
    with ThreadPoolExecutor(2) as threads:
        source = LessonSource(made, threads)
        # A test can wait for what a page looks for again.
        monkeypatch.setattr(page_module, "ask_lesson", lambda question, wait: ask_lesson(question, 60, lambda: source))
        yield made


@pytest.fixture
def automata(dashboard, maker):
    dashboard.run()
    page = dashboard.switch_page(PAGE).run()
    assert not page.exception
    return page


def html_of(page):
    return "\n".join(element.proto.body for element in page.get("html"))


def typed(page, pattern):
    page.text_input(key="lesson").set_value(pattern).run()
    assert not page.exception
    return page


def test_an_empty_page_offers_examples(automata, maker):
    assert "lesson=The+%28%28cat%29%7C%28dog%29%29" in html_of(automata)
    assert maker.asked == []


def test_steps_forwards_and_backwards(automata, byte_tokenizer):
    page = typed(automata, PATTERN)
    steps = lesson(PATTERN, byte_tokenizer).steps
    assert 'data-lesson-step="1"' in html_of(page)
    assert page.button(key="lesson_previous").disabled
    page.button(key="lesson_next").click().run()
    assert steps[1].title in html_of(page)
    page.slider(key="lesson_step").set_value(len(steps)).run()
    assert steps[-1].title in html_of(page)
    page.button(key="lesson_previous").click().run()
    assert steps[-2].title in html_of(page)
    assert "<b>" not in html_of(page).split('data-lesson="', 1)[1].split('"')[0]


def test_another_pattern_begins_at_its_first_step(automata):
    page = typed(automata, PATTERN)
    page.slider(key="lesson_step").set_value(9).run()
    page = typed(page, "a")
    assert 'data-lesson-step="1"' in html_of(page)


def test_a_mistake_is_said_with_its_place_and_the_lesson_before_stays(automata):
    page = typed(typed(automata, PATTERN), "(a")
    assert "unterminated subpattern" in page.error[0].value
    assert page.code[0].value.startswith("(a\n^")
    assert any("last pattern" in caption.value for caption in page.caption)
    assert 'data-lesson-step="1"' in html_of(page)


def test_a_bug_is_a_sentence(automata):
    assert "ZeroDivisionError" in typed(automata, "boom").error[0].value


def test_a_lesson_that_ends_early_says_why(automata):
    page = typed(automata, r"\w+")
    assert "The lesson ends here" in page.info[0].value
    assert DECODER not in page.pills(key="lesson_stage").options


def test_the_switch_for_edits_asks_for_another_lesson(automata, maker):
    page = typed(automata, "a")
    page.toggle(key="lesson_edits").set_value(True).run()
    assert not page.exception
    assert maker.asked[-1][2].edits


def test_the_decoder_is_a_run_of_its_own(automata, services, byte_tokenizer):
    page = typed(automata, PATTERN)
    page.slider(key="lesson_step").set_value(len(lesson(PATTERN, byte_tokenizer).steps) + 1).run()
    page.number_input(key="lesson_top_k").set_value(7).run()
    page.button(key="lesson_ask").click().run()
    assert not page.exception
    (run_id,) = services.store.runs
    asked = StudySpecification.from_json(services.store.get(run_id).specification).study
    assert isinstance(asked, DecoderStudy)
    assert (asked.pattern, asked.decoding.top_k, asked.edits) == (PATTERN, 7, False)


@pytest.mark.skipif(shutil.which("dot") is None, reason="pictures are pinned where they are laid out")
def test_a_step_is_pinned_with_its_sentences(automata, byte_tokenizer, tmp_path, monkeypatch):
    monkeypatch.setenv("RELENS_STORE", f"sqlite:///{tmp_path / 'screens.db'}")
    page = typed(automata, PATTERN)
    page.button(key="pin_lesson").click().run()
    assert not page.exception
    (screen,) = ScreenStore(f"sqlite:///{tmp_path / 'screens.db'}").all()
    step = lesson(PATTERN, byte_tokenizer).steps[0]
    assert screen.sentences == (step.title, step.happened, step.look)
    assert screen.figure.startswith("<svg")
    assert screen.source["page"] == "automata"
