"""A model hub on this machine: as much of the Hugging Face hub's HTTP interface as fetching a model takes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class FakeHub:
    """Its address, its folders by name, and its requests: "GET /me/tiny/resolve/.../config.json".

    weights_allowed: weights are sent only while it is set. claimed_bytes: what is said of the size of weights where
    that is not the truth; such weights are never sent.
    """

    url: str
    models: dict[str, Path]
    requests: list[str] = field(default_factory=list)
    weights_allowed: threading.Event = field(default_factory=threading.Event)
    claimed_bytes: int | None = None

    def environment(self, cache: Path) -> dict[str, str]:
        """The environment in which a process takes it for the hub and keeps its files in `cache`."""
        return {"HF_ENDPOINT": self.url, "HF_HUB_OFFLINE": "0", "HF_HUB_CACHE": str(cache), "HF_HUB_DISABLE_XET": "1"}


@contextmanager
def fake_hub(models: dict[str, Path]) -> Iterator[FakeHub]:
    """A hub that serves on a free port of the loopback until the end."""

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def do_GET(self) -> None:
            self._answer(with_body=True)

        def _answer(self, *, with_body: bool) -> None:
            hub.requests.append(f"{self.command} {self.path}")
            place = self.path.split("?")[0]
            for name, folder in hub.models.items():
                files = sorted(folder.iterdir())
                if place == f"/api/models/{name}/revision/main":
                    self._json({"id": name, "sha": COMMIT, "siblings": [{"rfilename": file.name} for file in files]})
                elif place == f"/api/models/{name}/tree/{COMMIT}":
                    self._json([self._entry(file) for file in files])
                elif place.startswith(f"/{name}/resolve/{COMMIT}/"):
                    self._file(folder / place.rsplit("/", 1)[1], with_body=with_body)
                else:
                    continue
                return
            self._send(404, {"X-Error-Code": "RepoNotFound"}, b"")

        def _entry(self, file: Path) -> dict[str, object]:
            return {"type": "file", "path": file.name, "size": self._size(file), "oid": self._tag(file)}

        def _file(self, file: Path, *, with_body: bool) -> None:
            if with_body and file.suffix == ".safetensors":
                assert hub.claimed_bytes is None
                assert hub.weights_allowed.wait(60)
            headers = {"X-Repo-Commit": COMMIT, "ETag": f'"{self._tag(file)}"'}
            if with_body:
                self._send(200, headers, file.read_bytes())
            else:
                self._send(200, headers | {"Content-Length": str(self._size(file))}, b"")

        def _size(self, file: Path) -> int:
            claimed = hub.claimed_bytes if file.suffix == ".safetensors" else None
            return file.stat().st_size if claimed is None else claimed

        def _tag(self, file: Path) -> str:
            return hashlib.sha1(file.read_bytes()).hexdigest()

        def _json(self, value: object) -> None:
            self._send(200, {"Content-Type": "application/json"}, json.dumps(value).encode())

        def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(status)
            for header, value in ({"Content-Length": str(len(body))} | headers).items():
                self.send_header(header, value)
            self.end_headers()
            with contextlib.suppress(ConnectionError):  # the client may have ended meanwhile
                self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    hub = FakeHub(f"http://127.0.0.1:{server.server_port}", models)
    hub.weights_allowed.set()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.weights_allowed.set()
        server.shutdown()
        server.server_close()
        thread.join()
