"""A client of an ASGI application in the same process: one call, one answer."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from urllib.parse import unquote


@dataclass(frozen=True)
class Reply:
    """What an application answered."""

    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def json(self):
        return json.loads(self.content)


class Client:
    """Calls an application as a web server does."""

    def __init__(self, app, **headers):
        self.app, self.headers = app, {"host": "127.0.0.1", **headers}

    def __call__(self, method, path, body=None, **headers):
        return asyncio.run(self.call(method, path, body, **headers))

    async def call(self, method, path, body=None, chunks=None, **headers):
        """`body` is bytes, or a value for JSON; `chunks` gives the body piece by piece, None where no more comes.

        A header that is None is not sent.
        """
        told = {**self.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            told.setdefault("content-type", "application/json")
        if method != "GET":
            told.setdefault("content-type", "application/json" if body is None else "application/octet-stream")
        told = {name: value for name, value in told.items() if value is not None}
        parts = list(chunks) if chunks is not None else [body or b""]
        if chunks is None:
            told.setdefault("content-length", str(len(parts[0])))
        where, _, query = path.partition("?")
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
            "path": unquote(where), "raw_path": where.encode(), "query_string": query.encode(), "root_path": "",
            "headers": [(k.lower().encode(), v.encode("latin1")) for k, v in told.items()],
            "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8080),
        }  # fmt: skip
        sent = []

        async def receive():
            if not parts or parts[0] is None:
                await asyncio.sleep(3600)  # as a server that waits for the client to go
            part = parts.pop(0)
            return {"type": "http.request", "body": part, "more_body": bool(parts)}

        async def send(message):
            sent.append(message)

        await self.app(scope, receive, send)
        names = {k.decode().lower(): v.decode() for k, v in sent[0]["headers"]}
        return Reply(sent[0]["status"], names, b"".join(m.get("body", b"") for m in sent[1:]))
