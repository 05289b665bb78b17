"""Changes a private part of Streamlit: of what a browser says, only that is done which a page of ours needs.

A browser speaks to the server in messages, and anybody who reaches the port can send any of them. Some reach further
than the sender's own session, and no page has a use for them:

    clear_cache               empties the caches of all sessions
    load_git_info             starts ten programs, one after the other, while everybody waits; their answer names files
    backend_operation_request "install_skills" and "dismiss_skills_nudge" write files for tools of programmers
    file_urls_request         makes an address for each name in a list, however long: everybody waits
    rerun_script              of a million fields: each is looked at, while everybody waits

What is not in the list here is dropped without a word: a line in the log for each would let anybody fill the disk.
"""

from __future__ import annotations

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.app_session import AppSession

from app.streamlit_patches.parts import Function

_handle_backmsg = AppSession.handle_backmsg

PARTS = (Function(_handle_backmsg, ("self", "msg")),)

_MESSAGES = frozenset({"stop_script", "app_heartbeat"})
#: Of the operations beside a page: a file that is made when its button is pressed, and more lines of a long table.
_OPERATIONS = frozenset({"deferred_file", "dataframe_chunk"})
#: Files are uploaded one at a time.
_MOST_FILES = 16
#: The longest form has some fifty.
_MOST_FIELDS = 1_000


def is_known(message: BackMsg) -> bool:
    """Whether a page of ours may have made the browser say this."""
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
    """`AppSession.handle_backmsg` for what is known."""
    if is_known(msg):
        _handle_backmsg(self, msg)


def apply() -> None:
    """Have only known messages handled."""
    AppSession.handle_backmsg = _handle_known_backmsg  # type: ignore[method-assign]
