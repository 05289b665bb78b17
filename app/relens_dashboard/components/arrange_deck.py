"""A deck as an editable list: order, words, other decks, undo; and its export as files.

Each change is written to the store at once and the page is drawn anew, so that two people at one deck see each other's
changes. The store has a small picture of each figure (`relens_dashboard.present.previews`). For a deck that was just
imported, a few pictures are made at each look, and the page looks again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from urllib.parse import urlencode

import streamlit as st

from relens.counted import counted
from relens.errors import RelensError
from relens.runs.intake import take_in_deck
from relens.runs.screens import LONGEST_FILE, Card, Screen, ScreenStore
from relens_dashboard.charts import CONFIG
from relens_dashboard.messages import act, show_error
from relens_dashboard.present.deck_file import deck_html, deck_name
from relens_dashboard.present.figures import svg_address
from relens_dashboard.present.finding import MOST_CAVEATS, MOST_SENTENCES
from relens_dashboard.present.previews import PREVIEW_HEIGHT, preview_of
from relens_dashboard.runs.addresses import Address, address_of
from relens_dashboard.services import Services
from relens_dashboard.text import as_html, as_markdown, shortened

#: Screens with a small picture: a long deck does not slow the page down.
_PREVIEWS = 24
#: Seconds a look spends on pictures; it makes at least one.
_PATIENCE = 0.2
#: The part of a table in a small picture.
_PREVIEW_LINES, _PREVIEW_COLUMNS = 5, 4
#: In the session: id and title of the screen that was taken out last.
_TAKEN_OUT = "screen_taken_out"


def files(services: Services, cards: Sequence[Card], deck: str) -> None:
    """Buttons that export the deck, and one that imports screens from a file."""
    name = "-".join(["relens", *"".join(sign if sign.isalnum() else " " for sign in deck).split()]) or "relens"
    st.download_button(
        "Export HTML",
        data=lambda: deck_html(services.screens.all(deck), deck).encode("utf-8", "replace"),
        file_name=f"{name}-screens.html",
        mime="text/html",
        on_click="ignore",
        disabled=not cards,
        key="export_html",
        icon=":material/slideshow:",
        help="One file that shows these screens in any browser, without a server or a network, with the same keys.",
    )
    st.download_button(
        "Export deck",
        data=lambda: services.screens.export(deck).encode(),
        file_name=f"{name}-screens.json",
        mime="application/json",
        on_click="ignore",
        disabled=not cards,
        key="export_json",
        icon=":material/download:",
        help="The deck as JSON. Another installation can import it and edit it.",
    )
    place = st.popover("Import", icon=":material/upload:", key="import_deck", on_change="rerun")
    if place.open:
        with place:
            _import(services, deck)


def _import(services: Services, deck: str) -> None:
    uploaded = st.file_uploader(
        "File of a deck",
        type=["json"],
        key="import_file",
        max_upload_size=LONGEST_FILE // 1_000_000,
        help="Its screens are added at the end of this deck; screens that are there already are left out.",
    )
    if uploaded is None or not st.button(
        "Put them on this deck", key="import_button", type="primary", help="Adds the screens of the file to this deck."
    ):
        return
    with st.spinner("Reading the file"):
        count = _try(lambda: take_in_deck(uploaded.getvalue()[: LONGEST_FILE + 1], services.store.url, deck))
    if count is not None:
        st.toast(f"{counted(count, 'screen')} put on this deck." if count else "All of them are on this deck already.")
        st.rerun()


def arrange(services: Services, cards: Sequence[Card], decks: Sequence[str]) -> bool:
    """Show the screens in a column; returns whether small pictures are still missing."""
    _undo(services.screens)
    shown = cards[:_PREVIEWS]
    made, waits = _made_previews(services.screens, shown)
    for place, card in enumerate(cards):
        screen = card.screen
        with st.container(border=True, key=f"screen_{screen.id}"):
            picture, words, buttons = st.columns([4, 6, 2], gap="medium")
            with picture:
                if place < len(shown):
                    _preview(screen, made.get(screen.id, card.preview))
            with words:
                _words(services, screen, place + 1)
            with buttons:
                _buttons(services.screens, screen, place, len(cards))
            _edit(services.screens, screen, decks)
    return waits


def _made_previews(store: ScreenStore, cards: Sequence[Card]) -> tuple[dict[str, str], bool]:
    """Make and store missing pictures; returns them by the id of their screen, and whether more are missing."""
    until = time.monotonic() + _PATIENCE
    made: dict[str, str] = {}
    missing = [card.screen.id for card in cards if card.preview is None]
    for screen_id in missing:
        if made and time.monotonic() >= until:
            break
        try:
            whole = store.get(screen_id)
            made[screen_id] = "" if whole is None else preview_of(whole.figure)
            store.keep_preview(screen_id, made[screen_id])
        except RelensError as error:
            show_error(error)
            break
    return made, len(made) < len(missing)


def _words(services: Services, screen: Screen, number: int) -> None:
    head = screen.sentences[0] if screen.sentences else ""
    topic = f"{counted(len(screen.caveats), 'caveat')} · {as_html(screen.source.get('label', ''))}"
    st.html(
        f'<div class="relens-card"><span class="topic">Screen {number} · {topic}</span>'
        f'<span class="question">{as_html(screen.title)}</span>'
        f'<span class="why">{as_html(shortened(head, 260))}</span></div>'
    )
    address = _address(services, screen.source.get("run", ""))
    if address is not None:
        st.caption(f"[The run it comes from]({address.page}?{urlencode(address.parameters)})")


def _address(services: Services, run_id: str) -> Address | None:
    """The page of the run behind a screen; None where the run is gone or the store is too busy."""
    try:
        run = services.store.get(run_id) if run_id else None
    except RelensError:
        return None
    return None if run is None else address_of(run)


def _preview(screen: Screen, preview: str | None) -> None:
    alt = screen.alt or screen.title
    if preview is None:
        st.skeleton(height=PREVIEW_HEIGHT)
    elif preview.startswith("<"):
        st.html(f'<img class="relens-small-drawing" alt="{as_html(alt)}" src="{svg_address(preview)}">')
    elif preview:
        figure = json.loads(preview)
        st.plotly_chart(figure, key=f"preview_{screen.id}", config=CONFIG | {"staticPlot": True}, alt=alt)
    elif screen.table:
        st.html(_small_table(screen))


def _small_table(screen: Screen) -> str:
    """The first lines of a screen's table."""
    names, *lines = [[as_html(shortened(cell, 40)) for cell in line[:_PREVIEW_COLUMNS]] for line in screen.table]
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in line)}</tr>" for line in lines[:_PREVIEW_LINES])
    return f'<table class="relens-small-table"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _buttons(store: ScreenStore, screen: Screen, place: int, count: int) -> None:
    with st.container(horizontal=True, horizontal_alignment="right", gap="small"):
        for name, by, icon, end in (("Up", -1, "arrow_upward", 0), ("Down", 1, "arrow_downward", count - 1)):
            if st.button(
                name,
                type="tertiary",
                icon=f":material/{icon}:",
                key=f"move_{name.lower()}_{screen.id}",
                disabled=place == end,
                help=f"Show this screen one place {'earlier' if by < 0 else 'later'}.",
            ):
                act(lambda by=by: store.move(screen.id, by))
        if st.button(
            "Take out",
            type="tertiary",
            icon=":material/delete:",
            key=f"delete_{screen.id}",
            help="Take this screen out of the deck. Undo brings it back.",
        ):
            st.session_state[_TAKEN_OUT] = (screen.id, screen.title)
            act(lambda: store.delete(screen.id))


def _undo(store: ScreenStore) -> None:
    taken_out: tuple[str, str] | None = st.session_state.get(_TAKEN_OUT)
    if taken_out is None:
        return
    screen_id, title = taken_out
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"“{as_markdown(shortened(title, 80))}” was taken out.")
        if st.button("Undo", icon=":material/undo:", key="undo_delete", help="Bring it back to its place."):
            st.session_state[_TAKEN_OUT] = None
            act(lambda: store.restore(screen_id))


def _edit(store: ScreenStore, screen: Screen, decks: Sequence[str]) -> None:
    place = st.expander("Edit the words", icon=":material/edit:", key=f"edit_{screen.id}", on_change="rerun")
    if not place.open:
        return
    with place, st.form(f"words_{screen.id}", border=False):
        title = st.text_input(
            "Title", screen.title, key=f"title_{screen.id}", help="A few words above the headline that name the figure."
        )
        sentences = st.text_area(
            "Sentences",
            "\n".join(screen.sentences),
            key=f"sentences_{screen.id}",
            help=f"One a line, {MOST_SENTENCES} at most. The first is the headline, large; the others stand under the "
            "figure.",
        )
        caveats = st.text_area(
            "Caveats",
            "\n".join(screen.caveats),
            key=f"caveats_{screen.id}",
            help=f"What the numbers do not show, one a line, {MOST_CAVEATS} at most. Shown at the foot of the screen.",
        )
        explanation = st.text_area(
            "What the speaker says",
            screen.explanation,
            height=240,
            key=f"explanation_{screen.id}",
            help="Shown only when N is pressed. An empty line begins a new paragraph.",
        )
        deck = st.selectbox(
            "Deck",
            list(decks),
            index=list(decks).index(screen.deck) if screen.deck in decks else 0,
            format_func=deck_name,
            key=f"deck_{screen.id}",
            help="Choosing another deck moves the screen to its end.",
        )
        saved = st.form_submit_button(
            "Save", type="primary", icon=":material/check:", help="The screen is shown and exported with these words."
        )
    if saved:
        act(lambda: _save(store, screen, title, _lines(sentences), _lines(caveats), explanation, str(deck)))


def _save(
    store: ScreenStore,
    screen: Screen,
    title: str,
    sentences: tuple[str, ...],
    caveats: tuple[str, ...],
    explanation: str,
    deck: str,
) -> None:
    changes = {
        "title": title,
        "sentences": sentences[:MOST_SENTENCES],
        "caveats": caveats[:MOST_CAVEATS],
        "explanation": explanation,
    }
    store.edit(screen.id, **changes)
    store.transfer(screen.id, deck)


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def _try(action: Callable[[], int]) -> int | None:
    try:
        return action()
    except RelensError as error:
        show_error(error)
        return None
