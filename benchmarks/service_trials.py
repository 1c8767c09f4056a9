"""Trials of the service that take minutes, with what came of them.

python -m benchmarks.service_trials swap      2 × 5,000 rankings while aliases flip every 50 ms, 1 and 2 workers
python -m benchmarks.service_trials kill      killed 20 times while events are acknowledged
python -m benchmarks.service_trials put       killed 5 times while a model is being put, and started again
python -m benchmarks.service_trials full      events and rankings when the disk is full (needs root, for a tmpfs)
python -m benchmarks.service_trials memory    ten minutes of load with a store
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np

import podium
from benchmarks.made_up import graded
from benchmarks.server import Server, serving, wrk
from benchmarks.service import FEATURES, bodies

JSON = {"Content-Type": "application/json"}


def made(folder: Path) -> tuple[list[str], np.ndarray]:
    """Two models, and the documents of a request."""
    data = graded(30, 50, FEATURES, seed=1)
    methods = {"linear": "listnet(iterations=3)", "trees": "lambdamart(rounds=50)"}
    for name, method in methods.items():
        podium.train(data, method).save(folder / f"{name}.podium")
    return [str(folder / f"{name}.podium") for name in methods], graded(1, 100, FEATURES, seed=2).features


def swap(folder: Path) -> str:
    (folder / "one").mkdir()
    (folder / "two").mkdir()
    return "\n".join([flipping(folder / "one", workers=1), flipping(folder / "two", workers=2)])


def flipping(folder: Path, *, requests: int = 5000, clients: int = 2, workers: int) -> str:
    files, X = made(folder)
    rows = [[float(v) for v in row] for row in X]
    body = json.dumps({"documents": [{"features": row} for row in rows]}).encode()
    expected = {f"{Path(file).stem}@1": podium.load(file).score(np.array(rows, np.float32)).tolist() for file in files}
    seen: Counter[str] = Counter()
    wrong: list[str] = []
    stop, flips = threading.Event(), []

    def flip(server: Server) -> None:
        while not stop.wait(0.05):
            status, answer = server.call("PUT", "/v1/aliases/default", {"model": list(expected)[len(flips) % 2]})
            flips.append(status)
            if status != 200:
                wrong.append(str(answer))

    def rank(server: Server) -> None:
        line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        for _ in range(requests):
            line.request("POST", "/v1/rank", body, JSON)
            got = line.getresponse()
            answer = json.loads(got.read())
            if got.status != 200:
                wrong.append(str(answer))
                continue
            scores = {one["index"]: one["score"] for one in answer["results"]}
            if [scores[k] for k in range(len(rows))] != expected[answer["model"]]:
                wrong.append(f"scores of {answer['model']} are another model's")
            seen[answer["model"]] += 1
        line.close()

    with serving(*files, "--shelf", str(folder / "shelf"), "--workers", str(workers)) as server:
        turning = threading.Thread(target=flip, args=(server,))
        ranking = [threading.Thread(target=rank, args=(server,)) for _ in range(clients)]
        start = time.monotonic()
        for thread in (turning, *ranking):
            thread.start()
        for thread in ranking:
            thread.join()
        seconds = time.monotonic() - start
        stop.set()
        turning.join()
    return (
        f"{sum(seen.values())} rankings by {clients} clients, {workers} worker(s), in {seconds:.0f} s while the alias "
        f"moved {len(flips)} times: {dict(seen)}; {len(wrong)} errors{': ' + wrong[0] if wrong else ''}"
    )


def kill(folder: Path, *, times: int = 20) -> str:
    files, _ = made(folder)
    store = folder / "feedback.db"
    acknowledged: list[str] = []

    def send(server: Server, turn: int, client: int) -> None:
        line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        for k in range(100_000):
            names = [f"{turn}-{client}-{k}-{j}" for j in range(3)]
            events = [{"kind": "click", "request": "r", "id": name} for name in names]
            try:
                line.request(
                    "POST", "/v1/feedback", json.dumps({"events": events}), {"Content-Type": "application/json"}
                )
                answer = line.getresponse()
                answer.read()
            except (OSError, http.client.HTTPException):
                return  # killed
            if answer.status == 202:
                acknowledged.extend(names)

    for turn in range(times):
        with serving(files[0], "--store", str(store)) as server:
            clients = [threading.Thread(target=send, args=(server, turn, client)) for client in range(8)]
            for client in clients:
                client.start()
            time.sleep(0.5 + 0.05 * turn)
            os.kill(server.process.pid, signal.SIGKILL)
            server.process.wait()
            for client in clients:
                client.join()
    base = sqlite3.connect(store)
    found = [name for (name,) in base.execute("SELECT document FROM event")]
    intact = base.execute("PRAGMA integrity_check").fetchone()[0]
    base.close()
    lost = set(acknowledged) - set(found)
    return (
        f"killed {times} times: {len(acknowledged)} events acknowledged, {len(found)} in the store, {len(lost)} lost, "
        f"{len(found) - len(set(found))} twice; integrity_check {intact}"
    )


def put(folder: Path, *, times: int = 5) -> str:
    files, _ = made(folder)
    shelf, left = folder / "shelf", []
    for _ in range(times):
        with serving(files[0], "--shelf", str(shelf)) as server:
            left.append(len(list(shelf.rglob(".put-*"))))  # when it has started
            line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
            line.putrequest("PUT", "/v1/models/linear")
            line.putheader("Content-Type", "application/octet-stream")
            line.putheader("Content-Length", "100000000")
            line.endheaders(bytes(20_000_000))
            time.sleep(0.5)
            left.append(len(list(shelf.rglob(".put-*"))))  # when it is killed
            os.kill(server.process.pid, signal.SIGKILL)
            server.process.wait()
            line.close()
    with serving(files[0], "--shelf", str(shelf)) as server:
        left.append(len(list(shelf.rglob(".put-*"))))
        models = [one["model"] for one in server.call("GET", "/v1/models")[1]["models"]]
    return (
        f"killed {times} times while a model was put: files aside {left}, at starts and kills in turn; models {models}"
    )


def full(folder: Path) -> str:
    files, X = made(folder)
    disk = folder / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(disk)], check=True)
    statuses: Counter[int] = Counter()
    detail = ""
    ranks: Counter[int] = Counter()
    try:
        with serving(files[0], "--store", str(disk / "feedback.db")) as server:
            for k in range(400):
                events = [{"kind": "click", "request": "r" * 60, "id": f"{k}-{j}-" + "x" * 200} for j in range(10)]
                status, answer = server.call("POST", "/v1/feedback", {"events": events})
                statuses[status] += 1
                detail = answer.get("detail", detail)
                ranks[server.call("POST", "/v1/rank", bodies(X, "linear")["application/json"])[0]] += 1
    finally:
        subprocess.run(["umount", str(disk)], check=True)
    return f"a disk of 600 kB: feedback {dict(statuses)} ({detail}), rankings {dict(ranks)}"


def memory(folder: Path, *, minutes: int = 10) -> str:
    files, X = made(folder)
    sizes = []
    with serving(*files, "--store", str(folder / "feedback.db")) as server:
        for _ in range(minutes):
            found = wrk(
                server, bodies(X, "trees")["application/json"], path="/v1/rank", kind="application/json", seconds=60
            )
            sizes.append(server.memory())
            print(f"{found['rate']:.0f} requests/s, {sizes[-1]:.0f} MB", flush=True)
    return f"megabytes after each minute: {', '.join(f'{size:.0f}' for size in sizes)}"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as made_here:
            print(
                {"swap": swap, "kill": kill, "put": put, "full": full, "memory": memory}[name](Path(made_here)),
                flush=True,
            )
