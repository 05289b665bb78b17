"""The data of the viewer: its details agree with the graph, and its note counts the states left out."""

import re
import shutil
import tomllib
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relens.pictures.drawing import STYLES, Marks
from relens.runs.preview import Graph, GraphArc
from relens_dashboard import picture
from relens_dashboard.picture import details_of, legend_of, picture_of
from tests.app.fakes import graph_of

needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="graphviz is not installed")
ROOT = Path(__file__).resolve().parents[2]


def graph(arcs, finals=(), unfinished=()):
    arcs = tuple(GraphArc(*arc) for arc in arcs)
    states = 1 + max(state for arc in arcs for state in (arc.source, arc.target))
    return Graph(0, tuple(finals), states, arcs, tuple(unfinished), states, len(arcs), "")


def test_the_details_of_a_state_are_its_kind_and_its_arcs():
    automaton = graph([(0, 1, "The", 1, True), (1, 1, "[a-z]", 26, False), (1, 2, "!", 1, False)], finals=(1,))
    details = details_of(automaton, Marks(state_notes={1: "Look here."}))
    assert details["state-0"] == {
        "title": "State 0",
        "label": "0",
        "lines": [
            "The start: every string begins here.",
            "Inside the prefix, which is given and not predicted.",
            "No arc leads in.",
            "1 arc out:",
            "  The  to 1",
        ],
    }
    assert details["state-1"]["lines"] == [
        "Final: a match may end here.",
        "Inside the prefix, which is given and not predicted.",
        "Look here.",
        "2 arcs in:",
        "  The  from 0",
        "  [a-z]  from 1",
        "2 arcs out:",
        "  [a-z]  to 1",
        "  !  to 2",
    ]


def test_the_details_of_an_arc_are_its_ends_its_whole_label_and_its_count():
    long = "x" * 500
    automaton = graph([(0, 1, long, 1204, False), (0, 1, "b", 1, True)])
    marks = Marks(arcs={(0, 1, "b"): "cut"}, arc_notes={(0, 1, "b"): "The rule forbids it."}, state_names={1: "end"})
    details = details_of(automaton, marks)
    assert details["arc-0"] == {
        "title": "Arc from 0 to 1 (end)",
        "label": long,
        "lines": [f"Reads: {long}", "Stands for 1,204 parallel arcs of the automaton."],
    }
    assert details["arc-1"]["lines"] == [
        "Reads: b",
        "Part of the prefix, which is given and not predicted.",
        "Cut: it cannot be taken.",
        "The rule forbids it.",
    ]


def test_a_state_with_a_thousand_arcs_names_a_few_and_counts_the_rest():
    automaton = graph([(0, 1 + place, str(place), 1, False) for place in range(1000)])
    lines = details_of(automaton)["state-0"]["lines"]
    assert "1,000 arcs out:" in lines
    assert lines[-1] == "  and 988 more"
    assert len(lines) < 20


@needs_dot
@given(
    st.lists(
        st.tuples(st.integers(0, 6), st.integers(0, 6), st.sampled_from("abc"), st.integers(1, 2), st.booleans()),
        min_size=1,
        max_size=8,
    )
)
def test_there_are_details_for_what_is_drawn_and_for_nothing_else(arcs):
    automaton = graph(arcs)
    shown = {0, *(state for arc in arcs for state in arc[:2])}
    ids = {f"state-{state}" for state in shown} | {f"arc-{place}" for place in range(len(arcs))}
    assert set(details_of(automaton)) == ids


@needs_dot
def test_every_state_is_drawn_unless_chains_are_to_be_joined():
    each = picture_of(graph_of("The cat"))
    assert len(each.graph.arcs) == 7
    joined = picture_of(graph_of("The cat"), separator="")
    assert [arc.label for arc in joined.graph.arcs] == ["The␣cat"]
    marked = picture_of(graph_of("The cat"), Marks(states={3: "current"}), separator="")
    assert [arc.label for arc in marked.graph.arcs] == ["The", "␣cat"]


@needs_dot
def test_more_states_than_one_can_read_are_not_drawn_and_the_note_says_so():
    automaton = graph([(place, place + 1, "a", 1, False) for place in range(400)], finals=(400,))
    drawn = picture_of(automaton)
    assert drawn.svg is not None
    assert "The 300 states nearest to the start are drawn; 101 states and 101 arcs are not." in drawn.note
    shown = {element.get("id") for element in ElementTree.fromstring(drawn.svg).iter()}
    assert "state-299" in shown
    assert "state-300" not in shown


def test_a_layout_that_is_not_done_in_time_is_tried_with_less(monkeypatch):
    tried = []

    def slow(dot, seconds):
        tried.append((dot.count('[id="state-'), "splines=line" in dot))
        return "<svg/>" if tried[-1][0] <= 101 else None

    monkeypatch.setattr(picture, "layout", slow)
    monkeypatch.setattr(picture, "has_dot", lambda: True)
    automaton = graph([(place, place + 1, "a", 1, False) for place in range(399)])
    drawn = picture_of(automaton)
    # The state that stands for the rest is drawn too.
    assert tried == [(301, False), (301, True), (151, True), (76, True)]
    assert drawn.svg == "<svg/>"
    assert drawn.note.endswith("More could not be laid out in time.")


def test_without_dot_nothing_is_tried_twice(monkeypatch):
    monkeypatch.setattr(picture, "layout", lambda dot, seconds: None)
    monkeypatch.setattr(picture, "has_dot", lambda: False)
    assert picture_of(graph_of("cat")).svg is None


def test_the_legend_names_the_marks_that_are_there():
    assert legend_of(Marks()) == []
    assert legend_of(Marks(states={1: "frontier", 2: "current"}, arcs={(0, 1, "a"): "current"})) == [
        STYLES["current"].meaning,
        STYLES["frontier"].meaning,
    ]


def variables(rule):
    """The colours that a rule of the style sheet sets."""
    style = (ROOT / "assets/automaton_view/view.css").read_text(encoding="utf-8")
    body = re.search(re.escape(rule) + r" \{(.*?)\}", style, re.DOTALL).group(1)
    return dict(re.findall(r"--([\w-]+): (#[0-9A-Fa-f]{6})", body))


def luminance(colour):
    """Relative luminance, WCAG 2.2."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    """Contrast ratio, WCAG 2.2."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_labels_are_readable_on_their_background(theme):
    settings = ROOT / "app" / "relens_dashboard" / ".streamlit" / "config.toml"
    config = tomllib.loads(settings.read_text(encoding="utf-8"))["theme"][theme]
    colours = variables(".frame") | (variables(".frame.dark") if theme == "dark" else {})
    colours |= {"ink": config["textColor"], "paper": config["backgroundColor"]}
    style = (ROOT / "assets/automaton_view/drawing.css").read_text(encoding="utf-8")
    used = set(re.findall(r"text \{[^}]*?fill: var\(--([\w-]+)\)", style))
    assert {"ink", "soft", "given", "new", "cut", "match", "frontier", "canonical"} <= used
    for name in used:
        assert contrast(colours[name], colours["paper"]) >= 4.5, name
    assert contrast(colours["ink"], colours["current"]) >= 4.5
    assert contrast(colours["match"], colours["matched"]) >= 4.5
    # Lines are not text: WCAG 2.2, 1.4.11 asks for 3.
    for name in ("line", "final", "given", "new", "cut", "match", "frontier", "canonical"):
        assert contrast(colours[name], colours["paper"]) >= 3, name
