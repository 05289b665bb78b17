"""One visitor of the dashboard without a browser: Streamlit's own messages over its websocket.

    with Session(url) as visitor:
        visitor.open("workbench", "pattern=The+cat")     what a link does
        visitor.set("pattern", "The (cat|dog)")          what typing does
        visitor.press("run_button")
        visitor.texts()                                  what stands on the page

That is how an attacker would come: quicker than a browser, free of its bounds on fields, and able to send messages that
no browser sends. A widget is named by the key that the page gave it; its id on the wire ends with that key.
"""

from __future__ import annotations

import socket
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any, Self
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.typing import Subprotocol

#: Longer than any answer takes on a machine that does other things too.
PATIENCE = 120.0

#: Elements that stand on a page as words, and the fields that hold these.
_WORDS = {
    "alert": ("body",),
    "button": ("label", "help"),
    "code": ("code_text",),
    "dataframe": ("alt_text",),
    "heading": ("body",),
    "html": ("body",),
    "markdown": ("body",),
    "text": ("body",),
}


_BOUNDARY = "a-line-that-is-in-no-file"
MULTIPART = f"multipart/form-data; boundary={_BOUNDARY}"


def multipart(name: str, data: bytes) -> bytes:
    """A file as a browser's form sends it."""
    head = f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"; filename="{name}"\r\n\r\n'
    return head.encode() + data + f"\r\n--{_BOUNDARY}--\r\n".encode()


class RefusedError(Exception):
    """The server did not take the connection, or closed it."""


class Session:
    """A visitor; `headers` are sent with the handshake, over those of a browser on the server's own page."""

    def __init__(self, url: str, headers: dict[str, str] | None = None) -> None:
        parts = urlsplit(url)
        self._url = url
        given = {"Origin": url} | (headers or {})
        host = given.pop("Host", None)
        try:
            # The name in the handshake and the machine that is connected to are two things, as they are for whoever
            # makes a name of his own lead to this machine.
            self._socket = connect(
                f"ws://{host or parts.netloc}/_stcore/stream",
                sock=socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE),
                additional_headers={name: value for name, value in given.items() if name != "Origin"},
                origin=given["Origin"],  # type: ignore[arg-type]
                subprotocols=[Subprotocol("streamlit")],
                max_size=None,
                proxy=None,
                open_timeout=PATIENCE,
                ping_timeout=None,
                close_timeout=2.0,
            )
        except Exception as error:
            raise RefusedError(f"{type(error).__name__}: {error}") from error
        self.bytes_received = 0
        #: The page by its name in the address, its parameters, and the server's own name for it once it is drawn.
        self._page, self._query, self._script = "", "", ""
        self._elements: dict[tuple[int, ...], tuple[str, Element]] = {}
        self._blocks: dict[tuple[int, ...], Any] = {}
        self._fragments: dict[str, None] = {}
        self._answers: dict[str, Any] = {}
        self._run, self._is_whole = "", True
        self._finished = 0
        self._session_id = ""
        self._config: Any = None
        self._failure: str | None = None
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave."""
        self._socket.close()
        self._reader.join(5.0)

    # --------------------------------------------------------------------------------- what a visitor does

    def open(self, page: str = "", query: str = "", *, wait: bool = True, patience: float = PATIENCE) -> None:
        """Come to a page by its address."""
        self._page, self._query, self._script = page, query, ""
        self.rerun(wait=wait, patience=patience)

    def rerun(
        self,
        widgets: list[WidgetState] | None = None,
        *,
        fragment: str = "",
        wait: bool = True,
        patience: float = PATIENCE,
    ) -> None:
        """Have the page drawn again, or a fragment of it, with changed widgets; the others keep what they hold."""
        message = BackMsg()
        message.rerun_script.query_string = self._query
        if self._script:
            message.rerun_script.page_script_hash = self._script
        else:
            message.rerun_script.page_name = self._page
        message.rerun_script.fragment_id = fragment
        message.rerun_script.widget_states.widgets.extend(widgets or [])
        with self._changed:
            before = self._finished
        self.send(message)
        if wait:
            self.wait(lambda: self._finished > before, f"the page {self._page!r}", patience)

    def look(self, *, patience: float = PATIENCE) -> None:
        """Have all fragments of the page drawn again, as its own clock does."""
        for fragment in list(self._fragments):
            self.rerun(fragment=fragment, patience=patience)

    def set(self, key: str, value: Any, *, wait: bool = True) -> None:
        """Put a value into the widget with this key, whatever bounds the widget has."""
        self.rerun([self._state(key, value)], wait=wait)

    def press(self, key: str, *, wait: bool = True) -> None:
        """Press the button with this key."""
        state = WidgetState(id=self.widget(key).id, trigger_value=True)
        self.rerun([state], wait=wait)

    def upload(self, key: str, name: str, data: bytes, *, wait: bool = True) -> None:
        """Send a file by the file field with this key."""
        asked = BackMsg()
        asked.file_urls_request.request_id = f"request {time.monotonic()}"
        asked.file_urls_request.file_names.append(name)
        asked.file_urls_request.session_id = self._session_id
        self.send(asked)
        given = self._answer(asked.file_urls_request.request_id).file_urls[0]
        body = multipart(name, data)
        with urllib.request.urlopen(
            urllib.request.Request(
                f"{self._url}{given.upload_url}", body, {"Content-Type": MULTIPART, **self._tokens()}, method="PUT"
            ),
            timeout=PATIENCE,
        ) as answer:
            assert answer.status < 300
        state = WidgetState(id=self.widget(key).id)
        sent = state.file_uploader_state_value.uploaded_file_info.add()
        sent.name, sent.size, sent.file_id = name, len(data), given.file_id
        sent.file_urls.CopyFrom(given)
        self.rerun([state], wait=wait)

    def download(self, key: str) -> bytes:
        """The file that the download button with this key gives."""
        button = self.widget(key)
        address = button.url
        if button.deferred_file_id:
            asked = BackMsg()
            request = asked.backend_operation_request
            request.request_id, request.session_id = f"request {time.monotonic()}", self._session_id
            request.deferred_file.file_id = button.deferred_file_id
            self.send(asked)
            answer = self._answer(request.request_id)
            assert not answer.error_msg, answer.error_msg
            address = answer.deferred_file.url
        with urllib.request.urlopen(f"{self._url}{address}", timeout=PATIENCE) as file:
            return bytes(file.read())

    def _answer(self, request: str) -> Any:
        self.wait(lambda: request in self._answers, f"the answer to {request}")
        return self._answers.pop(request)

    def _tokens(self) -> dict[str, str]:
        """What a browser shows to say that it is on a page of this server."""
        with urllib.request.urlopen(f"{self._url}/_stcore/health", timeout=PATIENCE) as answer:
            cookies = answer.headers.get_all("Set-Cookie") or []
        found = [cookie.split(";")[0].partition("=") for cookie in cookies]
        token = next((value for name, _, value in found if name == "_streamlit_xsrf"), "")
        return {"Cookie": f"_streamlit_xsrf={token}", "X-Xsrftoken": token, "Origin": self._url}

    def clear_cache(self) -> None:
        """What the menu of a developer's browser sends."""
        self.send(BackMsg(clear_cache=True))

    def send(self, message: BackMsg) -> None:
        """Send any message."""
        try:
            self._socket.send(message.SerializeToString())
        except ConnectionClosed as error:
            raise RefusedError(str(error)) from error

    # ----------------------------------------------------------------------------------- what a visitor sees

    def elements(self, kind: str | None = None) -> list[Any]:
        """The elements on the page in their order; of one kind, such as "html", what they hold."""
        with self._changed:
            found = [self._elements[path][1] for path in sorted(self._elements)]
        if kind is None:
            return found
        return [getattr(element, kind) for element in found if element.WhichOneof("type") == kind]

    def texts(self) -> str:
        """All words on the page."""
        parts: list[str] = []
        for element in self.elements():
            kind = element.WhichOneof("type") or ""
            held = getattr(element, kind) if kind else None
            parts += [str(getattr(held, name, "")) for name in _WORDS.get(kind, ())]
        return "\n".join(part for part in parts if part and not part.startswith("<style>"))

    def exceptions(self) -> list[str]:
        """What Streamlit itself says of a page that broke."""
        return [f"{exception.type}: {exception.message}" for exception in self.elements("exception")]

    def widget(self, key: str) -> Any:
        """The element of the widget with this key."""
        with self._changed:
            blocks = list(self._blocks.values())
        for element in [*self.elements(), *blocks]:
            kind = element.WhichOneof("type")
            held = element if not kind or getattr(element, "id", "") else getattr(element, kind)
            if getattr(held, "id", "").endswith(f"-{key}"):
                return held
        raise LookupError(f"There is no widget {key!r} on the page {self._page!r}:\n{self.texts()[:2000]}")

    def has(self, key: str) -> bool:
        """Whether there is a widget with this key."""
        try:
            self.widget(key)
        except LookupError:
            return False
        return True

    @property
    def session_id(self) -> str:
        """What the server calls this session."""
        return self._session_id

    @property
    def config(self) -> Any:
        """What the server tells a browser of its settings, a message `NewSession.Config`."""
        return self._config

    def wait(self, condition: Callable[[], object], what: str, patience: float = PATIENCE) -> None:
        """Wait until something holds of what was received."""
        end = time.monotonic() + patience
        with self._changed:
            while not condition():
                if self._failure is not None:
                    raise RefusedError(self._failure)
                left = end - time.monotonic()
                if left <= 0:
                    raise AssertionError(f"{what} did not come within {patience:.0f} s")
                self._changed.wait(left)

    def look_until(self, condition: Callable[[], object], what: str, patience: float = PATIENCE) -> None:
        """Look again and again until something holds of what is on the page."""
        end = time.monotonic() + patience
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(f"{what} did not come within {patience:.0f} s:\n{self.texts()[-2000:]}")
            time.sleep(0.1)
            self.look(patience=patience)

    # --------------------------------------------------------------------------------------------- the wire

    def _read(self) -> None:
        try:
            for data in self._messages():
                message = ForwardMsg()
                message.ParseFromString(data)
                with self._changed:
                    self.bytes_received += len(data)
                    self._take(message)
                    self._changed.notify_all()
        except Exception as error:
            with self._changed:
                self._failure = f"{type(error).__name__}: {error}"
                self._changed.notify_all()

    def _messages(self) -> Iterator[bytes]:
        while True:
            data = self._socket.recv()
            yield data if isinstance(data, bytes) else data.encode()

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self._run = message.metadata.run.script_run_id
            self._is_whole = not message.metadata.run.fragment_ids
            if self._is_whole:
                self._fragments, self._blocks = {}, {}
            self._session_id = message.new_session.initialize.session_id
            self._config = message.new_session.config
        elif kind == "delta":
            self._take_delta(message)
        elif kind == "file_urls_response":
            self._answers[message.file_urls_response.response_id] = message.file_urls_response
        elif kind == "backend_operation_response":
            self._answers[message.backend_operation_response.request_id] = message.backend_operation_response
        elif kind == "navigation":
            self._script = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            # The browser's address changes, and is what it sends from now on.
            self._query = message.page_info_changed.query_string
        elif kind == "script_finished":
            status = message.script_finished
            if status == ForwardMsg.FINISHED_SUCCESSFULLY:
                # What the run did not draw is no longer there.
                self._elements = {path: held for path, held in self._elements.items() if held[0] == self._run}
            if status != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                self._finished += 1

    def _take_delta(self, message: ForwardMsg) -> None:
        path = tuple(message.metadata.delta_path)
        if message.delta.fragment_id:
            self._fragments[message.delta.fragment_id] = None
        kind = message.delta.WhichOneof("type")
        if kind == "new_element":
            self._elements[path] = (self._run, message.delta.new_element)
        elif kind == "add_block":
            self._blocks[path] = message.delta.add_block
            self._elements = {
                place: held
                for place, held in self._elements.items()
                if place[: len(path)] != path or held[0] == self._run
            }

    def _state(self, key: str, value: Any) -> WidgetState:
        state = WidgetState(id=self.widget(key).id)
        if isinstance(value, bool):
            state.bool_value = value
        elif isinstance(value, int):
            state.int_value = value
        elif isinstance(value, float):
            state.double_value = value
        elif isinstance(value, list):
            state.string_array_value.data.extend(value)
        else:
            state.string_value = value
        return state
