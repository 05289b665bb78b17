"""Automata as DOT and SVG: the drawing has its states and arcs, and every label is only text."""

import shutil
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relens.pictures import drawing
from relens.runs.preview import Graph, GraphArc
from tests.app.fakes import graph_of

needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="graphviz is not installed")
SVG = "{http://www.w3.org/2000/svg}"


def graph(arcs, finals=(), states=None, start=0, unfinished=()):
    arcs = tuple(GraphArc(source, target, label, count, given) for source, target, label, count, given in arcs)
    size = states or 1 + max([start, *finals, *(state for arc in arcs for state in (arc.source, arc.target))])
    return Graph(start, tuple(finals), size, arcs, tuple(unfinished), size, len(arcs), "")


def strings(automaton, longest=8):
    """All label sequences, as one string each, that lead from the start to a final state in at most `longest` arcs."""
    texts, layer = set(), {(automaton.start, "")}
    for _ in range(longest + 1):
        texts |= {text for state, text in layer if state in automaton.finals}
        layer = {
            (arc.target, text + arc.label) for state, text in layer for arc in automaton.arcs if arc.source == state
        }
    return texts


def test_a_chain_becomes_one_arc():
    joined = drawing.join_chains(graph_of("The cat", prefix_length=3))
    assert [(arc.source, arc.target, arc.label, arc.in_prefix) for arc in joined.arcs] == [
        (0, 3, "The", True),
        (3, 7, "␣cat", False),
    ]


def test_forks_merges_loops_and_marked_states_stay():
    arcs = [(0, 1, "a"), (0, 2, "b"), (1, 3, "c"), (2, 3, "d"), (3, 3, "e"), (3, 4, "f"), (4, 5, "g"), (5, 6, "h")]
    automaton = graph(
        [(*arc, 1, False) for arc in arcs],
        finals=(4, 6),
        unfinished=(5,),
    )
    joined = drawing.join_chains(automaton, "·")
    assert {(arc.source, arc.target, arc.label) for arc in joined.arcs} == {
        (0, 3, "a·c"),
        (0, 3, "b·d"),
        (3, 3, "e"),
        (3, 4, "f"),
        (4, 5, "g"),
        (5, 6, "h"),
    }


@given(
    st.lists(
        st.tuples(st.integers(0, 6), st.integers(0, 6), st.sampled_from("abc"), st.integers(1, 2), st.booleans()),
        max_size=12,
    ),
    st.sets(st.integers(0, 6), max_size=3),
)
def test_joining_chains_keeps_the_language(arcs, finals):
    automaton = graph(arcs, finals, states=7)
    # Joined arcs are longer, so a string of the original takes at most as many arcs as there were.
    assert strings(automaton, 5) <= strings(drawing.join_chains(automaton), 5)
    assert {text for text in strings(drawing.join_chains(automaton), 5) if len(text) <= 5} == {
        text for text in strings(automaton, 5) if len(text) <= 5
    }


def test_only_the_nearest_states_are_kept_and_the_rest_is_counted():
    fan = [(0, target, str(target), 2, False) for target in range(1, 8)]
    automaton = graph([*fan, *((target, 8, "x", 2, False) for target in range(1, 8))], finals=(8,))
    small = drawing.nearest(automaton, 4)
    assert {(arc.source, arc.target, arc.label, arc.count) for arc in small.arcs} == {
        (0, 1, "1", 2),
        (0, 2, "2", 2),
        (0, 3, "3", 2),
        (0, 9, "4 arcs", 8),
        (1, 10, "x", 2),
        (2, 11, "x", 2),
        (3, 12, "x", 2),
    }
    assert small.unfinished == (9, 10, 11, 12)
    assert small.finals == ()
    # Of nine states four are drawn; the arcs of the others, and those that lead to them, are not.
    assert "The 4 states nearest to the start are drawn; 5 states and 11 arcs are not" in small.note
    assert drawing.nearest(automaton, 9) is automaton


@given(
    st.lists(
        st.tuples(st.integers(0, 6), st.integers(0, 6), st.sampled_from("abc"), st.integers(1, 2), st.booleans()),
        max_size=14,
    ),
    st.sets(st.integers(0, 6), max_size=3),
    st.integers(1, 7),
)
def test_the_kept_states_of_a_large_automaton_are_a_part_of_it(arcs, finals, most):
    automaton = graph(arcs, finals, states=7)
    small = drawing.nearest(automaton, most)
    assert strings(small, 4) <= strings(automaton, 4)
    # Every arc of a kept state is drawn, or counted in the arc to its unfinished state.
    for state in {arc.source for arc in small.arcs}:
        assert sum(arc.count for arc in small.arcs if arc.source == state) == sum(
            arc.count for arc in automaton.arcs if arc.source == state
        )


@given(st.text(max_size=150), st.integers(4, 40))
def test_wrapping_loses_nothing_but_blanks_at_the_breaks(text, width):
    lines = drawing.wrapped(text, width, most_lines=1000)
    assert all(len(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_a_label_that_is_cut_says_so():
    lines = drawing.wrapped("x" * 1000)
    assert len(lines) == 4
    assert lines[-1].endswith("…")
    assert len(lines[-1]) <= 28


HOSTILE = [
    'a"b',
    "\\N \\G \\l \\",
    "&lt;script&gt;",
    "<script>alert(1)</script>",
    "<b>bold</b>",
    "\x00\x1b[31m",
    "\ud800",
    '"]; 9 [URL="javascript:1"]; //',
    "&#60;img&#62;",
    "&amp;",
    "]]>",
    "日本é␣",
    "-->",
]


@needs_dot
def test_hostile_labels_arrive_as_text_and_add_nothing_to_the_drawing():
    arcs = [(place, place + 1, label, 2, False) for place, label in enumerate(HOSTILE)]
    automaton = graph(arcs, finals=(len(HOSTILE),))
    svg = drawing.layout(drawing.graph_to_dot(automaton))
    assert svg is not None
    root = ElementTree.fromstring(svg)
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {"svg", "g", "title", "path", "polygon", "ellipse", "text"}
    drawn = {element.text for element in root.iter(f"{SVG}text")}
    for label in ('a"b', "\\N \\G \\l \\", "&lt;script&gt;", "<b>bold</b>", "&#60;img&#62;", "&amp;", "日本é␣"):
        assert label in drawn
    # One node a state and the entry, one edge an arc and the entry's: no label made another.
    classes = [element.get("class", "") for element in root.iter(f"{SVG}g")]
    assert sum(name.startswith("node") for name in classes) == len(HOSTILE) + 2
    assert sum(name.startswith("edge") for name in classes) == len(HOSTILE) + 1


@needs_dot
@settings(max_examples=15, deadline=None)
@given(st.text(st.characters(codec=None), min_size=1, max_size=20))
def test_any_label_is_drawn_as_itself(label):
    svg = drawing.layout(drawing.graph_to_dot(graph([(0, 1, label, 2, False)], finals=(1,))))
    root = ElementTree.fromstring(svg)
    groups = list(root.iter(f"{SVG}g"))
    assert len(groups) == 6  # the drawing, the entry with its arc, two states, one arc
    (arc,) = (group for group in groups if group.find(f"{SVG}title").text == "0->1")
    drawn = "".join(element.text or "" for element in arc.iter(f"{SVG}text"))
    assert without_blanks(drawn) == without_blanks("".join(map(in_xml, label)))


def in_xml(character):
    """The character, or the replacement where XML 1.0 (section 2.2) has no room for it."""
    code = ord(character)
    valid = code in (0x9, 0xA) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000
    return character if valid and code != 0x7F else "\ufffd"


def without_blanks(text):
    return "".join(text.split()).replace("\xa0", "")


@needs_dot
def test_final_prefix_and_unfinished_states_carry_their_classes():
    automaton = graph([(0, 1, "a", 1, True), (1, 2, "b", 1, False)], finals=(2,), unfinished=(1,))
    root = ElementTree.fromstring(drawing.layout(drawing.graph_to_dot(automaton)))
    named = {
        element.find(f"{SVG}title").text: element for element in root.iter(f"{SVG}g") if element.get("id") != "graph0"
    }
    assert "prefix" in named["0"].get("class")
    assert "prefix" in named["1"].get("class")
    assert "unfinished" in named["1"].get("class")
    assert "final" in named["2"].get("class")
    assert len(named["2"].findall(f"{SVG}ellipse")) == 2
    assert "prefix" in named["0->1"].get("class")
    assert "prefix" not in named["1->2"].get("class")


def test_without_dot_there_is_no_layout(monkeypatch):
    monkeypatch.setattr(drawing.shutil, "which", lambda name: None)
    drawing.layout.cache_clear()
    assert drawing.layout("digraph { a }") is None
    drawing.layout.cache_clear()


@needs_dot
def test_a_layout_that_takes_too_long_is_given_up():
    assert drawing.layout("digraph { a -> b }", timeout=0.0) is None
    assert drawing.layout("this is not DOT {") is None


def groups_of(svg):
    """The drawn states and arcs: id -> element."""
    return {element.get("id"): element for element in ElementTree.fromstring(svg).iter(f"{SVG}g") if element.get("id")}


@needs_dot
@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 9), st.text(max_size=6), st.integers(1, 2), st.booleans()),
        max_size=15,
    ),
    st.sets(st.integers(0, 9), max_size=3),
    st.booleans(),
)
def test_every_state_and_arc_is_drawn_once_between_its_ends(arcs, finals, hurried):
    automaton = graph(arcs, finals, states=10)
    svg = drawing.layout(drawing.graph_to_dot(automaton, hurried=hurried))
    ids = [element.get("id") for element in ElementTree.fromstring(svg).iter(f"{SVG}g")]
    drawn = [name for name in ids if name and name.startswith(("state-", "arc-"))]
    states = {0, *(state for arc in arcs for state in arc[:2])}
    assert sorted(drawn) == sorted([*(f"state-{state}" for state in states), *(f"arc-{n}" for n in range(len(arcs)))])
    groups = groups_of(svg)
    for place, (source, target, *_) in enumerate(arcs):
        assert groups[f"arc-{place}"].find(f"{SVG}title").text == f"{source}->{target}"


@needs_dot
@pytest.mark.parametrize("word", list(drawing.STYLES))
def test_a_mark_is_a_class_and_something_one_sees_without_colour(word):
    automaton = graph([(0, 1, "a", 1, False), (0, 2, "b", 1, False)])
    marks = drawing.Marks(states={1: word}, arcs={(0, 1, "a"): word})
    groups = groups_of(drawing.layout(drawing.graph_to_dot(automaton, marks)))

    def looks(part):
        """Dashes, weights and the arrow head of a group."""
        line = part.find(f"{SVG}path") if part.find(f"{SVG}path") is not None else part.find(f"{SVG}ellipse")
        head = [(e.tag, len((e.get("points") or "").split())) for e in part if e.tag.endswith(("polygon", "ellipse"))]
        return line.get("stroke-dasharray"), line.get("stroke-width"), head

    for marked, plain in (("state-1", "state-2"), ("arc-0", "arc-1")):
        assert word in groups[marked].get("class").split()
        assert word not in groups[plain].get("class").split()
        assert looks(groups[marked]) != looks(groups[plain])


def test_the_marks_of_arcs_differ_from_each_other_without_colour():
    assert len({style.edge for style in drawing.STYLES.values()}) == len(drawing.STYLES)


def test_cut_and_removed_arcs_are_broken_lines():
    assert "dashed" in drawing.STYLES["cut"].edge
    assert "dotted" in drawing.STYLES["removed"].edge


def test_a_mark_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="pretty"):
        drawing.Marks(states={1: "pretty"})


def test_marks_outside_the_graph_change_nothing():
    automaton = graph([(0, 1, "a", 1, False)])
    marks = drawing.Marks(states={7: "new"}, arcs={(0, 1, "b"): "cut"}, state_names={9: "nobody"})
    assert drawing.graph_to_dot(automaton, marks) == drawing.graph_to_dot(automaton)


@needs_dot
@pytest.mark.parametrize("name", HOSTILE)
def test_the_name_of_a_state_is_only_a_name(name):
    automaton = graph([(0, 1, "a", 1, False)], finals=(1,))
    svg = drawing.layout(drawing.graph_to_dot(automaton, drawing.Marks(state_names={1: name})))
    groups = groups_of(svg)
    assert {key for key in groups if key.startswith(("state-", "arc-"))} == {"state-0", "state-1", "arc-0"}
    drawn = "".join(element.text or "" for element in groups["state-1"].iter(f"{SVG}text"))
    assert without_blanks(drawn) == without_blanks("".join(map(in_xml, name)))
    assert len(groups["state-1"].findall(f"{SVG}ellipse")) == 2  # still a final state


def test_a_chain_is_not_joined_through_a_kept_state():
    joined = drawing.join_chains(graph_of("cat"), kept={2})
    assert [(arc.source, arc.target, arc.label) for arc in joined.arcs] == [(0, 2, "ca"), (2, 3, "t")]
