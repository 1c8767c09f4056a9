"""The service: rankings of 100 documents with 46 features, by a linear model and by 500 trees, as JSON and as .npy.

CPU seconds are those of the service per request, under as much load as it can take. `scoring alone` is what a call of
`Model.score` on the same documents costs.
"""

from __future__ import annotations

import io
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import podium
from benchmarks.contest import Contest
from benchmarks.made_up import graded
from benchmarks.server import Server, paced, serving, wrk
from podium.data.dataset import Dataset

FEATURES, WORKERS = 46, 2
RATE = 500
"""Rankings per second at which the tail is looked at: half of the 1,000 that two cores are to do."""


def contests(*, quick: bool) -> Iterator[Contest]:
    data = graded(60, 100, FEATURES, seed=1)
    X = graded(1, 100, FEATURES, seed=2).features
    trees = 100 if quick else 500
    with tempfile.TemporaryDirectory() as folder:
        methods = {
            "linear": "listnet(iterations=3)",
            "trees": f"lambdamart(rounds={trees},num_leaves=31,min_data_in_leaf=1)",
        }
        models = {name: podium.train(data, method) for name, method in methods.items()}
        for name, model in models.items():
            model.save(Path(folder) / f"{name}.podium")
        files = [f"{folder}/{name}.podium" for name in models]
        with serving(*files, "--workers", str(WORKERS)) as server:
            for name, model in models.items():
                for kind, body in bodies(X, name).items():
                    yield contest(server, name, model, kind, body, X=X, trees=trees, quick=quick)


def contest(
    server: Server, name: str, model: Any, kind: str, body: bytes, *, X: Any, trees: int, quick: bool
) -> Contest:
    load = {"path": f"/v1/rank?model={name}" if kind.endswith("npy") else "/v1/rank", "kind": kind}
    rates: list[dict[str, float]] = []
    one = Dataset.from_arrays(X, group=[100])

    def ours() -> dict[str, float]:
        rates.append(wrk(server, body, seconds=2 if quick else 5, **load))
        return rates[-1]

    def scoring() -> dict[str, float]:
        start, calls = time.process_time(), 300
        for _ in range(calls):
            model.score(one)
        return {"cpu": (time.process_time() - start) / calls, "wall": 0.0}

    def note() -> str:
        rate = float(np.median([found["rate"] for found in rates]))
        p50, p99 = (float(np.median([found[key] for found in rates])) for key in ("p50", "p99"))
        calm = paced(server, body, rate=RATE, seconds=2 if quick else 10, **load)
        return (
            f"{rate:.0f} requests/s by {WORKERS} workers with 16 connections, p50 {p50:.1f} ms, p99 {p99:.1f} ms; at "
            f"{RATE}/s p50 {calm['p50']:.1f} ms, p99 {calm['p99']:.1f} ms, of which p99 {calm['pacer']:.1f} ms before "
            f"they were sent; {server.memory():.0f} MB."
        )

    what = f"{trees} trees" if name == "trees" else name
    return Contest(
        f"ranking 100 documents by {what}, {kind.rpartition('-')[2].rpartition('/')[2]}",
        ours,
        {"scoring alone": scoring},
        goal="≤ 1.3 ms of CPU beyond scoring",
        most_more=1.3e-3,
        repeats=3,
        note=note,
    )


def bodies(X: Any, model: str) -> dict[str, bytes]:
    """The same request in JSON, with five digits, and as .npy."""
    rows = [{"id": f"D{k}", "features": [float(f"{v:.5g}") for v in row]} for k, row in enumerate(X)]
    file = io.BytesIO()
    np.save(file, X)
    text = json.dumps({"model": model, "query": "q1", "documents": rows}, separators=(",", ":"))
    return {"application/json": text.encode(), "application/x-npy": file.getvalue()}
