"""Mutated requests to every address of the service: none is a fault of it, none takes long, and it lives on.

python tests/fuzz/service_mutations.py 60000 [SEED]
"""

from __future__ import annotations

import asyncio
import io
import json
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from urllib.parse import quote

import numpy as np

import asgi
import podium
from podium.service.app import ENDPOINTS, build
from podium.service.settings import Settings

SLOW = 2.0
"""Seconds that a request may take where all is compiled."""
JSON, NPY, ARROW, BYTES = (
    "application/json", "application/x-npy", "application/vnd.apache.arrow.stream", "application/octet-stream"
)  # fmt: skip
NASTY = [
    None, True, -1, 0, 1, 2**31, 2**63, 2**64, -(2**63), 10**30, 1e308, -1e308, 1e-320, 0.1, "", " ", "a b", "\0", "\n",
    "\u202e", "x" * 300, "x" * 5000, "9" * 5000, "1e999", "NaN", "../../etc/passwd", "%2e%2e", "<script>", "';--",
    "default", "web@1", "web@" + "9" * 400, "bm25(k1=1e308)", "title^nan", "ndcg@" + "9" * 400, "ndcg@0", "map", [], {},
    [[]], [None], [1] * 50, [[1, 2], [3]], {"a": {"a": {"a": {}}}}, "é" * 200, "\ud800", "\U0001f600",
]  # fmt: skip
_DIGITS = [b"9" * 400, b"9" * 5000, b"1e400", b"-0", b"1e-400", b"0" * 100 + b"1", b"NaN", b"Infinity", b"-", b"1."]


def seeds(model: bytes) -> list[tuple[str, str, str, bytes]]:
    """(method, address, type of the content, body): requests that are right."""
    documents = [{"id": f"D{k}", "features": [0.5 * k, 1.0, None, 2.5e-3]} for k in range(4)]
    named = [{"id": 7, "features": {"1": 1.5, "4": None}}, {"features": [1, 2, 3, 4]}]
    rank = {"query": "q1", "user": "u", "k": 3, "odds": True, "model": "default", "documents": documents}
    infer = [{"name": "f", "shape": [2, 4], "datatype": "FP32", "data": [1, 2, 3, 4, 5, 6, 7, 8.5]}]
    qid = {"name": "qid", "shape": [2], "datatype": "INT64", "data": [1, 2]}
    events = [
        {"kind": "click", "request": "r", "id": "D1", "event": "e", "time": 5},
        {"kind": "judgment", "query": "q", "id": "D", "value": 2, "who": "ann"},
        {"kind": "dwell", "request": "r", "id": "D1", "value": 3.5},
    ]
    given = [{"query": "q", "id": "D1", "grade": 2, "who": "bob"}, {"query": "q", "id": "D2", "grade": None}]
    texts = [json.dumps(one) for one in documents]
    bodies = [
        ("POST", "/v1/rank", rank), ("POST", "/v1/rank", {"documents": named, "features": ["4", "3", "2", "1"]}),
        ("POST", "/v1/rank", {"queries": [rank, {"documents": named}]}),
        ("POST", "/v1/rank", {"documents": documents, "explain": True, "log": False}),
        ("POST", "/v1/explain", {"documents": documents, "pair": ["D1", "D2"], "query": "q", "model": "web"}),
        ("POST", "/v1/search", {"query": "heat transfer", "k": 3, "by": "bm25(k1=0.9,b=0.4)", "user": "u"}),
        ("POST", "/v1/search", {"query": "heat", "by": "bm25(fields=[title^2,text])", "explain": False}),
        ("POST", "/v1/feedback", {"events": events}), ("POST", "/v1/judgments", {"judgments": given}),
        ("POST", "/v1/experiments", {"name": "e", "kind": "split", "candidate": "other", "min_pages": 5}),
        ("POST", "/v1/experiments/e/end", {}), ("DELETE", "/v1/users/u", {}), ("DELETE", "/v1/models/new", {}),
        ("PUT", "/v1/aliases/x", {"model": "web@1"}),
        ("POST", "/rerank", {"query": "q", "documents": documents, "top_n": 2, "return_documents": True}),
        ("POST", "/v2/rerank", {"query": "q", "texts": texts, "raw_scores": True, "return_text": True}),
        ("POST", "/v2/models/web/infer", {"inputs": [*infer, qid], "id": "i"}),
        ("POST", "/v2/models/web/versions/1/infer", {"inputs": infer}),
    ]  # fmt: skip
    found = [(method, path, JSON, json.dumps(body).encode()) for method, path, body in bodies]
    found += [("POST", "/v1/rank?k=2&odds=true&query=q", NPY, npy()), ("POST", "/v1/rank?explain=1", ARROW, arrow())]
    found.append(("PUT", "/v1/models/new?version=3", BYTES, model))
    for endpoint in ENDPOINTS:
        if endpoint.method == "GET":
            path = endpoint.path
            for name, value in (("{query:path}", "1"), ("{name}", "e"), ("{model}", "web"), ("{version}", "1")):
                path = path.replace(name, value)
            asked = "&".join(f"{name}={_LIKELY[name]}" for name in endpoint.parameters)
            found.append(("GET", path.replace("{file}", "page.js") + (f"?{asked}" if asked else ""), "", b""))
    return found


_LIKELY = {
    "search": "1",
    "query": "q",
    "model": "web@1",
    "metric": "ndcg@10",
    "grades": "judges",
    "from": "1",
    "k": "2",
}


def npy() -> bytes:
    file = io.BytesIO()
    np.save(file, np.ones((3, 4), np.float32))
    return file.getvalue()


def arrow() -> bytes:
    import pyarrow as pa

    columns = {"1": [1.0, 2.0], "3": [0.5, None], "id": ["a", "b"], "qid": [1, 2]}
    table, file = pa.table(columns), io.BytesIO()
    with pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)
    return file.getvalue()


def mutated(one: tuple[str, str, str, bytes], rng: random.Random) -> tuple[str, str, str | None, bytes, dict[str, str]]:
    """A request like another, but for something."""
    method, path, kind, body = one
    headers: dict[str, str] = {}
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        what = rng.randrange(8)
        if what <= 2 and kind == JSON:
            body = _other_value(body, rng)
        elif what <= 5 and body:
            body = _other_bytes(body, rng)
        elif what == 6:
            path = _other_path(path, rng)
        else:
            name = rng.choice(["if-match", "x-request-id", "content-length", "content-type", "origin", "accept"])
            value = rng.choice(NASTY)
            headers[name] = str(value).encode("latin1", "replace").decode("latin1").replace("\n", " ")[:6000]
        if rng.random() < 0.02:
            method = rng.choice(["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"])
        if rng.random() < 0.03:
            kind = rng.choice([JSON, NPY, ARROW, BYTES, "text/plain", ""])
    return method, path, kind or None, body, headers


def _other_value(body: bytes, rng: random.Random) -> bytes:
    """JSON with a value replaced, a key renamed, a part repeated or left out."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return body
    places = []

    def walk(part, path):
        places.append(path)
        items = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
        for key, inner in items:
            walk(inner, (*path, key))

    walk(value, ())
    path = rng.choice(places)
    if not path:
        return json.dumps(rng.choice(NASTY)).encode()
    part = value
    for key in path[:-1]:
        part = part[key]
    what, key = rng.randrange(5), path[-1]
    if what == 0:
        del part[key]
    elif what == 1 and isinstance(part, dict):
        part[str(rng.choice(NASTY))] = part.pop(key)
    elif what == 2 and isinstance(part, list):
        part.extend([part[key]] * rng.choice((1, 10, 1000)))
    else:
        part[key] = rng.choice(NASTY)
    text = json.dumps(value).encode()
    return text.replace(b"1", rng.choice(_DIGITS), 1) if rng.random() < 0.1 else text


def _other_bytes(body: bytes, rng: random.Random) -> bytes:
    data = bytearray(body)
    what = rng.randrange(5)
    if what == 0:
        return bytes(data[: rng.randrange(len(data) + 1)])
    if what == 1:
        place = rng.randrange(len(data) + 1)
        piece = rng.choice([b"[" * 2000, b"{", b"]", b'"', b"\\u0000", b"\xff\xfe", b"," * 100, *_DIGITS])
        return bytes(data[:place] + piece + data[place:])
    if what == 2:
        start, end = sorted(rng.randrange(len(data) + 1) for _ in range(2))
        return bytes(data[:start] + data[start:end] * rng.choice((0, 2, 20)) + data[end:])
    for _ in range(rng.choice((1, 2, 8))):
        if data:
            data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data)


def _other_path(path: str, rng: random.Random) -> str:
    word = quote(str(rng.choice(NASTY))[:3000], safe="/.%" if rng.random() < 0.5 else "", errors="replace")
    what = rng.randrange(3)
    if what == 0:
        return f"{path}{'&' if '?' in path else '?'}{rng.choice([*_LIKELY, 'k', 'version', 'odds', 'x'])}={word}"
    if what == 1 and "=" in path:
        start, _, _ = path.rpartition("=")
        return f"{start}={word}"
    where, mark, asked = path.partition("?")
    parts = where.split("/")
    parts[rng.randrange(1, len(parts))] = word
    return "/".join(parts) + mark + asked


def run(folder: Path, times: int, seed: int = 0, *, slow: float = SLOW) -> Counter[str]:
    """Send so many requests. Returns how many were answered how; raises where one is a fault, or slow."""
    app, rng = _service(folder), random.Random(seed)
    client, state = asgi.Client(app), app.state.podium
    requests = seeds((folder / "other.podium").read_bytes())
    seen: Counter[str] = Counter()

    async def send() -> None:
        for method, path, kind, body in requests:  # what they need is compiled
            await client.call(method, path, body, content_type=kind or None)
        for number in range(times):
            method, path, kind, body, headers = mutated(rng.choice(requests), rng)
            start = time.monotonic()
            told = {"content_type": kind, **{name.replace("-", "_"): value for name, value in headers.items()}}
            reply = await client.call(method, path, body, **told)
            seconds = time.monotonic() - start
            seen[str(reply.status)] += 1
            about = f"request {number} of seed {seed}: {method} {path[:200]} {kind} {headers} {body[:300]!r}"
            assert reply.status != 500, f"{about} → {reply.content!r}"
            assert seconds < slow, f"{about} → {seconds:.1f} s"
            if reply.status >= 400 and method != "HEAD":
                assert reply.json["detail"], about
                assert str(folder) not in reply.content.decode(), about

    try:
        asyncio.run(send())
        assert client("POST", "/v1/rank", {"documents": [{"features": [1, 2, 3, 4]}]}).status == 200
        assert state._watcher.is_alive() and state.feedback._thread.is_alive()  # noqa: PT018
    finally:
        state.close()
    return seen


def _service(folder: Path):
    data, _ = podium.make_letor_like(20, (5, 9), n_features=4, seed=1)
    podium.train(data, "listnet(iterations=3)").save(folder / "web.podium")
    podium.train(data, "regression").save(folder / "other.podium")
    podium.write_letor(data, folder / "test.txt")
    texts = [("a", "heat", "heat transfer"), ("b", "slabs", "flow of heat in slabs")]
    documents = [{"id": id, "title": title, "text": text} for id, title, text in texts]
    podium.Index.create(folder / "my.index", documents).close()
    files = (str(folder / "web.podium"), str(folder / "other.podium"))
    return build(
        Settings(
            models=files, shelf=str(folder / "shelf"), store=str(folder / "feedback.db"),
            index=str(folder / "my.index"), data=str(folder / "test.txt"), aliases=("default=web",),
        )
    )  # fmt: skip


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        print(run(Path(name), int(sys.argv[1]), int((sys.argv[2:] or ["0"])[0])))
