"""Endpoint: a row of the table of routes, and the handling of each call: keys, limits, timeouts, errors."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import re
import secrets
import time
import traceback
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from podium.service.bodies import JSON, check_json
from podium.service.fair_threads import Lane
from podium.service.problems import ServiceError, answer_of, decoded, problem_of
from podium.service.security import ANYONE, Key, check_origin, sends_key
from podium.service.state import State, log

T = TypeVar("T")
SMALL = 65_536
"""Bodies up to this many bytes are decoded inline (under a millisecond); larger ones in a thread."""
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


@dataclass(frozen=True)
class Endpoint:
    """HTTP method and path, required role, types of the request and of the answer."""

    method: str
    path: str
    call: Callable[[State, Call], Awaitable[Response]]
    role: str | None  # None: anyone
    says: str
    reads: tuple[Any, ...] = ()
    """Possible structs of the JSON body."""
    also: tuple[str, ...] = ()
    """Other content types of the body."""
    answers: tuple[Any, ...] = ()
    """Possible structs of the answer; text if empty."""
    status: int = 200
    parameters: tuple[str, ...] = ()
    """Parameters of the query string."""
    reranks: bool = False
    """Whether clients of Cohere, Jina and TEI call it, which read errors in their own fields."""
    seconds: float | None = None
    """Timeout of a call; `request_seconds` of the settings if None."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """Accepted content types; JSON if there is no body, so that HTML forms cannot call it."""
        return (JSON, *self.also) if self.reads or not self.also else self.also


class Call:
    """A request in work: its id, key, body and thread pool."""

    def __init__(self, request: Request, key: Key, state: State, lane: Lane) -> None:
        self.request, self.key, self._state, self._lane = request, key, state, lane
        self.id: str = request.scope["podium.id"]
        self.start = time.perf_counter()
        self.reading = False

    async def chunks(self, most: int) -> AsyncIterator[bytes]:
        """Stream the body; raises 413 if it is longer than `most` bytes."""
        headers = self.request.headers
        if headers.get("content-encoding", "identity").lower() != "identity":
            raise ServiceError(415, "bodies are read as they are. Send it without Content-Encoding.")
        size = 0
        if whole_number(headers.get("content-length", "0"), most=most) is None:
            raise _too_long(most)
        self.reading = True
        async for chunk in self.request.stream():
            size += len(chunk)
            if size > most:
                raise _too_long(most)
            yield chunk
        self.reading = False

    async def body(self, most: int | None = None) -> bytes:
        """Read the whole body."""
        return b"".join([chunk async for chunk in self.chunks(most or self._state.settings.body_bytes)])

    async def read(self, kind: type[T], *, values: bool = True) -> T:
        """Decode the JSON body as a struct; without `values`, most of it stays raw JSON, and is not counted."""
        if self.kind != JSON:
            raise wrong_kind(self.kind, JSON)
        body = await self.body()
        most = self._state.settings.documents
        return await self.aside(_read_json, kind, body, most, values, when=len(body) > SMALL // 4)

    async def aside(self, function: Callable[..., T], *args: Any, when: bool = True, **options: Any) -> T:
        """Run a function in a thread, in the caller's turn; inline if not `when`."""
        if not when:
            return function(*args, **options)
        return await self._lane.run(self.key.name, functools.partial(function, *args, **options))

    @property
    def kind(self) -> str:
        """Content type of the request."""
        return _kind(self.request)

    @property
    def is_named(self) -> bool:
        """Whether the client chose the request id, so that it may have been used before."""
        return self.request.headers.get("x-request-id") == self.id

    def took(self) -> float:
        """Milliseconds since the call began."""
        return round(1000 * (time.perf_counter() - self.start), 3)


def wrong_kind(got: str, *accepted: str) -> ServiceError:
    """Error for a body of another content type than the accepted ones."""
    return ServiceError(415, f"Content-Type {' or '.join(accepted)} is needed; got {got[:100] or 'none'}.")


def whole_number(text: str, *, most: int) -> int | None:
    """Parse a whole number from 0 to `most` in ASCII digits; None for any other text, however long."""
    digits = text.lstrip("0") or text[:1]
    if not (text.isascii() and text.isdecimal()) or len(digits) > len(str(most)) or int(digits) > most:
        return None
    return int(digits)


def guarded(endpoint: Endpoint, state: State) -> Callable[[Request], Awaitable[Response]]:
    """Wrap an endpoint's call: keys, limits, timeout, errors, monitoring and the request log."""
    most = endpoint.seconds or state.settings.request_seconds

    async def answer(request: Request) -> Response:
        start = time.perf_counter()
        response = await _answered(endpoint, state, request, most)
        seconds = time.perf_counter() - start
        state.monitor.requests.labels(endpoint.path, response.status_code).inc()
        state.monitor.request_seconds.labels(endpoint.path).observe(seconds)
        if state.settings.log_requests:
            log(
                "info", request=request.scope["podium.id"], route=endpoint.path, method=endpoint.method,
                status=response.status_code, ms=round(1000 * seconds, 3),
            )  # fmt: skip
        return response

    return answer


async def _answered(endpoint: Endpoint, state: State, request: Request, most: float) -> Response:
    """Answer of a call; an error becomes a problem answer."""
    call, limits = None, {}
    try:
        key = ANYONE
        if endpoint.role is not None:
            key = state.keys.caller(request.headers, endpoint.role)
            limits = state.rate_limit.take(key.name)
        _check_sender(endpoint, state, request)
        call = Call(request, key, state, state.lane_of(endpoint.role))
        with state.working(None if endpoint.role is None else key.name):
            async with asyncio.timeout(most), state.large(key.name) if _is_large(request) else contextlib.nullcontext():
                response = await endpoint.call(state, call)
    except TimeoutError:
        late = call is not None and call.reading
        what = "the body did not come" if late else "the work was not done"
        response = answer_of(
            ServiceError(408 if late else 503, f"{what} within {most:g} s.", headers={"Retry-After": "1"}),
            reranks=endpoint.reranks,
        )
    except ClientDisconnect:
        return Response(status_code=400)  # the client has disconnected
    except Exception as error:
        problem = problem_of(error)
        problem.detail = state.without_folders(problem.detail)
        problem.where = None if problem.where is None else state.without_folders(problem.where)
        if problem.status == 500:
            log("error", request=request.scope["podium.id"], route=endpoint.path, trace=traceback.format_exc())
        response = answer_of(problem, reranks=endpoint.reranks)
        del problem  # errors hold frames, which hold the body, and each other, until a collection
        traceback.clear_frames(error.__traceback__)
    if limits:
        response.headers.update(limits)
    return response


def _check_sender(endpoint: Endpoint, state: State, request: Request) -> None:
    """Raise a clear error if a request may be cross-site request forgery (CSRF).

    A browser sends forms and texts for a page of any site, but no other content type, and no key header.
    """
    if endpoint.method == "GET" or sends_key(request.headers):
        return
    check_origin(request.headers, state.settings.origins)
    kind = _kind(request)
    if kind not in endpoint.kinds:
        raise wrong_kind(kind, *endpoint.kinds)


def _is_large(request: Request) -> bool:
    """Whether a body may be large: by its Content-Length, or because it has none."""
    headers = request.headers
    return whole_number(headers.get("content-length", "0"), most=SMALL) is None or "transfer-encoding" in headers


def _kind(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _read_json(kind: type[T], body: bytes, most: int, values: bool) -> T:
    check_json(body, documents=most, values=values)
    return decoded(msgspec.json.Decoder(kind), body)


def request_id(proposed: str) -> str:
    """Id of a request: the client's if it is safe in files and headers, else a new UUIDv7."""
    if _ID.fullmatch(proposed):
        return proposed
    stamp, noise = time.time_ns() // 1_000_000, secrets.randbits(74)
    return str(uuid.UUID(int=stamp << 80 | 7 << 76 | (noise >> 62) << 64 | 2 << 62 | noise & (1 << 62) - 1))


def _too_long(most: int) -> ServiceError:
    return ServiceError(413, f"the body is longer than {most} bytes. Send less.", headers={"Connection": "close"})
