"""Which addresses are asked, which are refused, and that the one that was checked is the one that is connected to."""

from __future__ import annotations

import socket
import ssl
import subprocess
import threading

import pytest

from relens.studies.safe_https import RefusalError, SafeHttps, check_address, connect_to, split_url

PUBLIC = "93.184.215.14"


class Server:
    """A connection that remembers what it was asked and answers in pieces."""

    def __init__(self, *pieces: bytes) -> None:
        self.pieces = list(pieces)
        self.sent = b""
        self.closed = False

    def sendall(self, data: bytes, /) -> None:
        self.sent += data

    def recv(self, size: int, /) -> bytes:
        return self.pieces.pop(0) if self.pieces else b""

    def settimeout(self, value: float, /) -> None:
        assert value > 0.0

    def close(self) -> None:
        self.closed = True


class World:
    """A resolver, a connector and a clock that nobody else has."""

    def __init__(self, addresses: list[str], *pieces: bytes) -> None:
        self.addresses = addresses
        self.server = Server(*pieces)
        self.resolved: list[str] = []
        self.connected: list[tuple[str, str]] = []
        self.now = 0.0

    def connect(self, address: str, name: str, seconds: float) -> Server:
        self.connected.append((address, name))
        return self.server

    def resolve(self, name: str) -> list[str]:
        self.resolved.append(name)
        return self.addresses

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def asker(self, per_second: float = 2.0) -> SafeHttps:
        return SafeHttps(2.0, per_second, self.resolve, self.connect, lambda: self.now, self.sleep)


def test_a_page_that_exists_is_asked_of_the_address_that_was_checked():
    world = World([PUBLIC], b"HTTP/1.1 20", b"0 OK\r\nServer: x\r\n\r\n")
    answer = world.asker().head("https://www.example.com/a?q=1#part")
    assert (answer.status, answer.exists, answer.reason) == (200, True, "")
    assert world.resolved == ["www.example.com"]
    assert world.connected == [(PUBLIC, "www.example.com")]
    assert world.server.sent.startswith(b"HEAD /a?q=1 HTTP/1.1\r\nHost: www.example.com\r\n")
    assert world.server.closed


@pytest.mark.parametrize(("status", "exists"), [(200, True), (204, True), (299, True), (300, False), (301, False),
                                                (302, False), (308, False), (404, False), (500, False)])  # fmt: skip
def test_redirects_and_errors_are_no_pages_and_nothing_is_followed(status, exists):
    head = f"HTTP/1.1 {status} x\r\nLocation: https://www.example.com/other\r\n\r\n".encode()
    world = World([PUBLIC], head, b"HTTP/1.1 200 OK\r\n\r\n")
    answer = world.asker().head("https://www.example.com/")
    assert (answer.status, answer.exists) == (status, exists)
    assert len(world.connected) == 1


def test_an_early_hint_is_not_the_answer():
    world = World([PUBLIC], b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n", b"\r\nHTTP/1.1 404 Not Found\r\n\r\n")
    assert world.asker().head("https://www.example.com").status == 404


NOT_PUBLIC = [
    "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "172.16.3.4", "192.168.1.7", "169.254.169.254", "100.64.0.1",
    "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1", "203.0.113.9",
    "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12:3456::1", "ff02::1", "fec0::1", "2001:db8::1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::7f00:1", "64:ff9b::7f00:1", "64:ff9b::808:808",
    "2002:7f00:1::", "2002:5db8:d70e::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "no address", "",
]  # fmt: skip


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_what_is_not_on_the_public_internet_is_refused(address):
    with pytest.raises(RefusalError):
        check_address(address)
    for addresses in ([address], [PUBLIC, address], [address, PUBLIC]):
        world = World(addresses, b"HTTP/1.1 200 OK\r\n\r\n")
        answer = world.asker().head("https://www.example.com/")
        assert not answer.exists
        assert answer.reason
        assert world.connected == []


@pytest.mark.parametrize("address", [PUBLIC, "8.8.8.8", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "::ffff:8.8.8.8"])
def test_what_is_public_is_not(address):
    check_address(address)


@pytest.mark.parametrize(
    "url",
    [
        "http://www.example.com/", "ftp://www.example.com/", "www.example.com", "", "https://", "https:///path",
        "https://user@www.example.com/", "https://user:word@www.example.com/", "https://www.example.com:8443/",
        "https://www.example.com:x/", "https://www.example.com:99999/", "https://www.exa mple.com/",
        "https://www.example.com/\r\nHost: other", "https://www.example.com\\@other.com/", "https://[::1",
        "https://www.%65xample.com/", "https://" + "a" * 3000 + ".com/", "https://" + "ä" * 99 + ".de",
    ],
)  # fmt: skip
def test_what_is_no_plain_address_is_never_resolved(url):
    world = World([PUBLIC], b"HTTP/1.1 200 OK\r\n\r\n")
    answer = world.asker().head(url)
    assert answer.reason
    assert world.resolved == world.connected == []


def test_names_and_paths_are_sent_in_ascii():
    assert split_url("https://www.bücher.de/ä?ö") == ("www.xn--bcher-kva.de", "/%C3%A4?%C3%B6")
    assert split_url("https://www.example.com:443") == ("www.example.com", "/")
    assert split_url("https://www.#.com/") == ("www.", "/")
    assert split_url("https://www.example.com/50%") == ("www.example.com", "/50%")


def test_a_number_is_checked_after_it_was_resolved():
    world = World(["127.0.0.1"], b"HTTP/1.1 200 OK\r\n\r\n")
    assert not world.asker().head("https://2130706433/").exists
    assert world.connected == []


def test_so_many_a_second_and_no_more():
    world = World([PUBLIC])
    asker = world.asker(per_second=4.0)
    for _ in range(9):
        asker.head("https://www.example.com/")
    assert world.now == pytest.approx(2.0)


def test_a_server_that_drips_for_ever_is_left():
    world = World([PUBLIC])

    def drip(size: int) -> bytes:
        world.now += 0.3
        return b"x"

    world.server.recv = drip  # type: ignore[method-assign, assignment]
    assert "TimeoutError" in world.asker().head("https://www.example.com/").reason


def test_what_does_not_speak_http_has_no_status():
    for pieces in ([b"SSH-2.0\r\n\r\n"], [b""], [b"HTTP/1.1 2000 x\r\n\r\n"], [b"x" * 4096] * 20):
        answer = World([PUBLIC], *pieces).asker().head("https://www.example.com/")
        assert answer.status is None
        assert answer.reason


def test_a_resolver_that_fails_or_hangs_is_no_answer():
    def failing(name: str) -> list[str]:
        raise socket.gaierror("no such name")

    assert SafeHttps(resolver=failing).head("https://www.example.com").reason
    waiting = threading.Event()
    hanging = SafeHttps(0.05, resolver=lambda name: [PUBLIC] * waiting.wait(5.0))
    assert "TimeoutError" in hanging.head("https://www.example.com").reason
    waiting.set()


@pytest.fixture(scope="module")
def tls_server(tmp_path_factory):
    """A server on this machine with a certificate for "good.example": its port and the file of the certificate."""
    folder = tmp_path_factory.mktemp("tls")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
            "2", "-subj", "/CN=good.example", "-addext", "subjectAltName=DNS:good.example", "-keyout", key,
            "-out", certificate]  # fmt: skip
    try:
        subprocess.run(made, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("there is no openssl to make a certificate with")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                plain, _ = listener.accept()
            except OSError:
                return
            try:
                with context.wrap_socket(plain, server_side=True) as connection:
                    connection.recv(4096)
                    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            except OSError:
                pass

    threading.Thread(target=serve, daemon=True).start()
    yield listener.getsockname()[1], certificate
    listener.close()


def test_the_certificate_must_be_good_for_the_name(tls_server):
    port, certificate = tls_server
    trusting = ssl.create_default_context(cafile=str(certificate))
    with connect_to("127.0.0.1", port, "good.example", 5.0, trusting) as connection:
        connection.sendall(b"HEAD / HTTP/1.1\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 200")
    with pytest.raises(ssl.SSLCertVerificationError):
        connect_to("127.0.0.1", port, "other.example", 5.0, trusting)
    with pytest.raises(ssl.SSLCertVerificationError):
        connect_to("127.0.0.1", port, "good.example", 5.0)


def test_a_server_on_this_machine_is_refused(tls_server):
    port, _ = tls_server
    asker = SafeHttps()
    assert "loopback" in asker.head("https://127.0.0.1/").reason
    assert "loopback" in asker.head("https://[::1]/").reason
    assert "loopback" in asker.head("https://localhost/").reason
    assert "Only port 443" in asker.head(f"https://127.0.0.1:{port}/").reason
