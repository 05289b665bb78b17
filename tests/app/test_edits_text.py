"""The edits of a match: in words, and marked so that both strings can be read off the marks."""

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from relens_dashboard.edits_text import edit_text, edits_text, marked_html


def edits_between(unedited, text):
    """The edits of `text`, by rapidfuzz."""
    made = []
    for operation in Levenshtein.editops(unedited, text):
        kind = {"insert": "insertion", "delete": "deletion", "replace": "substitution"}[operation.tag]
        made.append(
            {
                "operation": kind,
                "position": operation.dest_pos,
                "removed": "" if kind == "insertion" else unedited[operation.src_pos],
                "written": "" if kind == "deletion" else text[operation.dest_pos],
                "part": "pattern",
            }
        )
    return made


def without(tag, marked):
    """The text that is left when what `tag` holds is taken out, and no tag is shown."""
    return html.unescape(re.sub(r"<[^>]*>", "", re.sub(f"<{tag}>.*?</{tag}>", "", marked)))


@pytest.mark.parametrize(
    ("unedited", "text", "words"),
    [
        ("The man", "The mon", "1 edit: a→o at 5"),
        ("The man", "The mann", "1 edit: +n at 7"),
        ("The man", "Th man", "1 edit: −e at 2"),
        ("The man", "Theman", "1 edit: −␣ at 3"),
        ("The man", "The man,", "1 edit: +‹,› at 7"),
        ("The man was", "The mann wis", "2 edits: +n at 7, a→i at 10"),
        ("same", "same", "none"),
    ],
)
def test_edits_in_words(unedited, text, words):
    assert edits_text(edits_between(unedited, text)) == words


def test_an_edit_of_an_invisible_character_can_be_seen():
    assert edit_text({"operation": "insertion", "position": 0, "removed": "", "written": "\n"}) == "+↵ at 0"


@given(st.text("ab <&", max_size=9), st.text("ab <&", max_size=9), st.integers(0, 9))
def test_both_strings_can_be_read_off_the_marks(unedited, text, prefix_length):
    marked = marked_html(text, min(prefix_length, len(text)), edits_between(unedited, text))
    assert without("del", marked).replace("␣", " ") == text
    assert without("ins", marked).replace("␣", " ") == unedited
    assert set(re.findall(r"<(/?\w+)", marked)) <= {"span", "/span", "ins", "/ins", "del", "/del"}
    assert marked.count("<span") == marked.count("</span>")


def test_hostile_text_is_escaped():
    edit = {"operation": "substitution", "position": 0, "removed": "<img>", "written": "<", "part": "pattern"}
    assert "<img" not in marked_html("<b>", 1, [edit])
