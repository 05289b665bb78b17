"""Unsent messages when a fragment runs again: all arrive, in order."""

from __future__ import annotations

import asyncio
import time

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

from relens_dashboard.streamlit_patches import whole_messages
from tests.app.streamlit_patches.runtime import Browser, what_a_browser_hears

FRAGMENT = "the fragment"


@pytest.fixture
def streamlit_alone(monkeypatch):
    monkeypatch.setattr(ForwardMsgQueue, "clear", whole_messages._clear)
    monkeypatch.setattr(AppSession, "request_rerun", whole_messages._request_rerun)
    monkeypatch.setattr(AppSession, "_handle_scriptrunner_event_on_event_loop", whole_messages._handle_event)


@pytest.fixture
def whole(streamlit_alone):
    whole_messages.apply()


def begin() -> ForwardMsg:
    message = ForwardMsg()
    message.new_session.SetInParent()
    return message


def element(place: int, text: str, fragment: str | None = None) -> ForwardMsg:
    message = ForwardMsg()
    message.metadata.delta_path[:] = [0, place]
    message.delta.new_element.text.body = text
    if fragment:
        message.delta.fragment_id = fragment
    return message


def end(status: ForwardMsg.ScriptFinishedStatus.ValueType) -> ForwardMsg:
    message = ForwardMsg()
    message.script_finished = status
    return message


def texts(queue: ForwardMsgQueue) -> list[str]:
    return [message.delta.new_element.text.body or message.WhichOneof("type") for message in queue.flush()]


def a_page_and_then_its_fragment() -> ForwardMsgQueue:
    queue = ForwardMsgQueue()
    for message in (
        begin(),
        element(0, "title"),
        element(1, "field", FRAGMENT),
        end(ForwardMsg.FINISHED_SUCCESSFULLY),
    ):
        queue.enqueue(message)
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=[FRAGMENT])
    for message in (
        begin(),
        element(1, "the field again", FRAGMENT),
        end(ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY),
    ):
        queue.enqueue(message)
    return queue


def test_a_page_keeps_what_its_fragment_draws_anew(whole):
    assert texts(a_page_and_then_its_fragment()) == [
        "new_session",
        "title",
        "field",
        "script_finished",
        "new_session",
        "the field again",
        "script_finished",
    ]


def test_a_page_that_begins_again_still_replaces_the_older_one(whole):
    queue = ForwardMsgQueue()
    queue.enqueue(begin())
    queue.enqueue(element(0, "title"))
    queue.clear(retain_lifecycle_msgs=True)
    assert texts(queue) == ["new_session"]


def test_sent_messages_are_not_sent_again(whole):
    queue = a_page_and_then_its_fragment()
    assert len(queue.flush()) == 7
    assert not queue.flush()


def test_streamlit_alone_loses_the_field(streamlit_alone):
    """If this fails, Streamlit has fixed it, and `_clear_for_whole_pages` can go."""
    assert "field" not in texts(a_page_and_then_its_fragment())


PAGE = """
import streamlit as st

def draw(name):
    seen = st.session_state[name] = st.session_state.get(name, 0) + 1
    st.text(f"{name} {seen}")

def press():
    st.text("pressed" if st.button("Stop", key="stop") else "not pressed")

def write():
    st.text("written: " + st.text_input("Pattern", "old", key="pattern"))

st.fragment(draw, key="clock")("clock")
st.fragment(draw, key="field")("field")
st.fragment(press, key="press")()
st.fragment(write, key="write")()
st.text("end of the page")
"""

#: What the page says when it is opened.
OPENED = ["clock 1", "field 1", "not pressed", "written: old", "end of the page"]


def asking(fragment: str = "", button: str = "", field: str = "", text: str = "") -> BackMsg:
    message = BackMsg()
    message.rerun_script.fragment_id = fragment
    if button:
        pressed = message.rerun_script.widget_states.widgets.add()
        pressed.id, pressed.trigger_value = button, True
    if field:
        written = message.rerun_script.widget_states.widgets.add()
        written.id, written.string_value = field, text
    return message


def hears(folder, session) -> Browser:
    """The messages to a browser of a page that does `session(browser, ask)`."""
    return what_a_browser_hears(folder, PAGE, lambda browser, send: session(browser, lambda *what: send(asking(*what))))


async def open_page(browser, ask) -> None:
    ask()
    await browser.wait_for("end of the page")


async def draw_the_clock_unheard(browser, ask) -> None:
    await open_page(browser, ask)
    ask(browser.fragment("clock"))
    time.sleep(0.5)  # the server is busy: the fragment is drawn, and nothing of it is heard


async def a_request_when_the_last_run_was_not_heard(browser, ask) -> None:
    await draw_the_clock_unheard(browser, ask)
    ask(browser.fragment("field"))
    await browser.wait_for("field 2")


def test_a_request_waits_until_the_last_runs_events_are_handled(tmp_path, whole):
    browser = hears(tmp_path, a_request_when_the_last_run_was_not_heard)
    assert browser.texts() == [
        "clock 1",
        "field 1",
        "not pressed",
        "written: old",
        "end of the page",
        "clock 2",
        "field 2",
    ]


def test_all_requests_that_waited_have_their_turn(tmp_path, whole):
    async def several(browser, ask) -> None:
        await draw_the_clock_unheard(browser, ask)
        ask(browser.fragment("field"))
        ask(browser.fragment("clock"))
        await browser.wait_for("field 2")
        await browser.wait_for("clock 3")

    texts = hears(tmp_path, several).texts()
    assert texts[5] == "clock 2"
    assert sorted(texts[6:]) == ["clock 3", "field 2"]


def test_a_requested_page_has_its_turn_too(tmp_path, whole):
    async def page_again(browser, ask) -> None:
        await draw_the_clock_unheard(browser, ask)
        ask()
        await browser.wait_for("end of the page", times=2)

    texts = hears(tmp_path, page_again).texts()
    assert "clock 3" in texts, "the page is drawn with what the fragment before it did"
    assert texts.count("end of the page") == 2


def test_streamlit_alone_loses_a_run_with_queued_events(tmp_path, streamlit_alone):
    """If this fails, Streamlit has fixed it, and `_waiting` and all that fills and empties it can go."""
    browser = hears(tmp_path, a_request_when_the_last_run_was_not_heard)
    assert "clock 2" not in browser.texts()


async def a_button_and_a_clock_at_once(browser, ask) -> None:
    await open_page(browser, ask)
    ask(browser.fragment("clock"), browser.button())
    await browser.wait_for("clock 2")
    await asyncio.sleep(0.2)


def test_a_button_pressed_at_the_tick_of_a_clock_is_not_lost(tmp_path, whole):
    browser = hears(tmp_path, a_button_and_a_clock_at_once)
    assert browser.texts()[-5:] == ["clock 2", "field 2", "pressed", "written: old", "end of the page"]


async def a_text_and_a_clock_at_once(browser, ask) -> None:
    await open_page(browser, ask)
    ask(browser.fragment("clock"), "", browser.field(), "new")
    await browser.wait_for("clock 2")
    await asyncio.sleep(0.2)


def test_a_text_typed_at_the_tick_of_a_clock_is_not_lost(tmp_path, whole):
    browser = hears(tmp_path, a_text_and_a_clock_at_once)
    assert browser.texts()[-5:] == ["clock 2", "field 2", "not pressed", "written: new", "end of the page"]


def test_a_tick_with_a_text_that_is_known_draws_the_clock_alone(tmp_path, whole):
    async def type_and_tick(browser, ask) -> None:
        await open_page(browser, ask)
        ask(browser.fragment("written"), "", browser.field(), "new")
        await browser.wait_for("written: new")
        await asyncio.sleep(0.2)
        ask(browser.fragment("clock"), "", browser.field(), "new")
        await browser.wait_for("clock 2")
        await asyncio.sleep(0.2)

    browser = hears(tmp_path, type_and_tick)
    assert browser.texts()[-2:] == ["written: new", "clock 2"]


def test_streamlit_alone_loses_the_text(tmp_path, streamlit_alone):
    """If this fails, Streamlit has fixed it, and `_is_new` can go."""
    browser = hears(tmp_path, a_text_and_a_clock_at_once)
    assert "written: new" not in browser.texts()


def test_a_button_of_the_fragment_that_runs_draws_that_alone(tmp_path, whole):
    async def press(browser, ask) -> None:
        await open_page(browser, ask)
        ask(browser.fragment("clock"))
        await browser.wait_for("clock 2")
        await asyncio.sleep(0.2)
        ask(browser.fragment("not pressed"), browser.button())
        await browser.wait_for("pressed")

    browser = hears(tmp_path, press)
    assert browser.texts() == [
        "clock 1",
        "field 1",
        "not pressed",
        "written: old",
        "end of the page",
        "clock 2",
        "pressed",
    ]


def test_streamlit_alone_loses_the_button(tmp_path, streamlit_alone):
    """If this fails, Streamlit has fixed it, and `_has_news_of_elsewhere` can go."""
    browser = hears(tmp_path, a_button_and_a_clock_at_once)
    assert "pressed" not in browser.texts()
