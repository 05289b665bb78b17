"""Untrusted text: harmless where it is shown, and still readable."""

import html
import re
import string
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from relens_dashboard import text as untrusted

any_text = st.text(st.characters(codec=None), max_size=40)


class Reader(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.data = [], ""

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, attributes))

    def handle_data(self, data):
        self.data += data


@given(any_text)
def test_html_reads_back_as_the_same_text_and_opens_no_tag(value):
    reader = Reader()
    reader.feed(f'<p title="{untrusted.as_html(value)}">{untrusted.as_html(value)}</p>')
    reader.close()
    (tag,) = reader.tags
    expected = value.encode("utf-8", "replace").decode()
    assert tag == ("p", [("title", expected)])
    assert reader.data == expected


@given(any_text)
def test_plotly_text_has_neither_tag_nor_formula(value):
    safe = untrusted.as_plotly(value)
    assert "<" not in safe
    assert "$" not in safe
    assert html.unescape(safe) == value.encode("utf-8", "replace").decode()
    # Of the entities with a name, plotly reads these (its `svg_text_utils`) and shows any other as it is written.
    assert set(re.findall(r"&([a-z]+);", safe)) <= {"amp", "lt", "gt"}


@given(any_text)
def test_every_sign_of_markdown_is_escaped(value):
    safe = untrusted.as_markdown(value)
    signs = "".join(chr(code) for code in range(128) if chr(code) in string.punctuation)
    without_escapes = re.sub(r"\\[" + re.escape(signs) + "]", "", safe)
    assert not set(signs) & set(without_escapes)
    assert re.sub(r"\\([" + re.escape(signs) + "])", r"\1", safe) == value.encode("utf-8", "replace").decode()


@given(any_text)
def test_visible_text_is_one_line_and_as_long(value):
    shown = untrusted.visible(value)
    assert len(shown) == len(value)
    assert not any(character in shown for character in " \n\r\t\x00\u2028\u202e")


def test_visible_keeps_letters():
    assert untrusted.visible("a é\n日") == "a␣é↵日"
    assert untrusted.visible("a b", spaces=False) == "a b"
    assert untrusted.visible("\u202eevil") == "\ufffdevil"


@given(any_text.filter(lambda value: "\n" not in value), st.integers(0, 60), st.integers(10, 50))
def test_the_caret_stands_under_its_character(source, position, width):
    position = min(position, len(source))
    line, caret = untrusted.caret_excerpt(source, position, width).split("\n")
    column = caret.index("^")
    assert caret == " " * column + "^"
    assert len(line) <= width + 2
    if position < len(source):
        assert line[column] == untrusted.visible(source[position], spaces=False)
    else:
        assert column == len(line)


def test_the_caret_of_a_later_line():
    assert untrusted.caret_excerpt("ab\ncd\nef", 4) == "cd\n ^"
