"""Changes a private part of Streamlit: only the messages of a browser that our pages need are handled.

Anybody who reaches the port can send any message. Some have effects outside the sender's own session, and no page needs
them:

    clear_cache               empties the caches of all sessions
    load_git_info             starts ten programs, one after the other, while everybody waits; their answer names files
    backend_operation_request "install_skills" and "dismiss_skills_nudge" write files for programmers' tools
    file_urls_request         makes an address for each name in a list, however long: everybody waits
    rerun_script              of a million fields: each is read, while everybody waits

Unknown messages are dropped silently: a line in the log for each would let anybody fill the disk.
"""

from __future__ import annotations

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.app_session import AppSession

from relens_dashboard.streamlit_patches.parts import Function

_handle_backmsg = AppSession.handle_backmsg

PARTS = (Function(_handle_backmsg, ("self", "msg")),)

_MESSAGES = frozenset({"stop_script", "app_heartbeat"})
#: Operations outside a page's run: a file that is made when its button is pressed, and more lines of a long table.
_OPERATIONS = frozenset({"deferred_file", "dataframe_chunk"})
#: Files are uploaded one at a time.
_MOST_FILES = 16
#: The longest form has some fifty fields.
_MOST_FIELDS = 1_000


def is_known(message: BackMsg) -> bool:
    """Whether one of our pages may have caused this message."""
    kind = message.WhichOneof("type")
    if kind == "backend_operation_request":
        return message.backend_operation_request.WhichOneof("payload") in _OPERATIONS
    if kind == "rerun_script":
        state = message.rerun_script
        return max(len(state.widget_states.widgets), len(state.cached_message_hashes)) <= _MOST_FIELDS
    if kind == "file_urls_request":
        return len(message.file_urls_request.file_names) <= _MOST_FILES
    return kind in _MESSAGES


def _handle_known_backmsg(self: AppSession, msg: BackMsg) -> None:
    """`AppSession.handle_backmsg` for known messages."""
    if is_known(msg):
        _handle_backmsg(self, msg)


def apply() -> None:
    """Handle only known messages."""
    AppSession.handle_backmsg = _handle_known_backmsg  # type: ignore[method-assign]
