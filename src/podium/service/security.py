"""Security: API keys and their roles, allowed hosts and origins, security headers. Rate limits are in `rate_limit.py`.

A key file has a line for each key: `name role sha256`, the hash of the key in hexadecimal. Roles, each with the rights
of those before it: rank, feedback, judge, admin.
"""

from __future__ import annotations

import hashlib
import hmac
import re
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
"""Headers of every answer."""
_LOCAL = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d+)?", re.IGNORECASE)


@dataclass(frozen=True)
class Key:
    """An API key: the name and the role of a caller."""

    name: str
    role: str
    sha256: str

    def may(self, role: str) -> bool:
        return ROLES.index(self.role) >= ROLES.index(role)


ANYONE = Key("anyone", "admin", "")
"""The caller if there is no key file: any process of this machine."""


class Keys:
    """API keys of a key file; without a file, the service is open to this machine."""

    def __init__(self, path: str = "") -> None:
        self._keys = read_keys(path) if path else ()
        self.open = not path

    def caller(self, headers: Mapping[str, str], role: str) -> Key:
        """Key of the caller; raises 401 if it is missing or unknown, and 403 if its role is too low."""
        if self.open:
            return ANYONE
        scheme, _, token = headers.get("authorization", "").partition(" ")
        secret = token.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "")
        if not secret:
            raise ServiceError(
                401, "a key is needed: Authorization: Bearer KEY, or X-API-Key.", headers={"WWW-Authenticate": "Bearer"}
            )
        digest = hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()
        caller = None
        for key in self._keys:  # all of them, so that the time tells nothing
            if hmac.compare_digest(key.sha256, digest):
                caller = key
        if caller is None:
            raise ServiceError(401, "this key is not known here.", headers={"WWW-Authenticate": "Bearer"})
        if not caller.may(role):
            raise ServiceError(403, f"this needs a key of role {role}; {caller.name} has role {caller.role}.")
        return caller


def read_keys(path: str) -> tuple[Key, ...]:
    """Read a key file."""
    keys: list[Key] = []
    with reading(path) as file:
        for number, line in enumerate(file, 1):
            words = line.decode("utf-8", "replace").partition("#")[0].split()
            if not words:
                continue
            where = f"{path}:{number}"
            if len(words) != 3 or words[1] not in ROLES or not re.fullmatch(r"[0-9a-f]{64}", words[2].lower()):
                raise DataError(f"expected: name role sha256, with role one of {', '.join(ROLES)}.", where=where)
            if words[0] in [key.name for key in keys]:
                raise DataError(f"the name {words[0]!r} is there twice.", where=where)
            keys.append(Key(words[0], words[1], words[2].lower()))
    if not keys:
        raise DataError("no key in this file, so nobody could call the service.", where=path)
    return tuple(keys)


def sends_key(headers: Mapping[str, str]) -> bool:
    """Whether a request has a key header: a browser sends it only for the service's own pages and allowed origins."""
    return "authorization" in headers or "x-api-key" in headers


def check_origin(headers: Mapping[str, str], allowed: Sequence[str]) -> None:
    """Raise 403 if a browser says that a page of another origin sent the request (CSRF)."""
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
    """Raise 421 if the Host header names another machine (DNS rebinding)."""
    if not _LOCAL.fullmatch(host):
        raise ServiceError(421, f"{host[:100]!r} is not this machine. Without keys, call 127.0.0.1 or localhost.")
