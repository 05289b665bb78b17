"""Messages that no page of ours needs have no effect."""

from __future__ import annotations

import asyncio

import pytest
import streamlit as st
from streamlit import git_util
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest, BackMsg
from streamlit.runtime.app_session import AppSession

from relens_dashboard.streamlit_patches import known_messages
from tests.app.streamlit_patches.runtime import what_a_browser_hears

PAGE = """
import streamlit as st

seen = st.session_state["seen"] = st.session_state.get("seen", 0) + 1
st.text(f"seen {seen}")
"""


@pytest.fixture
def streamlit_alone(monkeypatch):
    monkeypatch.setattr(AppSession, "handle_backmsg", known_messages._handle_backmsg)


@pytest.fixture
def known(streamlit_alone):
    known_messages.apply()


@st.cache_resource
def kept() -> object:
    return object()


def one(kind: str) -> BackMsg:
    """A message of that kind with any content."""
    message = BackMsg()
    if BackMsg.DESCRIPTOR.fields_by_name[kind].message_type is None:
        setattr(message, kind, True)
    else:
        getattr(message, kind).SetInParent()
    return message


def operation(kind: str) -> BackMsg:
    message = BackMsg()
    getattr(message.backend_operation_request, kind).SetInParent()
    return message


def files(number: int) -> BackMsg:
    message = BackMsg()
    message.file_urls_request.file_names[:] = [f"{place}.txt" for place in range(number)]
    return message


def hears(folder, *messages):
    """The messages to a browser that draws the page, sends this, and draws the page again."""

    async def session(browser, send):
        send(one("rerun_script"))
        await browser.wait_for("seen 1")
        for message in messages:
            send(message)
        await asyncio.sleep(0.3)
        send(one("rerun_script"))
        await browser.wait_for("seen 2")
        await asyncio.sleep(0.3)

    return what_a_browser_hears(folder, PAGE, session)


def test_nobody_empties_the_caches_of_all_sessions(tmp_path, known):
    before = kept()
    browser = hears(tmp_path, one("clear_cache"))
    assert kept() is before
    assert browser.texts() == ["seen 1", "seen 2"]


def test_streamlit_alone_empties_them(tmp_path, streamlit_alone):
    """If this fails, Streamlit has fixed it, and `clear_cache` need not be refused."""
    before = kept()

    async def session(browser, send):
        send(one("clear_cache"))
        await asyncio.sleep(0.1)

    what_a_browser_hears(tmp_path, PAGE, session)
    assert kept() is not before


def test_nobody_starts_programs(tmp_path, known, monkeypatch):
    started = []
    monkeypatch.setattr(git_util, "_run_git", lambda args, cwd: started.append(args))
    hears(tmp_path, one("load_git_info"))
    assert not started


def test_a_page_is_drawn_a_beating_heart_is_answered_and_a_file_has_its_address(tmp_path, known):
    browser = hears(tmp_path, one("app_heartbeat"), files(1))
    assert [message.heartbeat_ack for message in browser.heard].count(True) == 1
    (addresses,) = [message.file_urls_response for message in browser.heard if message.HasField("file_urls_response")]
    assert len(addresses.file_urls) == 1


def test_a_list_of_files_without_end_has_no_addresses(tmp_path, known):
    browser = hears(tmp_path, files(100_000))
    assert not [message for message in browser.heard if message.HasField("file_urls_response")]


@pytest.mark.parametrize("fields", [200, 100_000])
def test_a_page_is_drawn_with_the_fields_of_a_form_and_not_with_a_hundred_thousand(tmp_path, known, fields):
    message = one("rerun_script")
    for place in range(fields):
        message.rerun_script.widget_states.widgets.add().id = f"field {place}"
    browser = hears(tmp_path, message)
    assert ("seen 3" in browser.texts()) == (fields == 200)


def test_every_message_is_known_or_refused():
    """If this fails, Streamlit has a new message: find out its effects."""
    kinds = {field.name for field in BackMsg.DESCRIPTOR.oneofs_by_name["type"].fields}
    refused = {kind for kind in kinds if not known_messages.is_known(one(kind))}
    assert refused == {
        "backend_operation_request",  # one without an operation
        "clear_cache",
        "debug_disconnect_websocket",
        "debug_shutdown_runtime",
        "load_git_info",
        "set_run_on_save",
    }
    assert kinds - refused == {"app_heartbeat", "file_urls_request", "rerun_script", "stop_script"}
    assert not known_messages.is_known(BackMsg())


def test_every_operation_is_known_or_refused():
    """As above."""
    kinds = {field.name for field in BackendOperationRequest.DESCRIPTOR.oneofs_by_name["payload"].fields}
    known = {kind for kind in kinds if known_messages.is_known(operation(kind))}
    assert known == {"deferred_file", "dataframe_chunk"}
    assert kinds - known == {"install_skills", "dismiss_skills_nudge"}
