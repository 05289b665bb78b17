"""Untrusted text on its way to a reader.

A model, or the sender of a link, may write `<img src=x onerror=...>`, a `$` that turns a line into a formula, or a
`\\n` that breaks a table's row. Each kind of place for such text has one function here, which makes it harmless there
and leaves it readable:

    as_html      between tags and in quoted attributes of HTML and SVG
    as_plotly    labels and hover text of plotly, which understands a few tags
    as_markdown  sentences in Streamlit's boxes and captions, where an image would be fetched and a link followed
    visible      blanks made visible, for table cells, chips and drawings; no escaping

Text in Streamlit's own tables and code blocks is never interpreted.
"""

from __future__ import annotations

import html
import re
import unicodedata

_VISIBLE = {" ": "␣", "\n": "↵", "\r": "␍", "\t": "⇥", "\u00a0": "⍽"}
#: Categories of characters that are invisible, or rearrange their neighbours: control, format, surrogate, private.
_UNDRAWABLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def as_html(text: str) -> str:
    """`text` safe between HTML tags and inside quoted attributes."""
    return html.escape(_without_surrogates(text), quote=True)


def as_plotly(text: str) -> str:
    """`text` safe as a plotly label; a `$` is kept from starting a formula."""
    # Plotly knows few entities by name, and `&quot;` is not among them.
    return as_html(text).replace("&quot;", "&#34;").replace("$", "&#36;")


def as_markdown(text: str) -> str:
    """`text` for Streamlit's Markdown, with every sign escaped that may have a meaning there."""
    return re.sub(r"([\\!-/:-@\[-`{-~])", r"\\\1", _without_surrogates(text))


def visible(text: str, *, spaces: bool = True) -> str:
    """`text` with line breaks, tabs and undrawable characters made visible; ordinary spaces too if `spaces`."""
    return "".join(_visible_character(character, spaces) for character in text)


def shortened(text: str, length: int) -> str:
    """`text`, cut to at most `length` characters, with an ellipsis if cut."""
    return text if len(text) <= length else text[: max(length - 1, 0)] + "…"


def caret_excerpt(source: str, position: int, width: int = 100) -> str:
    """The line of `source` that holds `position`, a caret under it, and at most `width` characters around it.

    A position at the end of the source points just past the last character.
    """
    position = min(max(position, 0), len(source))
    line_start = source.rfind("\n", 0, position) + 1
    line_end = source.find("\n", position)
    line = source[line_start : len(source) if line_end < 0 else line_end]
    column = position - line_start
    first = max(0, min(column - width // 2, len(line) - width))
    excerpt, column = line[first : first + width], column - first
    if first > 0:
        excerpt, column = "…" + excerpt, column + 1
    if first + width < len(line):
        excerpt += "…"
    # Every character must be one cell wide for the caret to stand under the right one.
    return visible(excerpt, spaces=False) + "\n" + " " * column + "^"


def _visible_character(character: str, spaces: bool) -> str:
    if character == " ":
        return "␣" if spaces else " "
    if character in _VISIBLE:
        return _VISIBLE[character]
    if unicodedata.category(character) in _UNDRAWABLE:
        return chr(0x2400 + ord(character)) if ord(character) < 0x20 else "\ufffd"
    return character


def _without_surrogates(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
