"""The page of lessons on a lesson source without a child process."""

from __future__ import annotations

import shutil

import pytest

import relens_dashboard.learn.decoder_step as step_module
import relens_dashboard.learn.lesson_page as page_module
from relens.errors import StoreError
from relens.learn.lesson import lesson
from relens.learn.steps import STAGES
from relens.query import Decoding
from relens.runs.screens import ScreenStore
from relens.runs.specification import StudySpecification
from relens.studies.decoder_view import DecoderArc, DecoderStudy, OpenPaths, WalkedPath
from relens_dashboard.learn.lesson_marks import growth_sentence
from relens_dashboard.learn.lesson_page import DECODER
from relens_dashboard.learn.sources import lesson_source
from relens_dashboard.runs.addresses import address_of

PAGE = "../../pages/automata.py"
PATTERN = "ab|<b>"


class OwnMaker:
    """Lessons made in this process."""

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        self.questions = []

    def lesson(self, pattern, model, options):
        self.questions.append((pattern, model, options))
        if pattern == "boom":
            raise ZeroDivisionError
        return lesson(pattern, self.tokenizer, options)


@pytest.fixture
def maker(byte_tokenizer, monkeypatch):
    made = OwnMaker(byte_tokenizer)
    source = lesson_source(made)
    ask = source.ask
    # A test waits for the answer that a page would look for again.
    monkeypatch.setattr(source, "ask", lambda question, wait: ask(question, 60))
    monkeypatch.setattr(page_module, "get_lessons", lambda: source)
    yield made
    source.threads.shutdown()


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
    assert maker.questions == []


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


def test_a_request_of_a_browser_that_has_not_drawn_the_last_one_is_no_click_on_an_operation(automata):
    page = typed(automata, PATTERN)
    page.slider(key="lesson_step").set_value(5).run()
    drawn_before = page._tree.get_widget_states()
    typed(page, "(a")
    page.text_input(key="lesson").set_value("(a)")
    (pattern,) = [each for each in page._tree.get_widget_states().widgets if each.string_value == "(a)"]
    for each in drawn_before.widgets:
        if each.id == pattern.id:
            each.CopyFrom(pattern)
    page._run(drawn_before)
    assert not page.exception
    assert 'data-lesson="(a)"' in html_of(page)
    assert 'data-lesson-step="1"' in html_of(page)


def test_a_click_on_an_operation_goes_to_its_first_step(automata, byte_tokenizer):
    page = typed(automata, PATTERN)
    steps = lesson(PATTERN, byte_tokenizer).steps
    first = next(place for place, step in enumerate(steps, 1) if step.stage == "canonical")
    page.pills(key="lesson_stage_0").set_value(STAGES["canonical"]).run()
    assert f'data-lesson-step="{first}"' in html_of(page)


def test_a_mistake_is_shown_with_its_place_and_the_last_lesson_stays(automata):
    page = typed(typed(automata, PATTERN), "(a")
    assert "unterminated subpattern" in page.error[0].value
    assert page.code[0].value.startswith("(a\n^")
    assert any("last pattern" in caption.value for caption in page.caption)
    assert 'data-lesson-step="1"' in html_of(page)


def test_a_bug_is_a_sentence(automata):
    assert "ZeroDivisionError" in typed(automata, "boom").error[0].value


def test_a_lesson_that_ends_early_has_a_note(automata):
    page = typed(automata, r"\w+")
    assert "The lesson ends here" in page.info[0].value
    assert DECODER not in page.pills(key="lesson_stage_0").options


def test_the_switch_for_edits_makes_another_lesson(automata, maker):
    page = typed(automata, "a")
    page.toggle(key="lesson_edits").set_value(True).run()
    assert not page.exception
    assert maker.questions[-1][2].edits


def test_the_decoder_is_a_run_of_its_own(automata, services, byte_tokenizer):
    page = typed(automata, PATTERN)
    page.slider(key="lesson_step").set_value(len(lesson(PATTERN, byte_tokenizer).steps) + 1).run()
    page.number_input(key="lesson_top_k").set_value(7).run()
    page.button(key="lesson_ask").click().run()
    assert not page.exception
    (run_id,) = services.store.runs
    study = StudySpecification.from_json(services.store.get(run_id).specification).study
    assert isinstance(study, DecoderStudy)
    assert (study.pattern, study.decoding.top_k, study.edits) == (PATTERN, 7, False)


def decoder_rows(tokenizer):
    """Rows of a decoder on the automaton of all encodings: every arc out of its start, and nothing behind it."""
    graph = [step for step in lesson(PATTERN, tokenizer).steps if step.stage == "tokens"][-1].graph
    arcs = [
        DecoderArc(place, arc.target, log_prob=-1.0, kept=not place)
        for place, arc in enumerate(graph.arcs)
        if arc.source == graph.start
    ]
    return [
        WalkedPath(0, (), "", graph.start, False, 0.0, tuple(arcs)).to_json(),
        OpenPaths(0).to_json(),
    ]


@pytest.fixture
def decoder_page(dashboard, maker, services, byte_tokenizer):
    """A page that was opened by the address of a run of the decoder, which is done."""
    study = DecoderStudy(PATTERN, decoding=Decoding(top_k=7))
    run_id = services.store.submit(StudySpecification("smollm2-135m", study))
    services.store.add_rows(run_id, decoder_rows(byte_tokenizer))
    services.store.change(run_id, status="done", variety="decoder")
    dashboard.run()
    dashboard.switch_page(PAGE)
    for name, value in address_of(services.store.get(run_id)).parameters.items():
        dashboard.query_params[name] = value
    page = dashboard.run()
    assert not page.exception
    return page


def test_a_run_of_the_decoder_is_opened_by_its_address(decoder_page):
    assert "The decoder can take 1 of the" in html_of(decoder_page)
    assert decoder_page.number_input(key="lesson_top_k").value == 7
    assert not decoder_page.error


def test_a_store_that_is_busy_for_a_moment_is_read_again(decoder_page, services, monkeypatch):
    def busy(*_, **__):
        raise StoreError("The store of runs is too busy to answer.")

    page = decoder_page
    waits = []
    monkeypatch.setattr(step_module, "ticker", lambda seconds, key: waits.append(seconds))
    (run,) = services.store.runs.values()
    services.store.change(run.id, row_count=run.row_count + 1)  # so that rows are read again
    for name in ("get", "rows"):
        with monkeypatch.context() as patched:
            patched.setattr(services.store, name, busy)
            page.run()
        assert "too busy" in page.error[0].value
        assert not any("No run has these settings" in caption.value for caption in page.caption)
    page.run()
    assert "The decoder can take 1 of the" in html_of(page)
    assert waits[0]
    assert waits[1:] == [waits[0], None]


@pytest.mark.skipif(shutil.which("dot") is None, reason="pictures are pinned where they are laid out")
def test_the_decoder_step_is_pinned(decoder_page, services, tmp_path, monkeypatch):
    monkeypatch.setenv("RELENS_STORE", f"sqlite:///{tmp_path / 'screens.db'}")
    decoder_page.button(key="pin_decoder").click().run()
    (screen,) = ScreenStore(f"sqlite:///{tmp_path / 'screens.db'}").all()
    assert screen.title == f"With top-k 7: {PATTERN}"
    assert screen.sentences[0].startswith("The decoder can take 1 of the")
    assert screen.source["run"] in services.store.runs
    assert screen.figure.lstrip().startswith("<")


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


def test_the_growth_of_encodings_is_pinned(automata, byte_tokenizer, tmp_path, monkeypatch):
    monkeypatch.setenv("RELENS_STORE", f"sqlite:///{tmp_path / 'screens.db'}")
    page = typed(automata, PATTERN)
    page.button(key="pin_growth").click().run()
    assert not page.exception
    (screen,) = ScreenStore(f"sqlite:///{tmp_path / 'screens.db'}").all()
    assert screen.sentences == (growth_sentence(lesson(PATTERN, byte_tokenizer).growth),)
