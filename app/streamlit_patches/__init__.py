"""Changes to private parts of Streamlit 1.67: what it does wrong for a server that many people share.

    whole_messages   all that the server says of a page reaches the browser
    known_messages   of what a browser says, only that is done which a page needs
    known_origins    who may connect is decided without asking another machine

Private parts change without notice, so each module names what it changes and what it reads (`parts`), and all of it is
looked for before anything is changed. Each ends where Streamlit has mended the fault; tests say when.
"""

from __future__ import annotations

from app.streamlit_patches import known_messages, known_origins, whole_messages
from app.streamlit_patches.parts import check_parts

_PATCHES = (whole_messages, known_messages, known_origins)


def patch_streamlit() -> None:
    """Make the changes; once is enough, and more often no harm. Raises `RelensError` where a part is not as known."""
    check_parts(part for patch in _PATCHES for part in patch.PARTS)
    for patch in _PATCHES:
        patch.apply()
