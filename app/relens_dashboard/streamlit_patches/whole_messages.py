"""Changes private parts of Streamlit: no message of a page to the browser is lost, and nothing that somebody did there.

Streamlit loses some in three ways, mostly on a busy server or in a busy browser. Then a field is suddenly empty, a run
seems to go on for ever, or Stop does nothing.

First: when a fragment runs again, Streamlit drops the unsent messages of that fragment's last drawing. If that drawing
was part of the whole page's, the browser still gets the message that the page is complete:

    on its way      page begins, title, fragment: [field], page is complete
    a clock or a key requests the fragment's next run before these are sent
    sent            page begins, title, page is complete, fragment begins, fragment: [field], fragment is complete
                                      ^ a page without the field: the browser forgets the text typed in it

Here a fragment's run drops nothing: the old drawing is shown for a moment, and then replaced.

Second: Streamlit ignores the events of a script run once another has begun, even events that are still queued:

    events          page begins, title, field, page is complete     (the script run has ended)
    a fragment's run is requested now: another script run begins, which draws the fragment
    sent            fragment begins, ...                            (nothing of the page)

Here a request waits until all events are handled.

Third: the browser puts simultaneous events into one request, which names the fragment of the first:

    at once         a clock of fragment A ticks, and a button of fragment B is pressed, or a text is typed there
    sent            run A; the clock has ticked, the button was pressed, the text is this
    run             A, which has neither; in the next request the button is not pressed, and the text is no longer new

Here such a request runs the whole page.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.scriptrunner import ScriptRunner, ScriptRunnerEvent
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests, ScriptRequestType
from streamlit.runtime.state.common import WidgetMetadata, unpack_widget_state_value
from streamlit.runtime.state.session_state import SessionState, WStates

from relens_dashboard.streamlit_patches.parts import Attribute, Function

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
    Attribute(SessionState, "_old_state"),
    Attribute(WStates, "states"),
    Attribute(WStates, "widget_metadata"),
    Function(unpack_widget_state_value, ("widget_state",)),
)

#: The kinds of values that somebody types or chooses.
_PLAIN = {
    *("string_value", "bool_value", "int_value", "double_value"),
    *("string_array_value", "int_array_value", "double_array_value"),
}

#: Requests of the browser between the end of a session's last run and the handling of its last event.
_waiting: WeakKeyDictionary[AppSession, list[ClientState]] = WeakKeyDictionary()


def _clear_for_whole_pages(
    self: ForwardMsgQueue, retain_lifecycle_msgs: bool = False, fragment_ids_this_run: list[str] | None = None
) -> None:
    """`ForwardMsgQueue.clear`; for the run of a fragment it only stops merging later messages into older ones.

    Merged, a message of the new run would be sent as part of the old run.
    """
    if retain_lifecycle_msgs and fragment_ids_this_run is not None:
        self._delta_index_map = {}
        return
    _clear(self, retain_lifecycle_msgs, fragment_ids_this_run)


def _request_rerun_in_turn(self: AppSession, client_state: ClientState | None) -> None:
    """`AppSession.request_rerun`; it waits until the last run's events are handled, and loses no button."""
    if client_state is not None and _is_over(self):
        _waiting.setdefault(self, []).append(client_state)
        return
    if client_state is not None and client_state.fragment_id and _has_news_of_elsewhere(self, client_state):
        client_state.fragment_id = ""
    _request_rerun(self, client_state)


def _has_news_of_elsewhere(session: AppSession, client_state: ClientState) -> bool:
    """Whether a button outside the requested fragment is pressed, or the value of a field there is new."""
    known = session.session_state._new_widget_state.widget_metadata
    for widget in client_state.widget_states.widgets:
        metadata = known.get(widget.id)
        if metadata is not None and metadata.fragment_id == client_state.fragment_id:
            continue
        if widget.trigger_value or (metadata is not None and _is_new(session.session_state, widget, metadata)):
            return True
    return False


def _is_new(state: SessionState, widget: WidgetState, metadata: WidgetMetadata[Any]) -> bool:
    """Whether this is another value than the one that the last run had."""
    if metadata.value_type not in _PLAIN:
        return False
    values = state._new_widget_state if widget.id in state._new_widget_state.states else state._old_state
    try:
        value = metadata.deserializer(unpack_widget_state_value(widget))
        return bool(value != values[widget.id])
    except (KeyError, ValueError, TypeError, IndexError):
        return False  # no field of the last run, or no value of such a field: the run sees to it


def _is_over(session: AppSession) -> bool:
    runner = session._scriptrunner
    # A run with a pending request to stop is not waited for.
    return runner is not None and runner._requests._state is ScriptRequestType.STOP and not runner._execing


def _handle_event_and_go_on(
    self: AppSession, sender: Any, event: ScriptRunnerEvent, *details: Any, **more: Any
) -> None:
    """The session's handling of a run's event; after the last event, the waiting requests follow."""
    _handle_event(self, sender, event, *details, **more)
    if event is ScriptRunnerEvent.SHUTDOWN and self._scriptrunner is None:
        for client_state in _waiting.pop(self, ()):
            self.request_rerun(client_state)


def apply() -> None:
    """Lose no message."""
    ForwardMsgQueue.clear = _clear_for_whole_pages  # type: ignore[method-assign]
    AppSession.request_rerun = _request_rerun_in_turn  # type: ignore[method-assign]
    AppSession._handle_scriptrunner_event_on_event_loop = _handle_event_and_go_on  # type: ignore[method-assign]
