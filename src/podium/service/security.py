"""Security: who may do what, how often, and the headers of every answer.

A file of keys has a line for each: `name role sha256`, the hash of the key in hexadecimal. Roles, each with the rights
of those before it: rank, feedback, judge, admin.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from podium.base.errors import DataError
from podium.base.files import reading
from podium.service.problems import ServiceError

ROLES = ("rank", "feedback", "judge", "admin")
_CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "content-security-policy": _CSP,
    "cache-control": "no-store",
}
"""On every answer."""
_LOCAL = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d+)?", re.IGNORECASE)


@dataclass(frozen=True)
class Key:
    """Someone who may call the service."""

    name: str
    role: str
    sha256: str

    def may(self, role: str) -> bool:
        return ROLES.index(self.role) >= ROLES.index(role)


ANYONE = Key("anyone", "admin", "")
"""Whoever calls from this machine, where there is no file of keys."""


class Keys:
    """The keys of a file."""

    def __init__(self, path: str = "") -> None:
        self.found = read_keys(path) if path else ()
        self.open = not path

    def caller(self, headers: Mapping[str, str], role: str) -> Key:
        """Who calls; raises 401 where that is not known, and 403 where they may not."""
        if self.open:
            return ANYONE
        scheme, _, told = headers.get("authorization", "").partition(" ")
        given = told.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "")
        if not given:
            raise ServiceError(
                401, "a key is needed: Authorization: Bearer KEY, or X-API-Key.", headers={"WWW-Authenticate": "Bearer"}
            )
        digest = hashlib.sha256(given.encode("utf-8", "surrogateescape")).hexdigest()
        known = None
        for key in self.found:  # all of them, so that the time tells nothing
            if hmac.compare_digest(key.sha256, digest):
                known = key
        if known is None:
            raise ServiceError(401, "this key is not known here.", headers={"WWW-Authenticate": "Bearer"})
        if not known.may(role):
            raise ServiceError(403, f"this needs a key of role {role}; {known.name} has role {known.role}.")
        return known


def read_keys(path: str) -> tuple[Key, ...]:
    """The keys of a file."""
    found: list[Key] = []
    with reading(path) as file:
        for number, line in enumerate(file, 1):
            words = line.decode("utf-8", "replace").partition("#")[0].split()
            if not words:
                continue
            where = f"{path}:{number}"
            if len(words) != 3 or words[1] not in ROLES or not re.fullmatch(r"[0-9a-f]{64}", words[2].lower()):
                raise DataError(f"expected: name role sha256, with role one of {', '.join(ROLES)}.", where=where)
            if words[0] in [key.name for key in found]:
                raise DataError(f"the name {words[0]!r} is there twice.", where=where)
            found.append(Key(words[0], words[1], words[2].lower()))
    if not found:
        raise DataError("no key in this file, so nobody could call the service.", where=path)
    return tuple(found)


class Rates:
    """A token bucket for each key."""

    def __init__(self, rate: float, burst: int) -> None:
        self.rate, self.burst = rate, float(burst)
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, name: str) -> dict[str, str]:
        """Count a request. Returns the headers that tell what is left; raises 429 where nothing is."""
        if self.rate <= 0:
            return {}
        now = time.monotonic()
        left, since = self._buckets.get(name, (self.burst, now))
        left = min(self.burst, left + (now - since) * self.rate)
        wait = math.ceil((1.0 - left) / self.rate) if left < 1.0 else 0
        self._buckets[name] = (left if wait else left - 1.0, now)
        about = {
            "RateLimit-Limit": f"{self.burst:.0f}",
            "RateLimit-Remaining": f"{max(0.0, left - 1.0):.0f}",
            "RateLimit-Reset": str(max(1, math.ceil((self.burst - left) / self.rate))),
        }
        if wait:
            raise ServiceError(
                429, f"more than {self.rate:g} requests per second. Wait {wait} s.",
                headers={**about, "Retry-After": str(wait)},
            )  # fmt: skip
        return about


def sends_key(headers: Mapping[str, str]) -> bool:
    """Whether a request has a header that a browser sends only for a page of the service itself, or one it allows."""
    return "authorization" in headers or "x-api-key" in headers


def check_origin(headers: Mapping[str, str], allowed: Sequence[str]) -> None:
    """Raise 403 where a browser says that a page of another origin made it send a request."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if (origin is None and site is None) or origin in allowed or site in ("same-origin", "none"):
        return
    own = (f"http://{headers.get('host', '')}", f"https://{headers.get('host', '')}")
    if site is not None or (origin is not None and origin.lower() not in map(str.lower, own)):
        raise ServiceError(
            403, f"a page of {(origin or 'another site')[:100]} may not change anything here. List it in `origins`, "
            "or send a key.",
        )  # fmt: skip


def check_host(host: str) -> None:
    """Raise 421 for a name of another machine: pages of strangers may point their name to this one."""
    if not _LOCAL.fullmatch(host):
        raise ServiceError(421, f"{host[:100]!r} is not this machine. Without keys, call 127.0.0.1 or localhost.")
