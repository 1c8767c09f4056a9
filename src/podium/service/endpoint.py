"""Endpoint: one line of the table of routes, and all that is done around each call: keys, limits, time, errors."""

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
"""Bytes of a body that is read in less than a millisecond; longer ones are read in a thread."""
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


@dataclass(frozen=True)
class Endpoint:
    """A method and a path, who may call it, what it reads and answers."""

    method: str
    path: str
    call: Callable[[State, Call], Awaitable[Response]]
    role: str | None  # None: anyone
    says: str
    reads: tuple[Any, ...] = ()
    """Structs of which a JSON body is one."""
    also: tuple[str, ...] = ()
    """Other types of content that it reads."""
    answers: tuple[Any, ...] = ()
    """Structs of which the answer is one; without, it is text."""
    status: int = 200
    parameters: tuple[str, ...] = ()
    """Of the query string."""
    seconds: float | None = None
    """The time a call may take; that of the settings if None."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The types of content that it reads. One that reads no body takes JSON, so that forms cannot call it."""
        return (JSON, *self.also) if self.reads or not self.also else self.also


class Call:
    """A request on its way through the service."""

    def __init__(self, request: Request, key: Key, state: State, lane: Lane) -> None:
        self.request, self.key, self._state, self._lane = request, key, state, lane
        self.id: str = request.scope["podium.id"]
        self.start = time.perf_counter()
        self.reading = False

    async def chunks(self, most: int) -> AsyncIterator[bytes]:
        """The body as it comes, counted; raises 413 where it is longer than allowed."""
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
        """The whole body."""
        return b"".join([chunk async for chunk in self.chunks(most or self._state.settings.body_bytes)])

    async def read(self, kind: type[T], *, values: bool = True) -> T:
        """The body as a struct of the wire; without `values`, most of it stays JSON, and is not counted."""
        if self.kind != JSON:
            raise wrong_kind(self.kind, JSON)
        body = await self.body()
        most = self._state.settings.documents
        return await self.aside(_read_json, kind, body, most, values, when=len(body) > SMALL // 4)

    async def aside(self, function: Callable[..., T], *args: Any, when: bool = True, **options: Any) -> T:
        """What a function gives, computed in a thread where it takes longer than a moment, in the caller's turn."""
        if not when:
            return function(*args, **options)
        return await self._lane.run(self.key.name, functools.partial(function, *args, **options))

    @property
    def kind(self) -> str:
        """The type of the content."""
        return _kind(self.request)

    @property
    def is_named(self) -> bool:
        """Whether the client gave the id of the request, so that it may have been used before."""
        return self.request.headers.get("x-request-id") == self.id

    def took(self) -> float:
        """Milliseconds since the call began."""
        return round(1000 * (time.perf_counter() - self.start), 3)


def wrong_kind(got: str, *known: str) -> ServiceError:
    """A body of another type than is read here."""
    return ServiceError(415, f"Content-Type {' or '.join(known)} is needed; got {got[:100] or 'none'}.")


def whole_number(text: str, *, most: int) -> int | None:
    """A whole number in digits of ASCII from 0 to `most`; None for any other text, however long."""
    digits = text.lstrip("0") or text[:1]
    if not (text.isascii() and text.isdecimal()) or len(digits) > len(str(most)) or int(digits) > most:
        return None
    return int(digits)


def guarded(endpoint: Endpoint, state: State) -> Callable[[Request], Awaitable[Response]]:
    """The call with everything around it."""
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
    """The answer of a call; what it raises becomes one."""
    call, limits = None, {}
    try:
        key = ANYONE
        if endpoint.role is not None:
            key = state.keys.caller(request.headers, endpoint.role)
            limits = state.rates.take(key.name)
        _check_sender(endpoint, state, request)
        call = Call(request, key, state, state.lane_of(endpoint.role))
        with state.working(None if endpoint.role is None else key.name):
            async with asyncio.timeout(most), state.large(key.name) if _is_large(request) else contextlib.nullcontext():
                response = await endpoint.call(state, call)
    except TimeoutError:
        late = call is not None and call.reading
        what = "the body did not come" if late else "the work was not done"
        response = answer_of(
            ServiceError(408 if late else 503, f"{what} within {most:g} s.", headers={"Retry-After": "1"})
        )
    except ClientDisconnect:
        return Response(status_code=400)  # nobody hears it
    except Exception as error:
        problem = problem_of(error)
        problem.detail = state.without_folders(problem.detail)
        problem.where = None if problem.where is None else state.without_folders(problem.where)
        if problem.status == 500:
            log("error", request=request.scope["podium.id"], route=endpoint.path, trace=traceback.format_exc())
        response = answer_of(problem)
        del problem  # errors hold frames, which hold the body, and each other, until a collection
        traceback.clear_frames(error.__traceback__)
    if limits:
        response.headers.update(limits)
    return response


def _check_sender(endpoint: Endpoint, state: State, request: Request) -> None:
    """Raise a clear error if a page of a stranger may have made a browser send what changes something.

    A browser sends forms and texts for any page, but no other type of content, and no header with a key.
    """
    if endpoint.method == "GET" or sends_key(request.headers):
        return
    check_origin(request.headers, state.settings.origins)
    kind = _kind(request)
    if kind not in endpoint.kinds:
        raise wrong_kind(kind, *endpoint.kinds)


def _is_large(request: Request) -> bool:
    """Whether a body may be long: it says so, or does not say how long it is."""
    headers = request.headers
    return whole_number(headers.get("content-length", "0"), most=SMALL) is None or "transfer-encoding" in headers


def _kind(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _read_json(kind: type[T], body: bytes, most: int, values: bool) -> T:
    check_json(body, documents=most, values=values)
    return decoded(msgspec.json.Decoder(kind), body)


def request_id(given: str) -> str:
    """The id of a request: the one given, if it can stand in files and headers, or a new one (UUIDv7)."""
    if _ID.fullmatch(given):
        return given
    stamp, noise = time.time_ns() // 1_000_000, secrets.randbits(74)
    return str(uuid.UUID(int=stamp << 80 | 7 << 76 | (noise >> 62) << 64 | 2 << 62 | noise & (1 << 62) - 1))


def _too_long(most: int) -> ServiceError:
    return ServiceError(413, f"the body is longer than {most} bytes. Send less.", headers={"Connection": "close"})
