"""Requests over HTTP by the standard library: to one server, without redirects, with bounded answers and times."""

from __future__ import annotations

import base64
import http.client
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from podium.base.errors import ParameterError, RequestError

LARGEST_ANSWER = 2**26
"""Bytes of an answer that are read, at most."""
_CHUNK = 2**16
_JSON = {"Content-Type": "application/json"}


class HttpAnswer(NamedTuple):
    """The status and the content of an answer."""

    status: int
    content: bytes

    @property
    def text(self) -> str:
        """The beginning of the content, for messages."""
        return " ".join(self.content[:300].decode("utf-8", "replace").split())


def check_url(url: str) -> str:
    """The URL; raises a clear error if it is not one of a server, or if it holds a password."""
    _split(url)
    return url


def check_base_url(url: str) -> str:
    """The URL to which paths are added, without a slash at its end; raises a clear error if it ends in a query."""
    parts = _split(url)
    if parts.query or parts.fragment or url.endswith(("?", "#")):
        raise ParameterError(f"--url is what paths are added to, and ends before a ? or #; got {url!r}.")
    return url.rstrip("/")


def _split(url: str) -> SplitResult:
    shown = url.rpartition("@")[2]  # what is before @ may be a password, also in a URL that is none
    try:
        parts = urlsplit(url)
        named = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        named = False
    if not named:
        raise ParameterError(f"--url must begin with http:// or https:// and a host; got {shown!r}.")
    if parts.username is not None or parts.password is not None:
        raise ParameterError("--url must not hold a user and a password, which others would see: use the environment.")
    if not (parts.path + parts.query).isascii() or any(letter.isspace() or not letter.isprintable() for letter in url):
        raise ParameterError(f"--url has blanks, or letters that need percent signs, such as %20; got {shown!r}.")
    return parts


def authorization(secret: str | None) -> dict[str, str]:
    """The header for a secret: `user:password`, or the header's own words, such as `ApiKey …` or `Bearer …`."""
    if not secret:
        return {}
    plain = ":" in secret.partition(" ")[0]
    return {"Authorization": f"Basic {base64.b64encode(secret.encode()).decode()}" if plain else secret}


def request(
    method: str,
    url: str,
    body: bytes | None = None,
    *,
    headers: Mapping[str, str] | None = None,
    timeout: float = 60.0,
) -> HttpAnswer:
    """Send a request and read its whole answer, of at most LARGEST_ANSWER bytes and in about `timeout` seconds.

    Redirects are answers too; certificates are checked. A lost connection is a RequestError.
    """
    parts = _split(url)
    for name, value in (headers or {}).items():
        if not (value.isascii() and value.isprintable()):  # the value may be a secret
            raise ParameterError(
                f"the header {name} has a letter that none may have. Does the key in the environment end in a new line?"
            )
    host = parts.hostname or ""
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(host, parts.port, timeout=timeout)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    deadline = time.monotonic() + timeout
    try:
        connection.connect()
        with _ended(connection.sock, deadline) as late:
            connection.request(method, path, body, {**(_JSON if body is not None else {}), **(headers or {})})
            response = connection.getresponse()
            content = _content(response, host)
        if late.is_set():  # what was read may end too early
            raise TimeoutError
    except (OSError, http.client.HTTPException, UnicodeError) as error:
        why = str(error) or type(error).__name__
        if time.monotonic() >= deadline:
            why = f"no whole answer in {timeout:g} s"
        raise RequestError(f"{host} does not answer: {why}.", again=not isinstance(error, UnicodeError)) from error
    finally:
        connection.close()
    return HttpAnswer(response.status, content)


@contextmanager
def _ended(connected: socket.socket, deadline: float) -> Iterator[threading.Event]:
    """End a connection at a time, however slowly the server sends: each piece that comes would reset a timeout."""
    late = threading.Event()

    def end() -> None:
        late.set()
        with suppress(OSError):
            socket.socket.shutdown(connected, socket.SHUT_RDWR)

    timer = threading.Timer(max(0.0, deadline - time.monotonic()), end)
    timer.daemon = True
    timer.start()
    try:
        yield late
    finally:
        timer.cancel()


def _content(response: http.client.HTTPResponse, host: str) -> bytes:
    """The content of an answer, of which no byte is missing."""
    whole, content = response.length, bytearray()
    while chunk := response.read1(_CHUNK):
        content += chunk
        if len(content) > LARGEST_ANSWER:
            raise RequestError(f"{host} sends more than {LARGEST_ANSWER} bytes. Ask for less.")
    if whole is not None and len(content) < whole:
        raise http.client.IncompleteRead(bytes(content), whole - len(content))
    return bytes(content)


@dataclass(frozen=True)
class Server:
    """A server: its URL, the authorization, and how long and how often to ask."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout: float = 60.0
    retries: int = 3
    sleep: Callable[[float], None] = time.sleep

    def send(self, method: str, path: str, body: bytes | None = None) -> HttpAnswer:
        """The answer to a request; asks again if the server is busy, fails or is lost, after growing pauses."""
        url = self.url.rstrip("/") + path
        for attempt in range(self.retries + 1):
            last = attempt == self.retries
            try:
                answer = request(method, url, body, headers=self.headers, timeout=self.timeout)
            except RequestError as error:
                if last or not error.again:
                    raise
            else:
                if last or not (answer.status == 429 or answer.status >= 500):
                    return answer
            self.sleep(min(0.25 * 2.0**attempt, 30.0))
        raise AssertionError("the last attempt returns or raises")
