"""Marks and tables of a lesson's steps, on a lesson of the real engine with a small tokenizer."""

from __future__ import annotations

import pytest

from relens.learn.lesson import lesson
from relens.learn.steps import STAGES, Growth, LessonOptions, Sizes
from relens_dashboard.learn.lesson_marks import growth_chart, growth_sentence, marks_of, sizes_table, sizes_text
from relens_dashboard.picture import picture_of


@pytest.fixture(scope="module")
def whole_lesson(byte_tokenizer):
    return lesson("ca(b|é)", byte_tokenizer, LessonOptions(edits=True))


def test_every_mark_is_drawn(whole_lesson):
    for step in whole_lesson.steps:
        marks = marks_of(step)
        picture = picture_of(step.graph, marks)
        for mark in step.states:
            lines = picture.details[f"state-{mark.state}"]["lines"]
            assert not mark.note or mark.note in lines
        for place, arc in enumerate(picture.graph.arcs):
            note = marks.arc_notes.get((arc.source, arc.target, arc.label))
            assert note is None or note in picture.details[f"arc-{place}"]["lines"]
    assert any(marks_of(step).arcs for step in whole_lesson.steps)
    assert any(marks_of(step).state_names for step in whole_lesson.steps)


def test_the_table_has_the_sizes_after_each_operation(whole_lesson):
    table = sizes_table(whole_lesson)
    assert list(table["After"]) == list(STAGES.values())
    last = [step for step in whole_lesson.steps if step.stage == "canonical"][-1]
    assert list(table.iloc[-1][1:]) == [last.sizes.states, last.sizes.arcs, last.sizes.strings, last.sizes.encodings]


@pytest.mark.parametrize(
    ("sizes", "text"),
    [
        (Sizes(1, 1, "1", "1"), "1 state · 1 arc · 1 string · 1 encoding"),
        (Sizes(2, 1204, "infinitely many", ""), "2 states · 1,204 arcs · infinitely many strings"),
        (Sizes(None, None, "12", ""), "made as it is explored: too large to count · 12 strings"),
    ],
)
def test_sizes_in_words(sizes, text):
    assert sizes_text(sizes) == text


def test_growth_in_words_and_as_a_chart():
    parts = [Growth("a", 1, 1, 1), Growth("a<b>", 4, 3, 8)]
    assert growth_sentence(parts) == (
        "“a<b>” has 3 encodings in this model's tokens. It is 4 bytes long; if every piece of it were a token, it "
        "would have 2^3 = 8."
    )
    assert "1 encoding in" in growth_sentence(parts[:1])
    figure = growth_chart(parts).figure
    assert [list(trace.y) for trace in figure.data] == [[1.0, 8.0], [1.0, 3.0]]
    assert list(figure.data[1].hovertext) == ["a: 1 encoding", "a&lt;b&gt;: 3 encodings"]
