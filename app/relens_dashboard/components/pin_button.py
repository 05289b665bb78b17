"""A button that pins a figure onto the current deck of screens.

    pin_button(services, lambda: Finding(...), key="pin_shares")

The finding is made only when the button is pressed. A finding is pinned once; the message names its screen.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

import streamlit as st

from relens.errors import RelensError
from relens_dashboard.messages import show_error
from relens_dashboard.present.deck_file import deck_name
from relens_dashboard.present.finding import Finding
from relens_dashboard.present.previews import preview_of
from relens_dashboard.services import Services
from relens_dashboard.text import as_markdown

#: The deck that the session pins to; the Present page chooses it.
DECK = "pin_to_deck"
#: The parameters of the Present page's address: which deck, and the number of the screen while it is shown.
DECK_PARAMETER, SCREEN_PARAMETER = "deck", "screen"

_HELP = (
    "Puts this figure, as it is now, on a screen for a projector, with its findings and caveats. The page Present "
    "arranges, shows and exports the screens."
)


def pin_button(
    services: Services,
    finding: Finding | Callable[[], Finding],
    *,
    key: str,
    mask: Callable[[str], str] | None = None,
) -> None:
    """Offer to pin a finding. mask: hides words in every text of it, as on the page."""
    if not st.button("Pin", type="tertiary", icon=":material/keep:", key=key, help=_HELP):
        return
    deck = str(st.session_state.get(DECK, ""))
    try:
        made = finding if isinstance(finding, Finding) else finding()
        screen = made.screen(deck, mask)
        screens = services.screens
        was_there = screens.has(screen)
        kept = screens.add(screen, preview_of(screen.figure))
        places = (card.screen.position for card in screens.cards(deck) if card.screen.id == kept.id)
        place = next(places, kept.position) + 1
    except RelensError as error:
        show_error(error)
        return
    where = f"screen {place} of “{as_markdown(deck_name(deck))}”"
    address = f"present?{urlencode({DECK_PARAMETER: deck})}" if deck else "present"
    message = f"It is there already, as {where}." if was_there else f"Pinned: {where}."
    st.toast(f"{message} [Open Present]({address})", icon=":material/keep:", duration="long")
