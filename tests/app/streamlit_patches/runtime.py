"""A real Streamlit runtime without a web server, and a client of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime, RuntimeConfig
from streamlit.runtime.caching.storage.dummy_cache_storage import MemoryCacheStorageManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager


class Browser:
    """A client of a real Streamlit runtime: it keeps what it is sent."""

    client_context = None

    def __init__(self) -> None:
        self.heard: list[ForwardMsg] = []

    def write_forward_msg(self, message: ForwardMsg) -> None:
        self.heard.append(message)

    def texts(self) -> list[str]:
        bodies = [message.delta.new_element.text.body for message in self.heard]
        return [body for body in bodies if body]

    def fragment(self, name: str) -> str:
        return next(m.delta.fragment_id for m in self.heard if m.delta.new_element.text.body.startswith(name))

    def button(self) -> str:
        return next(m.delta.new_element.button.id for m in self.heard if m.delta.new_element.button.id)

    def field(self) -> str:
        return next(m.delta.new_element.text_input.id for m in self.heard if m.delta.new_element.text_input.id)

    async def wait_for(self, text: str, times: int = 1) -> None:
        end = time.monotonic() + 20
        while self.texts().count(text) < times and time.monotonic() < end:
            await asyncio.sleep(0.01)


def what_a_browser_hears(
    folder: Path, page: str, session: Callable[[Browser, Callable[[BackMsg], None]], Awaitable[None]]
) -> Browser:
    """Do `session(browser, send)` with the script `page` in a runtime of its own."""
    script = folder / "page.py"
    script.write_text(page, encoding="utf-8")

    async def live() -> Browser:
        runtime = Runtime(
            RuntimeConfig(
                script_path=str(script),
                media_file_storage=MemoryMediaFileStorage("/media"),
                uploaded_file_manager=MemoryUploadedFileManager("/upload"),
                cache_storage_manager=MemoryCacheStorageManager(),
            )
        )
        await runtime.start()
        browser = Browser()
        session_id = runtime.connect_session(browser, {})
        try:
            await session(browser, lambda message: runtime.handle_backmsg(session_id, message))
        finally:
            runtime.stop()
            await runtime.stopped
        return browser

    Runtime._instance = None
    try:
        return asyncio.run(live())
    finally:
        Runtime._instance = None
