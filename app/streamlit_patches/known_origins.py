"""Changes a private part of Streamlit: who may connect is decided without asking another machine.

A page of another site that opens a connection to this server is refused, unless that site is this machine itself. To
learn by which address the world knows this machine, Streamlit asks a server of Amazon's, and waits for it up to two
seconds; nobody is answered meanwhile. So any page in anybody's browser could keep this server deaf, or have it tell
Amazon that it is there.

Here the world's address is not known, and a page of that address is refused like every other. Whoever needs it names it
in `server.corsAllowedOrigins`.
"""

from __future__ import annotations

from streamlit import net_util

from app.streamlit_patches.parts import Function

_get_external_ip = net_util.get_external_ip

PARTS = (Function(_get_external_ip, ()),)


def _know_no_external_ip() -> None:
    """`net_util.get_external_ip` where it is not known."""


def apply() -> None:
    """Have nobody asked."""
    net_util.get_external_ip = _know_no_external_ip  # type: ignore[assignment]
