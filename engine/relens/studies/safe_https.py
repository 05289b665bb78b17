"""Asking a web server whether a page exists, without being made to ask anybody else.

The address is written by a language model, so it may be any string, and a name may lead anywhere:

    https://www.example.com/   ->  93.184.215.14      asked
    https://printer.example/   ->  192.168.1.7        refused: an address of the local network
    https://evil.example/      ->  public when it is checked, 127.0.0.1 when it is connected to

So a name is resolved once, every address that comes back is checked, and the connection is made to one of the very
addresses that were checked; the name is then only used for TLS, whose certificate must be good for it, and for the Host
line. One HEAD request, port 443 only, no redirect followed, at most so many a second, and a time within which all must
be over, however slowly a server drips. Of an answer, nothing but its status is looked at.

Source: ReLM section 4.1: a URL counts as valid when "the HTTPS response code is less than 300, avoiding redirects".
"""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import quote, urlsplit

PORT = 443
LONGEST_URL = 2048

#: Of the answer, the most bytes that are read in search of its status.
MOST_HEADER_BYTES = 1 << 16

Resolver = Callable[[str], list[str]]


class Connection(Protocol):
    """What is needed of a TLS socket."""

    def sendall(self, data: bytes, /) -> None:
        """Send all of it."""

    def recv(self, size: int, /) -> bytes:
        """At most so many bytes, none at the end."""

    def settimeout(self, value: float, /) -> None:
        """How long the next call may take, seconds."""

    def close(self) -> None:
        """Hang up."""


#: (address, name, seconds) -> a TLS connection to that address, whose certificate is good for that name.
Connector = Callable[[str, str, float], Connection]


@dataclass(frozen=True)
class HttpsAnswer:
    """status: of the answer, None without one. reason: why there is none, as a sentence, else ""."""

    status: int | None = None
    reason: str = ""

    @property
    def exists(self) -> bool:
        """Whether the page is there, by the paper's rule."""
        return self.status is not None and 200 <= self.status < 300


class RefusalError(Exception):
    """An address that is not asked; the text says why."""


class SafeHttps:
    """Asks web servers, one at a time, at most `per_second` of them a second, each for at most `seconds`."""

    def __init__(
        self,
        seconds: float = 2.0,
        per_second: float = 2.0,
        resolver: Resolver | None = None,
        connector: Connector | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._seconds = seconds
        self._pause = 1.0 / per_second
        self._resolver = resolver or resolve
        self._connector = connector or connect
        self._clock, self._sleep = clock, sleep
        self._next = clock()

    def head(self, url: str) -> HttpsAnswer:
        """The status of a HEAD request; whatever goes wrong is an answer without one."""
        try:
            name, target = split_url(url)
            self._wait()
            deadline = self._clock() + self._seconds
            addresses = within(self._seconds, lambda: self._resolver(name))
            if not addresses:
                raise RefusalError(f"The name {name} leads nowhere.")
            for address in addresses:
                check_address(address)
            return HttpsAnswer(self._ask(addresses[0], name, target, deadline))
        except RefusalError as refusal:
            return HttpsAnswer(reason=str(refusal))
        except (TimeoutError, ssl.SSLError, OSError, ValueError) as error:
            return HttpsAnswer(reason=f"There was no answer ({type(error).__name__}).")

    def _wait(self) -> None:
        now = self._clock()
        if self._next > now:
            self._sleep(self._next - now)
        self._next = max(now, self._next) + self._pause

    def _ask(self, address: str, name: str, target: str, deadline: float) -> int:
        connection = self._connector(address, name, self._left(deadline))
        try:
            host = f"[{name}]" if ":" in name else name
            request = f"HEAD {target} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: Relens\r\nConnection: close\r\n\r\n"
            connection.settimeout(self._left(deadline))
            connection.sendall(request.encode("ascii"))
            for line in self._status_lines(connection, deadline):
                status = _status(line)
                if status >= 200:  # what is below only says that an answer will come
                    return status
            raise RefusalError("The server hung up without an answer.")
        finally:
            with contextlib.suppress(OSError):
                connection.close()

    def _status_lines(self, connection: Connection, deadline: float) -> Iterator[bytes]:
        """The first line of each block of headers."""
        received, begin = b"", 0
        while len(received) < MOST_HEADER_BYTES:
            end_of_line = received.find(b"\r\n", begin)
            if end_of_line >= 0:
                yield received[begin:end_of_line]
                end_of_block = received.find(b"\r\n\r\n", begin)
                if end_of_block >= 0:
                    begin = end_of_block + 4
                    continue
            connection.settimeout(self._left(deadline))
            data = connection.recv(4096)
            if not data:
                return
            received += data

    def _left(self, deadline: float) -> float:
        left = deadline - self._clock()
        if left <= 0.0:
            raise TimeoutError
        return left


def split_url(url: str) -> tuple[str, str]:
    """The host of an https address, in ASCII, and what to ask of it. Raises `RefusalError` for anything else."""
    if len(url) > LONGEST_URL:
        raise RefusalError("The address is too long.")
    if any(character <= " " or character in "\\\x7f" for character in url) or not url.isprintable():
        raise RefusalError("The address holds characters that no address has.")
    try:
        parts = urlsplit(url)
        port, name = parts.port, parts.hostname or ""
        if not name.isascii():
            name = name.encode("idna").decode("ascii")
    except ValueError as error:
        raise RefusalError("The address cannot be read.") from error
    if parts.scheme != "https":
        raise RefusalError("Only addresses that begin with https:// are asked.")
    if parts.username is not None or parts.password is not None:
        raise RefusalError("An address with a name and a password in it is not asked.")
    if port not in (None, PORT):
        raise RefusalError(f"Only port {PORT} is asked, not {port}.")
    if not name or any(not (letter.isalnum() or letter in "-._:") for letter in name) or "%" in name:
        raise RefusalError("The address has no host that could be asked.")
    target = quote(parts.path or "/", safe="/%:@!$&'()*+,;=-._~")
    return name, target + (f"?{quote(parts.query, safe='/?%:@!$&()*+,;=-._~')}" if parts.query else "")


def resolve(name: str) -> list[str]:
    """The addresses a name leads to. Raises `OSError` for a name that leads nowhere."""
    found = socket.getaddrinfo(name, PORT, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def within(seconds: float, work: Callable[[], list[str]]) -> list[str]:
    """What `work` gives, unless it takes longer: a resolver cannot be told when to give up. Raises `TimeoutError`."""
    results: list[list[str]] = []
    errors: list[Exception] = []

    def carry_out() -> None:
        try:
            results.append(work())
        except Exception as error:  # handed on below
            errors.append(error)

    thread = threading.Thread(target=carry_out, daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not results:
        raise TimeoutError
    return results[0]


def check_address(text: str) -> None:
    """Raises `RefusalError` unless this is the address of a machine on the public internet, IPv4 or IPv6."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError as error:
        raise RefusalError(f"{text!r} is not an address of a machine.") from error
    inner: list[ipaddress.IPv4Address | ipaddress.IPv6Address] = [address]
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id is not None:
            raise RefusalError(f"{text} is an address of the local network.")
        if address.ipv4_mapped is not None:
            inner = [address.ipv4_mapped]
        elif address.sixtofour is not None or address.teredo is not None or address in _TRANSLATED:
            raise RefusalError(f"{text} leads to another address by way of a translation.")
    for known in inner:
        # Each of these is asked on its own: what counts as global has changed between versions of Python.
        for kind in ("loopback", "link_local", "multicast", "private", "reserved", "unspecified"):
            if getattr(known, f"is_{kind}"):
                raise RefusalError(f"{text} is not on the public internet: it is {kind.replace('_', '-')}.")
        if getattr(known, "is_site_local", False) or not known.is_global:
            raise RefusalError(f"{text} is not on the public internet.")


#: IPv6 addresses that a router turns into IPv4 ones (RFC 6052).
_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")


def connect(address: str, name: str, seconds: float, context: ssl.SSLContext | None = None) -> Connection:
    """A TLS connection to `address`, which is not resolved again, with a certificate that is good for `name`.

    Raises `OSError`, of which `ssl.SSLError` is one. context: whose certificates count, by default the system's.
    """
    return connect_to(address, PORT, name, seconds, context)


def connect_to(
    address: str, port: int, name: str, seconds: float, context: ssl.SSLContext | None = None
) -> ssl.SSLSocket:
    """As `connect`, to any port: for a test with a server of its own."""
    context = context or ssl.create_default_context()
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    deadline = time.monotonic() + seconds
    plain = socket.socket(family, socket.SOCK_STREAM)
    try:
        plain.settimeout(seconds)
        plain.connect((address, port))
        plain.settimeout(max(deadline - time.monotonic(), 0.01))
        return context.wrap_socket(plain, server_hostname=name)
    except BaseException:
        plain.close()
        raise


def _status(line: bytes) -> int:
    words = line.split(b" ", 2)
    if len(words) < 2 or not words[0].startswith(b"HTTP/1.") or not (len(words[1]) == 3 and words[1].isdigit()):
        raise RefusalError("The server does not speak HTTP.")
    return int(words[1])
