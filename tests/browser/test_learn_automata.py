"""A learner goes from a pattern to its canonical automaton, and every drawing is the engine's automaton."""

from __future__ import annotations

import hashlib
import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from relens.language.compile import compile_language
from relens.learn.lesson import lesson, lesson_query
from relens.learn.steps import LessonOptions
from relens.models.loading import load_tokenizer
from relens.pictures.labels import tokens_label
from relens.query import Encoding
from relens.studies.decoder_view import DecoderStudy, decoder_findings
from relens.tokens.compiled import compile_query
from tests.browser.server import PATIENCE, parameter, wait_until

pytestmark = pytest.mark.browser

PATTERN = "The ((cat)|(dog))"

#: What is drawn: of each state and arc its id, its classes and its name for who cannot see it.
DRAWN = """
() => {
  const open = (root) => [...root.querySelectorAll("*")].flatMap((each) => each.shadowRoot ? [each.shadowRoot] : [])
  const roots = [document, ...open(document)]
  const svg = roots.map((root) => root.querySelector(".host svg")).find(Boolean)
  if (!svg) return null
  return [...svg.querySelectorAll("[id^=state-], [id^=arc-]")].map((part) => ({
    id: part.id, classes: part.getAttribute("class") ?? "", name: part.getAttribute("aria-label") ?? "" }))
}
"""


@pytest.fixture(scope="module")
def tokenizer():
    return load_tokenizer("smollm2-135m")


@pytest.fixture
def page(browser, dashboard):
    context = browser.new_context(viewport={"width": 1440, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    yield page
    context.close()


def open_lesson(page, dashboard, **parameters):
    page.goto(f"{dashboard.url}/automata?{urlencode(parameters)}")
    page.locator("[data-lesson-step]").wait_for()


def drawn(page, states, arcs, question):
    """The drawing that answers the question: it comes a moment after the sentences."""
    parts = []
    page.locator(f'.frame[data-question="{hashlib.sha256(question.encode()).hexdigest()[:16]}"]').wait_for()

    def is_there():
        parts[:] = page.evaluate(DRAWN) or []
        kinds = [part["id"].split("-")[0] for part in parts]
        return (kinds.count("state"), kinds.count("arc")) == (states, arcs)

    wait_until(is_there, PATIENCE / 1000, f"A drawing of {states} states and {arcs} arcs")
    return parts


def labels(parts):
    """(source, label, target) of the arcs of a drawing, from the names for screen readers."""
    arcs = []
    for part in parts:
        if part["id"].startswith("arc-"):
            ends = re.search(r"^Arc from (\d+)(?: \(.*?\))? to (\d+)", part["name"])
            reads = re.search(r"Reads: (.*?)(?:\. |$)", part["name"])
            arcs.append((int(ends[1]), reads[1] if reads else "", int(ends[2])))
    return sorted(arcs)


def finals(parts):
    return {int(part["id"].removeprefix("state-")) for part in parts if "final" in part["classes"].split()}


def byte_arcs(automaton):
    """The arcs of an automaton over bytes of ASCII, each by itself."""
    return sorted(
        (state, "␣" if byte == 32 else chr(byte), target)
        for state, row in enumerate(automaton.transitions.tolist())
        for byte, target in enumerate(row)
        if target >= 0
    )


def token_arcs(automaton, tokenizer):
    """The arcs of a token automaton, parallel ones as one, its states numbered breadth first, and the final ones."""
    order, listed = [automaton.start], []
    for state in order:  # which grows meanwhile
        parallel = {}
        tokens = automaton.arcs(state).tokens.tolist()
        for token, target in zip(tokens, automaton.destinations(state).tolist(), strict=True):
            parallel.setdefault(target, []).append(token)
        order += [target for target in parallel if target not in order]
        listed += [(state, tokens_label(sorted(tokens), tokenizer), target) for target, tokens in parallel.items()]
    number = {state: place for place, state in enumerate(order)}
    arcs = sorted((number[source], label, number[target]) for source, label, target in listed)
    return arcs, {number[state] for state in order if automaton.is_final(state)}


def test_a_learner_follows_a_pattern_to_its_canonical_automaton(page, dashboard, tokenizer):
    steps = lesson(PATTERN, tokenizer).steps
    page.goto(f"{dashboard.url}/automata")
    page.get_by_role("link", name=PATTERN).first.click()
    shown = {}
    for number, step in enumerate(steps, start=1):
        expect(page.locator(f'[data-lesson-step="{number}"]')).to_contain_text(step.title)
        states = {step.graph.start, *(end for arc in step.graph.arcs for end in (arc.source, arc.target))}
        parts = drawn(page, len(states), len(step.graph.arcs), f"{PATTERN} {step.key}")
        assert {part["id"] for part in parts if part["id"].startswith("state-")} == {f"state-{each}" for each in states}
        assert labels(parts) == sorted((arc.source, arc.label, arc.target) for arc in step.graph.arcs)
        assert finals(parts) == set(step.graph.finals) & states
        shown[step.key] = parts
        page.locator(".st-key-lesson_next button:visible").click()

    # What was followed are the engine's own automata.
    automaton = compile_language(lesson_query(PATTERN, LessonOptions())).pattern
    assert labels(shown["minimal"]) == byte_arcs(automaton)
    everything = compile_query(lesson_query(PATTERN, LessonOptions()), tokenizer).automaton
    (last_shortcut,) = [step.key for step in steps if step.stage == "tokens"][-1:]
    own_numbers = sorted(
        (state, tokens_label(sorted(tokens), tokenizer), target)
        for state in range(automaton.states)
        for target in sorted(set(everything.destinations(state).tolist()))
        if (
            tokens := [
                token for token in everything.arcs(state).tokens.tolist() if everything.step(state, token) == target
            ]
        )
    )
    assert labels(shown[last_shortcut]) == own_numbers
    canonical = compile_query(lesson_query(PATTERN, LessonOptions(), Encoding.CANONICAL), tokenizer).automaton
    assert (labels(shown["canonical"]), finals(shown["canonical"])) == token_arcs(canonical, tokenizer)


def test_steps_go_back_and_forth_and_the_address_keeps_them(page, dashboard, tokenizer):
    open_lesson(page, dashboard, lesson="(a|b)*abb", lesson_step=5)
    expect(page.locator('[data-lesson-step="5"]')).to_be_visible()
    page.locator(".st-key-lesson_previous button:visible").click()
    expect(page.locator('[data-lesson-step="4"]')).to_be_visible()
    page.keyboard.press("ArrowRight")
    # Two answers that wait for one drawing become one: the arrow has to be through before the operation is pressed.
    expect(page.locator('[data-lesson-step="5"]')).to_be_visible()
    page.locator(".st-key-lesson_stage button", has_text="Canonical encodings").click()
    first = next(
        place for place, step in enumerate(lesson("(a|b)*abb", tokenizer).steps, 1) if step.stage == "canonical"
    )
    expect(page.locator(f'[data-lesson-step="{first}"]')).to_be_visible()
    page.wait_for_url(f"**lesson_step={first}*")
    page.reload()
    expect(page.locator(f'[data-lesson-step="{first}"]')).to_be_visible()
    # Another pattern begins at its first step; a mistake says where it is, and the lesson before stays.
    page.locator(".st-key-lesson input").fill("(ab")
    expect(page.get_by_text("unterminated subpattern, at position 0")).to_be_visible()
    page.locator(".st-key-lesson input").fill("(ab)")
    expect(page.locator('[data-lesson="(ab)"][data-lesson-step="1"]')).to_be_visible()


def test_the_model_says_which_arcs_its_decoder_cannot_take(page, dashboard, tokenizer):
    steps = len(lesson(PATTERN, tokenizer).steps)
    open_lesson(page, dashboard, lesson=PATTERN, lesson_step=steps + 1, lesson_top_k=1000)
    page.locator(".st-key-lesson_ask button:visible").click()
    # The sentence over the drawing: the arcs, once they are marked, begin with the same words.
    expect(page.get_by_text(re.compile(r"^The decoder can take \d+ of the \d+ arcs")).first).to_be_visible()
    run_id = parameter(page, "run")
    wait_until(lambda: dashboard.store.get(run_id).status == "done", PATIENCE / 1000, "The end of the run")
    taken = decoder_findings(dashboard.store.rows(run_id), DecoderStudy()).kept
    everything = lesson(PATTERN, tokenizer).steps
    graph = [step.graph for step in everything if step.stage == "tokens"][-1]
    dashed = sorted((arc.source, arc.label, arc.target) for arc in graph.arcs if (arc.source, arc.target) not in taken)
    assert 0 < len(dashed) < len(graph.arcs)

    def is_drawn():
        parts = page.evaluate(DRAWN) or []
        return labels([part for part in parts if "cut" in part["classes"]]) == dashed

    wait_until(is_drawn, PATIENCE / 1000, "The dashed arcs")
