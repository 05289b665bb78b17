"""The keyboard: the list of keys on every page, and a script for keys that Streamlit's buttons cannot have.

A button of Streamlit has a shortcut of its own (`st.button(shortcut=...)`): Ctrl+Enter for Run, the arrows for the
steps of a lesson. One script for all pages handles the others:

    Esc   stops the run on the page, but not in an open menu, in a field or in a full-screen picture, where Esc leaves
    /     goes to the field of the pattern, ? opens the list of keys; in a field both are ordinary characters
    ← →   in a table, a slider or another element that arrows move, they turn no step

The script presses the visible button or field of a page, so a page needs no code for it.
"""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from relens_dashboard.text import as_html
from relens_dashboard.tour import TOUR


@dataclass(frozen=True)
class Shortcut:
    """Keys, what they do, and where."""

    keys: tuple[str, ...]
    does: str
    where: str


SHORTCUTS = (
    Shortcut(("Ctrl", "Enter"), "Run. On a Mac ⌘ and Enter", "Workbench, studies, Search replay"),
    Shortcut(("Esc",), "Stop the run on the page", "outside fields and menus"),
    Shortcut(("/",), "Go to the pattern, or the page's own field for text", "every page that has one"),
    Shortcut(("←", "→"), "One step back, one step on", "Tour, Automata, Search replay"),
    Shortcut(("P",), "Play and pause", "Search replay"),
    Shortcut(("?",), "This list", "everywhere"),
    Shortcut(("Tab", "?"), "The keys of a drawing: move, zoom, search", "every automaton"),
)

#: The fields for /, by their keys; it goes to the first visible one.
PATTERN_FIELDS = (
    "pattern",
    "tour_pattern",
    "lesson",
    "tokens_text",
    "replay_pattern",
    "walk_pattern",
    "glossary_search",
    "find",
)
STOP_BUTTONS = ("stop_button", "study_stop_button")
POPOVER = "keyboard"

_LISTENER = """
const SEEN = (element) => element.getClientRects().length > 0
const first = (selector) => [...document.querySelectorAll(selector)].find(SEEN)
const FIELD =
  "input:not([type=checkbox], [type=radio], [type=range], [type=button]), textarea, select, [contenteditable=true]"
const MENU = "[role=listbox], [role=menu]"
const MOVED_BY_ARROWS =
  `[data-testid=stDataFrame], [role=slider], input[type=range], [role=radiogroup], [role=tablist], ${MENU}`
const OPEN = `[data-testid=stPopoverBody], [data-testid=stDialog], [role=dialog], dialog[open], ${MENU}`

// Events from inside a component are said to come from the component; the path tells where they really come from.
const within = (event, selector) => event.composedPath().some((node) => node.matches?.(selector))
const plain = (event) => !event.ctrlKey && !event.metaKey && !event.altKey
const inside = (event) => within(event, FIELD) || within(event, ".frame")  // .frame: a drawing with keys of its own

function press(event) {
  if (!plain(event) || event.isComposing || inside(event)) return
  if (event.key === "Escape") {
    if (document.fullscreenElement || first(OPEN) || within(event, "[data-testid=stDataFrame]")) return
    first("STOP")?.click()
  } else if (event.key === "/" || event.key === "?") {
    const target = first(event.key === "/" ? "FIELDS" : "POPOVER")
    if (!target) return
    event.preventDefault()
    event.key === "/" ? target.focus() : target.click()
  }
}

// Streamlit listens on the document; what moves by arrows has had its turn when the event comes by here.
function keepArrows(event) {
  if (plain(event) && event.key.startsWith("Arrow") && within(event, MOVED_BY_ARROWS)) event.stopPropagation()
}

// A page that is drawn anew calls this again; the listeners are there once. A busy browser may end a call when another
// has followed already: only the end of the last one counts.
let calls = 0
export default function () {
  const call = ++calls
  window.addEventListener("keydown", press, true)
  document.body.addEventListener("keydown", keepArrows)
  return () => {
    if (call !== calls) return
    window.removeEventListener("keydown", press, true)
    document.body.removeEventListener("keydown", keepArrows)
  }
}
"""


def _selector(keys: tuple[str, ...], inner: str) -> str:
    return ", ".join(f".st-key-{key} {inner}" for key in keys)


SCRIPT = (
    _LISTENER.replace("STOP", _selector(STOP_BUTTONS, "button:enabled"))
    .replace("FIELDS", _selector(PATTERN_FIELDS, "input"))
    .replace("POPOVER", _selector((POPOVER,), "button"))
)
_KEYBOARD = st.components.v2.component("relens.keyboard", js=SCRIPT)


def keyboard() -> None:
    """The list of keys as a popover in the page's header, and the script."""
    with st.container(key="keyboard_corner"):
        with st.popover(
            "Keyboard", icon=":material/keyboard:", type="tertiary", key=POPOVER, help="Keyboard shortcuts, and help."
        ):
            st.html(shortcuts_html())
            pages = st.session_state["pages"]
            st.page_link(pages["glossary"], label="Glossary: what every word means", icon=":material/menu_book:")
            st.page_link(pages[""], label="Tour: five short steps", icon=":material/tour:", query_params={TOUR: "1"})
        _KEYBOARD(key="keyboard_script", height="content")


def shortcuts_html() -> str:
    """The list as a table."""
    lines = "".join(
        f"<tr><td>{' '.join(f'<kbd>{as_html(key)}</kbd>' for key in shortcut.keys)}</td>"
        f"<td>{as_html(shortcut.does)}<small>{as_html(shortcut.where)}</small></td></tr>"
        for shortcut in SHORTCUTS
    )
    return f'<table class="relens-keys" aria-label="Keyboard shortcuts">{lines}</table>'
