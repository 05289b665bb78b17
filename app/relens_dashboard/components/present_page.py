"""The page Present: arrange a deck and show it.

The deck and, while it is shown, the screen are in the page's address: /present?deck=Monday&screen=3. So a reload in the
middle of a talk comes back to the same screen.
"""

from __future__ import annotations

import streamlit as st

from relens.counted import counted
from relens.errors import RelensError
from relens.runs.screens import LONGEST_DECK_NAME, Card
from relens_dashboard.components.arrange_deck import arrange, files
from relens_dashboard.components.gallery_cards import gallery_cards
from relens_dashboard.components.pin_button import DECK, DECK_PARAMETER, SCREEN_PARAMETER
from relens_dashboard.components.show_deck import show_deck
from relens_dashboard.components.ticker import ticker
from relens_dashboard.gallery import load_gallery
from relens_dashboard.messages import show_error
from relens_dashboard.places import places
from relens_dashboard.present.deck_file import deck_name
from relens_dashboard.run_rows import READ_ON
from relens_dashboard.services import Services
from relens_dashboard.study_views import study_views

_LEAD = (
    "Pinned findings, one a screen, large enough for the back of a room. Arrange them, edit their words, and show them "
    "here or export them as one file."
)
_EMPTY = (
    "Nothing is pinned on this deck yet. Run a study, or a search in the Workbench, and press **Pin** under a figure: "
    "it appears here with its findings, its caveats, and words for the speaker."
)
#: Quick studies, which soon have something to pin.
_TO_PIN_FROM = ("bias", "knowledge")
_KEYS = (
    "While it is shown: **→** or space goes on, **←** back, **Home** and **End** to the ends, **N** shows what the "
    "speaker says, **T** switches between light and dark, **F** fills the screen, **Esc** leaves."
)


def present_page(services: Services) -> None:
    """Draw the page."""
    deck = str(st.query_params.get(DECK_PARAMETER, st.session_state.get(DECK, "")))[:LONGEST_DECK_NAME]
    try:
        decks = list(services.screens.decks() | {deck: 0})
        cards = services.screens.cards(deck)
    except RelensError as error:
        show_error(error)
        return
    st.session_state[DECK] = deck
    if deck:
        st.query_params[DECK_PARAMETER] = deck
    number = st.query_params.get(SCREEN_PARAMETER, "")
    if number and cards:
        first = int(number) if number.isdecimal() and len(number) < 6 else 1
        show_deck(services, cards, deck, first, SCREEN_PARAMETER)
        return
    st.html(f'<h1 class="relens-title study">Present</h1><p class="relens-lead small">{_LEAD}</p>')
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        _choose(deck, decks)
        st.space("stretch")
        _present(cards)
        files(services, cards, deck)
    if cards:
        st.caption(f"{counted(len(cards), 'screen')}. {_KEYS}")
    else:
        st.info(_EMPTY, icon=":material/keep:")
        gallery_cards(load_gallery()[:1], tuple(place for place in places(study_views()) if place.page in _TO_PIN_FROM))
    waits = arrange(services, cards, decks)
    ticker(READ_ON if waits else None, key="present_looking")


def _choose(deck: str, decks: list[str]) -> None:
    chosen = st.selectbox(
        "Deck",
        decks,
        index=decks.index(deck),
        format_func=deck_name,
        width=240,
        help="The screens that are arranged, shown and exported here; what you pin goes to the end of this deck.",
    )
    if chosen != deck:
        _go(str(chosen))
    with st.popover("New deck", icon=":material/add:"), st.form("new_deck", border=False):
        name = st.text_input(
            "Name",
            max_chars=LONGEST_DECK_NAME,
            key="new_deck_name",
            help="What you pin from now on goes there. A deck without screens is not kept.",
        )
        if (
            st.form_submit_button("Begin it", type="primary", help="Makes this the deck that pins go to.")
            and name.strip()
        ):
            _go(name.strip())


def _go(deck: str) -> None:
    st.session_state[DECK] = deck
    if deck:
        st.query_params[DECK_PARAMETER] = deck
    else:
        st.query_params.pop(DECK_PARAMETER, None)
    st.rerun()


def _present(cards: list[Card]) -> None:
    if st.button(
        "Present",
        type="primary",
        icon=":material/present_to_all:",
        disabled=not cards,
        key="present_button",
        help="Show the first screen over the whole page. F then fills the whole display.",
    ):
        st.query_params[SCREEN_PARAMETER] = "1"
        st.rerun()
