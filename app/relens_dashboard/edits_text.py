"""The edits of a match, in words and as marks in its text.

The match "The mann wis" comes from "The man was" by two edits. A table shows one line, a page the marked text:

    2 edits: +n at 7, a→i at 10
    The man<ins>n</ins> w<del>a</del><ins>i</ins>s

Edits are `relens.traversal.results.Edit` as JSON; their positions count characters of the match's text from 0. A
deletion shows before the character at its position.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from typing import Any

from relens.counted import counted
from relens_dashboard.text import as_html, visible


def edit_text(edit: Mapping[str, Any]) -> str:
    """One edit: "a→o at 5", "+n at 8", "−e at 3"."""
    removed, written = _shown(edit["removed"]), _shown(edit["written"])
    change = {"insertion": f"+{written}", "deletion": f"−{removed}", "substitution": f"{removed}→{written}"}
    return f"{change[edit['operation']]} at {edit['position']}"


def _shown(character: str) -> str:
    """The character; punctuation in quotes, to keep it apart from the sentence's own."""
    return f"‹{character}›" if character and character in string.punctuation else visible(character)


def edits_text(edits: Sequence[Mapping[str, Any]]) -> str:
    """All edits of a match in one line; "none" for a text without edits."""
    if not edits:
        return "none"
    return f"{counted(len(edits), 'edit')}: {', '.join(edit_text(edit) for edit in edits)}"


def marked_html(text: str, prefix_length: int, edits: Sequence[Mapping[str, Any]]) -> str:
    """`text` as HTML: its first `prefix_length` characters pale, removed characters struck, written ones marked.

    Everything is escaped.
    """
    written = {edit["position"]: edit for edit in edits if edit["operation"] != "deletion"}
    missing: dict[int, str] = {}
    for edit in edits:
        if edit["operation"] == "deletion":
            missing[edit["position"]] = missing.get(edit["position"], "") + edit["removed"]
    pieces = ['<span class="given">'] if prefix_length else []
    for position in range(len(text) + 1):
        if position in missing:
            pieces.append(_removed(missing[position]))
        if position == prefix_length and prefix_length:
            pieces.append("</span>")
        if position == len(text):
            break
        edit = written.get(position)
        if edit is None:
            pieces.append(as_html(visible(text[position], spaces=False)))
            continue
        if edit["removed"]:
            pieces.append(_removed(edit["removed"]))
        pieces.append(f"<ins>{as_html(visible(text[position]))}</ins>")
    return "".join(pieces)


def _removed(text: str) -> str:
    return f"<del>{as_html(visible(text))}</del>"
