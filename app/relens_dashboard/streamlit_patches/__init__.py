"""Changes to private parts of Streamlit 1.67, for faults that matter on a server with many users.

    whole_messages   all messages of a page reach the browser
    known_messages   only the messages of a browser that a page needs are handled
    known_origins    connections are allowed or refused without asking another machine

Private parts change without notice, so each module lists the parts that it changes or reads (`parts`), and all of them
are checked before any change. A patch can go when Streamlit has fixed its fault; a test fails then.
"""

from __future__ import annotations

from relens_dashboard.streamlit_patches import known_messages, known_origins, whole_messages
from relens_dashboard.streamlit_patches.parts import check_parts

_PATCHES = (whole_messages, known_messages, known_origins)


def patch_streamlit() -> None:
    """Make the changes; repeating them does no harm. Raises `RelensError` where a part is missing or different."""
    check_parts(part for patch in _PATCHES for part in patch.PARTS)
    for patch in _PATCHES:
        patch.apply()
