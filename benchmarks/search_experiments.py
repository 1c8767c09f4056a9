"""Experiments on searches through the service's HTTP API: false alarms, and how often the better ranker is found.

    python -m benchmarks.search_experiments [--experiments 300] [--pages 80]

Each experiment is started, searched, clicked and looked at by requests to the application in this process. Users click
by rank alone, so that a verdict is a false alarm, of which 5 % are allowed, at any look (the always-valid p is the
smallest so far, and the service ends experiments by it) or at the last one (Student's p). In the last rows they click
relevant documents. Rankers are the same under two names; with one document moved; of ten results and of three; and one
that finds nothing for half of the queries. It takes about ten minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from tests.asgi import Client

import podium
from podium.service.app import build
from podium.service.settings import Settings

CONTROL = "bm25(fields=[text],b=0)"
CANDIDATES = {
    "the same": "bm25(fields=[text],b=0,k1=0.9000001)",
    "one document moved": "bm25(fields=[text],b=1)",
    "three results": f"cut(of={CONTROL},k=3)",
    "half finds nothing": "bm25(fields=[title],b=0)",
}
KINDS = {"team-draft": "interleave", "probabilistic": "interleave", "split": "split"}
LONG = 2
"""The document that moves: it is long."""


def documents() -> list[dict[str, str]]:
    """Ten documents that say heat ever less often; only some say steel, and none in its title."""
    texts = [" ".join(["heat"] * (12 - k) + ["steel"] * (12 - k) + ["pad"] * (2 * k)) for k in range(10)]
    texts[LONG] += " pad" * 200
    titles = [" ".join(["heat"] * (12 - k) + ["pad"] * k) for k in range(10)]
    return [{"id": f"d{k}", "title": titles[k], "text": texts[k]} for k in range(10)]


@contextmanager
def service() -> Iterator[Client]:
    """The application with an index and a store."""
    with tempfile.TemporaryDirectory() as folder:
        podium.Index.create(Path(folder) / "my.index", documents()).close()
        app = build(Settings(index=str(Path(folder) / "my.index"), store=str(Path(folder) / "feedback.db")))
        try:
            yield Client(app)
        finally:
            app.state.podium.close()


async def experiment(
    client: Client, name: str, method: str, candidate: str, pages: int, relevant: bool, rng: np.random.Generator
) -> dict[str, Any]:
    """The results of one experiment, in which users click by rank alone, or documents that are not long."""
    body = {"name": name, "kind": KINDS[method], "control": CONTROL, "candidate": candidate, "min_pages": 20}
    if KINDS[method] == "interleave":
        body["method"] = method
    started = await client.call("POST", "/v1/experiments", body)
    assert started.status == 201, started.content
    events, shown = [], 0
    for page in range(pages):
        search = {"query": ("heat", "steel")[page % 2], "k": 10, "by": CONTROL}
        answer = (await client.call("POST", "/v1/search", search)).json
        shown += "experiment" in answer
        ids = [result["id"] for result in answer["results"]]
        chance = 0.9 / np.arange(1, len(ids) + 1) ** 0.7
        if relevant:
            chance *= [0.0 if id == f"d{LONG}" else 0.6 for id in ids]
        clicked = [id for id, is_clicked in zip(ids, rng.random(len(ids)) < chance, strict=True) if is_clicked]
        events += [{"kind": "click", "request": answer["request"], "id": id} for id in clicked]
    until = time.monotonic() + 20
    while time.monotonic() < until:
        so_far = (await client.call("GET", f"/v1/experiments/{name}")).json
        if so_far["preference"]["pages"] >= shown:
            break
        await asyncio.sleep(0.02)
    for start in range(0, len(events), 500):
        await client.call("POST", "/v1/feedback", {"events": events[start : start + 500]})
    await client.call("POST", f"/v1/experiments/{name}/end")
    return (await client.call("GET", f"/v1/experiments/{name}")).json


async def row(client: Client, method: str, rankers: str, experiments: int, pages: int, *, relevant: bool) -> str:
    """Shares of experiments with p ≤ 0.05 at any look, at the last one, and their mean credit."""
    name = f"{method}-{rankers}-{'relevant' if relevant else 'rank'}".replace(" ", "-")
    rng = np.random.default_rng(0)
    found = [
        (await experiment(client, f"{name}-{k}", method, CANDIDATES[rankers], pages, relevant, rng))["preference"]
        for k in range(experiments)
    ]
    any_look, last, credit = (np.array([each[key] for each in found]) for key in ("always_valid_p", "p", "credit"))
    counted = np.mean([each["pages"] for each in found])
    ends = f"{np.mean(any_look <= 0.05):8.3f}  {np.mean(last <= 0.05):9.3f}  {credit.mean():+.4f}  {counted:5.0f}"
    return f"{method:13}  {rankers:18}  {'relevant' if relevant else 'by rank':8}  {ends}"


async def table(experiments: int, pages: int) -> None:
    """Print a row for each method and pair of rankers."""
    print("method         rankers             clicks    any look  last look  credit   pages")
    with service() as client:
        for method in KINDS:
            for rankers in CANDIDATES:
                if method == "split" and rankers not in ("the same", "one document moved"):
                    continue  # fewer results have fewer clicks: no false alarm
                print(await row(client, method, rankers, experiments, pages, relevant=False), flush=True)
        for method in KINDS:
            print(await row(client, method, "one document moved", experiments // 3, pages, relevant=True), flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiments", type=int, default=300)
    parser.add_argument("--pages", type=int, default=80)
    asked = parser.parse_args()
    asyncio.run(table(asked.experiments, asked.pages))


if __name__ == "__main__":
    main()
