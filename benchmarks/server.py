"""A service as a process of its own, and load on it: what it does per second, how late it answers, what it costs."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass
class Server:
    """A running `podium serve`."""

    process: subprocess.Popen[bytes]
    port: int

    def call(self, method: str, path: str, body: Any = None, *, kind: str = "application/json") -> tuple[int, Any]:
        """One request: its status and its answer."""
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            line.request(method, path, content, {"Content-Type": kind} if content is not None else {})
            answer = line.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            line.close()

    def pids(self) -> list[int]:
        """The process and its workers."""
        mine = self.process.pid
        children = Path(f"/proc/{mine}/task/{mine}/children").read_text().split()
        return [mine, *map(int, children)]

    def cpu(self) -> float:
        """CPU seconds so far, of all workers."""
        ticks = 0
        for pid in self.pids():
            parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(parts[11]) + int(parts[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def memory(self) -> float:
        """Megabytes in memory, of all workers."""
        pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in self.pids())
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@contextmanager
def serving(*words: str, seconds: float = 120) -> Iterator[Server]:
    """A service on a free port of this machine, ready when the block begins, gone when it ends."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "podium", "serve", *words, "--port", str(port)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    server = Server(process, port)
    try:
        until = time.monotonic() + seconds
        while time.monotonic() < until and process.poll() is None:
            try:
                if server.call("GET", "/health/ready")[0] == 200:
                    break
            except OSError:
                time.sleep(0.2)
        else:
            raise RuntimeError(f"the service did not start: {' '.join(command)}")
        yield server
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wrk(server: Server, body: bytes, *, path: str, kind: str, seconds: int, connections: int = 16) -> dict[str, float]:
    """As many requests as it can answer: per second, latency in ms, CPU seconds of the service per request."""
    if shutil.which("wrk") is None:
        raise RuntimeError("wrk is not installed (Debian: apt-get install wrk).")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "body").write_bytes(body)
        (Path(folder) / "load.lua").write_text(
            f'local f = io.open("{folder}/body", "rb")\nwrk.body = f:read("*a")\nf:close()\nwrk.method = "POST"\n'
            f'wrk.headers["Content-Type"] = "{kind}"\n'
        )
        before = server.cpu()
        words = [
            "wrk",
            "-t1",
            f"-c{connections}",
            f"-d{seconds}s",
            "--latency",
            "--timeout",
            "30s",
            "-s",
            f"{folder}/load.lua",
        ]
        done = subprocess.run(
            [*words, f"http://127.0.0.1:{server.port}{path}"], capture_output=True, text=True, check=True
        )
        spent = server.cpu() - before
    text = done.stdout
    if "Non-2xx" in text or "Socket errors" in text:
        raise RuntimeError(text)
    requests = int(re.search(r"(\d+) requests in", text)[1])  # type: ignore[index]
    found = {f"p{p}": _ms(re.search(rf"^ +{p}% +(\S+)", text, re.MULTILINE)[1]) for p in (50, 99)}  # type: ignore[index]
    rate = float(re.search(r"Requests/sec:\s+(\S+)", text)[1])  # type: ignore[index]
    return {"rate": rate, "cpu": spent / requests, "wall": 1.0 / rate, **found}


def _ms(text: str) -> float:
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s)", text).groups()  # type: ignore[union-attr]
    return float(number) * {"us": 1e-3, "ms": 1.0, "s": 1e3}[unit]


def paced(server: Server, body: bytes, *, path: str, kind: str, rate: float, seconds: float) -> dict[str, float]:
    """Requests at a fixed rate, each sent when it is due: latency in ms from when it was due.

    `pacer` is how late, at the 99th percentile, requests were sent: the part of that which is not the service's, unless
    it is so late that a connection still waits for the answer before.
    """
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()
    message = head + body
    late: list[float] = []
    sent: list[float] = []
    connections = 16

    async def one(number: int, start: float) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        due = start + number / rate
        while due < start + seconds:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            sent.append(time.perf_counter() - due)
            writer.write(message)
            answer = await reader.readuntil(b"\r\n\r\n")
            assert answer.startswith(b"HTTP/1.1 200"), answer
            await reader.readexactly(int(re.search(rb"content-length: (\d+)", answer)[1]))  # type: ignore[index]
            late.append(time.perf_counter() - due)
            due += connections / rate
        writer.close()

    async def everyone() -> None:
        start = time.perf_counter() + 0.1
        await asyncio.gather(*(one(number, start) for number in range(connections)))

    asyncio.run(everyone())
    p50, p99 = np.quantile(late, [0.5, 0.99])
    pacer = 1e3 * float(np.quantile(sent, 0.99))
    return {"p50": 1e3 * float(p50), "p99": 1e3 * float(p99), "pacer": pacer, "requests": len(late)}
