"""Changes private parts of Streamlit: what the server says of a page arrives whole, and what is pressed is heard.

Streamlit loses some of it in three ways, most often where server or browser are busy. The browser then shows a field
that is suddenly empty, or a run that seems to go on for ever, or Stop does nothing.

A fragment that begins again makes Streamlit throw away what is still on its way to the browser of that fragment's last
drawing, which is about to be replaced. But where the last drawing was part of the whole page's, the browser is told all
the same that the page is complete:

    on its way      page begins, title, fragment: [field], page is complete
    with the fragment's next run asked for by a clock or a key, before these have left
    sent            page begins, title, page is complete, fragment begins, fragment: [field], fragment is complete
                                      ^ a page without the field: the browser forgets what was typed in it

Here a fragment's run throws nothing away: what it replaces is drawn for a moment, and then drawn over.

And one that draws a page is not listened to once another has begun, though what it said may still be waiting:

    said            page begins, title, field, page is complete     (the one who draws has ended)
    with a fragment's run asked for now: another one begins, who draws the fragment
    sent            fragment begins, ...                            (nothing of the page)

Here a request waits until all that was said has been heard.

At last, the browser sends in one request what happens at once, and names the fragment of what came first:

    at once         a clock of fragment A ticks, and a button of fragment B is pressed
    sent            run A; the clock has ticked, the button was pressed
    run             A, which has no such button; the next request says that it is not pressed

Here such a request is one for the whole page.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.scriptrunner import ScriptRunner, ScriptRunnerEvent
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests, ScriptRequestType
from streamlit.runtime.state.session_state import SessionState, WStates

from app.streamlit_patches.parts import Attribute, Function

_clear = ForwardMsgQueue.clear
_request_rerun = AppSession.request_rerun
_handle_event = AppSession._handle_scriptrunner_event_on_event_loop

PARTS = (
    Function(_clear, ("self", "retain_lifecycle_msgs", "fragment_ids_this_run")),
    Function(_request_rerun, ("self", "client_state")),
    Function(_handle_event, ("self", "sender", "event")),
    Attribute(ForwardMsgQueue, "_delta_index_map"),
    Attribute(AppSession, "_scriptrunner"),
    Attribute(AppSession, "session_state"),
    Attribute(ScriptRunner, "_execing"),
    Attribute(ScriptRunner, "_requests"),
    Attribute(ScriptRequests, "_state"),
    Attribute(SessionState, "_new_widget_state"),
    Attribute(WStates, "widget_metadata"),
)

#: Requests of the browser that came between the end of a session's last run and the time when it was heard.
_waiting: WeakKeyDictionary[AppSession, list[ClientState]] = WeakKeyDictionary()


def _clear_for_whole_pages(
    self: ForwardMsgQueue, retain_lifecycle_msgs: bool = False, fragment_ids_this_run: list[str] | None = None
) -> None:
    """`ForwardMsgQueue.clear`, which for the run of a fragment only ends the merging of later messages into older ones.

    That merging must end, since a message of the new run would otherwise be sent as part of the older one.
    """
    if retain_lifecycle_msgs and fragment_ids_this_run is not None:
        self._delta_index_map = {}
        return
    _clear(self, retain_lifecycle_msgs, fragment_ids_this_run)


def _request_rerun_in_turn(self: AppSession, client_state: ClientState | None) -> None:
    """`AppSession.request_rerun`, which waits while the last run is not yet heard of, and hears of every button."""
    if client_state is not None and _is_over(self):
        _waiting.setdefault(self, []).append(client_state)
        return
    if client_state is not None and client_state.fragment_id and _presses_elsewhere(self, client_state):
        client_state.fragment_id = ""
    _request_rerun(self, client_state)


def _presses_elsewhere(session: AppSession, client_state: ClientState) -> bool:
    """Whether a button is pressed that does not stand in the fragment which is to run."""
    known = session.session_state._new_widget_state.widget_metadata
    return any(
        widget.trigger_value and (widget.id not in known or known[widget.id].fragment_id != client_state.fragment_id)
        for widget in client_state.widget_states.widgets
    )


def _is_over(session: AppSession) -> bool:
    runner = session._scriptrunner
    # One that was told to stop, and has not come to it yet, is not waited for.
    return runner is not None and runner._requests._state is ScriptRequestType.STOP and not runner._execing


def _handle_event_and_go_on(
    self: AppSession, sender: Any, event: ScriptRunnerEvent, *details: Any, **more: Any
) -> None:
    """The session's handling of what a run says; after its last word the requests that have waited have their turn."""
    _handle_event(self, sender, event, *details, **more)
    if event is ScriptRunnerEvent.SHUTDOWN and self._scriptrunner is None:
        for client_state in _waiting.pop(self, ()):
            self.request_rerun(client_state)


def apply() -> None:
    """Let no message of a page be lost."""
    ForwardMsgQueue.clear = _clear_for_whole_pages  # type: ignore[method-assign]
    AppSession.request_rerun = _request_rerun_in_turn  # type: ignore[method-assign]
    AppSession._handle_scriptrunner_event_on_event_loop = _handle_event_and_go_on  # type: ignore[method-assign]
