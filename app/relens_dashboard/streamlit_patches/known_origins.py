"""Changes a private part of Streamlit: connections are allowed or refused without asking another machine.

A connection from a page of another site is refused, unless that site is this machine itself. To learn this machine's
public address, Streamlit asks a server of Amazon's and waits up to two seconds; it answers nobody meanwhile. So any
page in anybody's browser could block this server, or reveal it to Amazon.

Here the public address stays unknown, and a page of that address is refused like every other. An operator who needs it
sets `server.corsAllowedOrigins`.
"""

from __future__ import annotations

from streamlit import net_util

from relens_dashboard.streamlit_patches.parts import Function

_get_external_ip = net_util.get_external_ip

PARTS = (Function(_get_external_ip, ()),)


def _know_no_external_ip() -> None:
    """`net_util.get_external_ip` without an answer."""


def apply() -> None:
    """Ask no other machine."""
    net_util.get_external_ip = _know_no_external_ip  # type: ignore[assignment]
