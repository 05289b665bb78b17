"""Help that no page may lack: a text for every control, and every key in the list of keys."""

from __future__ import annotations

import ast
import html
from pathlib import Path

import pytest

from relens_dashboard.components.keyboard import PATTERN_FIELDS, SHORTCUTS, STOP_BUTTONS, shortcuts_html

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [*(ROOT / "app").rglob("*.py"), *(ROOT / "pages").glob("*.py")]
CONTROLS = {
    "button",
    "checkbox",
    "download_button",
    "file_uploader",
    "form_submit_button",
    "multiselect",
    "number_input",
    "pills",
    "segmented_control",
    "selectbox",
    "slider",
    "text_area",
    "text_input",
    "toggle",
}
#: What the list of keys calls a key that Streamlit calls otherwise.
SHOWN_AS = {"Left": "←", "Right": "→"}


def calls():
    """Every call of a method in the sources of the dashboard, with the file it stands in."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                yield path.name, node, {keyword.arg: keyword.value for keyword in node.keywords}


def test_every_control_says_what_it_does():
    controls = [
        (name, node, keywords) for name, node, keywords in calls() if getattr(node.func, "attr", "") in CONTROLS
    ]
    assert len(controls) > 100
    without = [f"{name}:{node.lineno}" for name, node, keywords in controls if not {"help", None} & set(keywords)]
    assert without == []


def test_every_shortcut_of_a_button_is_in_the_list():
    listed = {key for shortcut in SHORTCUTS for key in shortcut.keys}
    used = {keywords["shortcut"].value for _, _, keywords in calls() if "shortcut" in keywords}
    assert {"Left", "Right", "Ctrl+Enter"} <= used
    for shortcut in used:
        for key in shortcut.split("+"):
            assert SHOWN_AS.get(key, key) in listed


def test_no_button_stops_a_run_by_a_shortcut_that_fires_in_fields():
    assert "Esc" not in {keywords["shortcut"].value for _, _, keywords in calls() if "shortcut" in keywords}


@pytest.mark.parametrize("key", [*PATTERN_FIELDS, *STOP_BUTTONS])
def test_the_target_of_a_key_is_on_a_page(key):
    written = {
        node.value
        for path in SOURCES
        if path.name != "keyboard.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
    }
    assert key in written


def test_the_list_has_every_key():
    listed = html.unescape(shortcuts_html())
    for shortcut in SHORTCUTS:
        assert shortcut.does in listed
        assert all(f"<kbd>{key}</kbd>" in listed for key in shortcut.keys)
