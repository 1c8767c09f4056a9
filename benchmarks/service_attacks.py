"""One client of the service attacks it while another ranks: how long the other waits, beside how long it does in peace.

python -m benchmarks.service_attacks [SECONDS]      each attack for so long, 5 s if not told

Both have keys of role rank. The attacker is a process of its own with eight connections that send the same request
again and again, without waiting in between; the other ranks 100 documents 50 times a second.
"""

from __future__ import annotations

import hashlib
import http.client
import io
import json
import multiprocessing
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import podium
from benchmarks.made_up import graded
from benchmarks.server import Server, serving
from benchmarks.service import FEATURES

JSON, NPY, ARROW = "application/json", "application/x-npy", "application/vnd.apache.arrow.stream"
Attack = tuple[str, str, bytes]
"""Address, type of the content, body."""
CONNECTIONS = 8
RATE = 50.0


def attacks() -> dict[str, Attack]:
    """Requests that cost much, or were meant to."""
    rng = np.random.default_rng(0)
    X = rng.random((10_000, FEATURES)).astype(np.float32)
    rows = [[round(float(v), 4) for v in row] for row in X]
    named = {str(l + 1): 0.5 for l in range(FEATURES)}
    infer = {"name": "features", "datatype": "FP32"}
    many = [{"features": row} for row in rows]
    return {
        "KServe, 200,000 dimensions": _infer([{**infer, "shape": [2**31] * 200_000, "data": [1.0]}]),
        "KServe, 10,000 documents": _infer([{**infer, "shape": [10_000, FEATURES], "data": rows}]),
        "batch of 150,000 empty queries": _rank({"queries": [{"documents": []}] * 150_000}),
        "batch of 1,000 queries": _rank({"queries": [{"documents": many[:1]}] * 1000}),
        "odds of 10,000 documents": _rank({"documents": many, "odds": True}),
        "features by name": _rank({"documents": [{"features": named}] * 8000}),
        "one list of 2 million numbers": _rank({"documents": [{"features": [0] * 2_000_000}]}),
        "100,000 names of features": _rank({"documents": [], "features": ["1"] * 1_000_000}),
        "explained, trees": _rank({"documents": many[:20], "explain": True, "model": "trees"}),
        "why A above B, 10,000 documents": (
            "/v1/explain", JSON, json.dumps({"documents": many, "pair": ["0", "1"], "model": "trees"}).encode()
        ),
        "rerank, 10,000 texts": (
            "/rerank", JSON, json.dumps({"query": "q", "documents": [json.dumps(one) for one in many]}).encode()
        ),
        ".npy, 10,000 documents": ("/v1/rank", NPY, _npy(X)),
        "Arrow, compressed": ("/v1/rank", ARROW, _arrow({"1": np.zeros(50_000_000)}, compression="zstd")),
        "Arrow, 10,000 queries": (
            "/v1/rank", ARROW, _arrow({**{str(l + 1): X[:, l] for l in range(FEATURES)}, "qid": np.arange(10_000)})
        ),
        "bodies that do not come": ("/v1/rank", JSON, b""),
    }  # fmt: skip


def _rank(body: Any) -> Attack:
    return "/v1/rank", JSON, json.dumps(body).encode()


def _infer(inputs: list[Any]) -> Attack:
    return "/v2/models/linear/infer", JSON, json.dumps({"inputs": inputs}).encode()


def _npy(X: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, X)
    return file.getvalue()


def _arrow(columns: dict[str, np.ndarray], compression: str | None = None) -> bytes:
    import pyarrow as pa

    table, file = pa.table(columns), io.BytesIO()
    with pa.ipc.new_stream(file, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as stream:
        stream.write_table(table)
    return file.getvalue()


def attack(port: int, one: Attack, seconds: float, told: Any) -> None:
    """Send a request again and again; tells the number of answers by status."""
    path, kind, body = one
    until, seen = time.monotonic() + seconds, Counter[str]()
    headers = {"Content-Type": kind, "Authorization": "Bearer attacker"}

    def loop() -> None:
        while time.monotonic() < until:
            line = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            try:
                line.request("POST", path, body, headers)
                answer = line.getresponse()
                answer.read()
                seen[str(answer.status)] += 1
            except (OSError, http.client.HTTPException) as error:
                seen[type(error).__name__] += 1
            finally:
                line.close()

    def stall() -> None:
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer attacker\r\nContent-Type: {kind}\r\n"
        while time.monotonic() < until:
            with socket.create_connection(("127.0.0.1", port)) as line:
                line.sendall(f"{head}Content-Length: 1000\r\n\r\n".encode() + b"{")
                line.settimeout(max(0.1, until - time.monotonic()))
                try:
                    seen[line.recv(12)[-3:].decode() or "closed"] += 1
                except TimeoutError:
                    seen["held open"] += 1

    threads = [threading.Thread(target=loop if body else stall) for _ in range(CONNECTIONS if body else 100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told.put(dict(seen))


@contextmanager
def attacked(server: Server, one: Attack, seconds: float) -> Iterator[dict[str, int]]:
    """An attack that goes on while the block runs; what was answered to it is told when it ends."""
    context = multiprocessing.get_context("spawn")
    told, seen = context.Queue(), dict[str, int]()
    process = context.Process(target=attack, args=(server.port, one, seconds, told))
    process.start()
    time.sleep(1.0)  # it begins to send
    yield seen
    seen |= told.get(timeout=60)
    process.join()


def waits(server: Server, seconds: float) -> tuple[np.ndarray, Counter[int]]:
    """Milliseconds that each ranking takes, from when it is due, and how many were answered how."""
    rows = np.random.default_rng(1).random((100, FEATURES)).round(4).tolist()
    body = json.dumps({"documents": [{"features": row} for row in rows]}).encode()
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    took, seen = [], Counter[int]()
    due, end = time.perf_counter(), time.perf_counter() + seconds
    while due < end:
        time.sleep(max(0.0, due - time.perf_counter()))
        line.request("POST", "/v1/rank", body, {"Content-Type": JSON, "Authorization": "Bearer other"})
        answer = line.getresponse()
        answer.read()
        seen[answer.status] += 1
        now = time.perf_counter()
        took.append(1e3 * (now - due))
        due = max(due + 1.0 / RATE, now)  # one late answer is counted once
    line.close()
    return np.array(took), seen


def main(seconds: float) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = graded(30, 50, FEATURES, seed=1)
        for model, method in {"linear": "listnet(iterations=3)", "trees": "lambdamart(rounds=300)"}.items():
            podium.train(data, method, valid=graded(10, 50, FEATURES, seed=3)).save(folder / f"{model}.podium")
        lines = [f"{name} rank {hashlib.sha256(name.encode()).hexdigest()}\n" for name in ("attacker", "other")]
        (folder / "keys").write_text("".join(lines))
        files = [str(folder / f"{model}.podium") for model in ("linear", "trees")]
        print(f"{'attack':34} {'p50':>7} {'p99':>7} {'largest':>8} {'MB':>6}  ms of the other; answers to the attacker")
        with serving(*files, "--keys", str(folder / "keys"), "--store", str(folder / "feedback.db")) as server:
            waits(server, 2.0)
            for name, one in {"none": None, **attacks(), "none, at the end": None}.items():
                if one is None:
                    (took, seen), told = waits(server, seconds), {}
                else:
                    with attacked(server, one, seconds + 2.0) as told:
                        took, seen = waits(server, seconds)
                p50, p99 = np.quantile(took, [0.5, 0.99])
                fine = "" if set(seen) == {200} else f"; the other's answers {dict(seen)}"
                print(
                    f"{name:34} {p50:7.1f} {p99:7.1f} {took.max():8.1f} {server.memory():6.0f}  {told}{fine}",
                    flush=True,
                )
                if one is not None:
                    time.sleep(1.0)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 5.0)
