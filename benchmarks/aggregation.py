"""Rank aggregation: seconds for 1,000 queries × 20 rankings × 100 documents, every unsupervised method, in one run.

    python benchmarks/aggregation.py [queries]
    python benchmarks/aggregation.py long [queries]

`complete`: all voters rank the same 100 documents. `cut`: each ranks the best 100 of 200, so lists are partial. Kemeny,
Mallows and footrule run on a tenth of the queries, scaled up; pmop is left out. Peak memory is of the process.

`long`: 17 voters each rank the best 1,000 of 4,000 documents, 100 queries unless told; each method runs in its own
process, whose peak memory is printed beside what the rankings take. Kemeny, Mallows and footrule get 2 queries.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time

import numpy as np

from podium.aggregation import Aggregator
from podium.aggregation.rankings.rankings import Rankings

VOTERS, DEPTH = 20, 100
SLOW = {"kemeny", "footrule", "mallows"}
SHORT = {"pmop"}  # for tens of documents, not for a hundred


def main(queries: int = 1000) -> None:
    for pool in (DEPTH, 2 * DEPTH):
        start = time.perf_counter()
        rankings = make(queries, pool)
        few, warm = make(queries // 10, pool), make(2, pool)
        what = "complete" if pool == DEPTH else "cut"
        print(f"{what}: {rankings.n_documents} documents, made in {time.perf_counter() - start:.2f} s")
        for name in sorted(set(Aggregator.catalogue()) - SHORT):
            method = Aggregator.parse(name)
            given, scale = (few, queries / few.n_queries) if name in SLOW else (rankings, 1.0)
            method(warm)  # compiles
            wall, cpu = time.perf_counter(), time.process_time()
            found = method(given)
            wall, cpu = (time.perf_counter() - wall) * scale, (time.process_time() - cpu) * scale
            gap = f", mean gap {found.gaps.mean():.4f}" if method.minimises else ""
            print(f"  {name:13s} {wall:7.2f} s wall {cpu:7.2f} CPU s {1e3 * cpu / queries:8.3f} ms per query{gap}")
    print(f"peak memory {_peak():.0f} MB")


def long(queries: int = 100) -> None:
    for name in sorted(set(Aggregator.catalogue()) - SHORT):
        count = min(queries, 2) if name in SLOW else queries
        subprocess.run([sys.executable, __file__, "one", name, str(count)], check=True)


def one(name: str, queries: str) -> None:
    """One method on long lists, in this process."""
    rankings = make(int(queries), 4000, voters=17, depth=1000)
    data = _peak()
    method = Aggregator.parse(name)
    method(make(1, 700, voters=3, depth=500))  # compiles, also what only long lists need
    start = time.process_time()
    method(rankings)
    cpu = (time.process_time() - start) / rankings.n_queries
    print(f"  {name:13s} {cpu:8.3f} CPU s per query, {_peak():.0f} MB at the peak ({data:.0f} for the rankings)")


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def make(queries: int, pool: int, *, voters: int = VOTERS, depth: int = DEPTH) -> Rankings:
    """Voters who see the true scores of a pool of documents, each with its noise, and list the best."""
    rng = np.random.default_rng(0)
    depth = min(depth, pool)
    noise = rng.uniform(0.3, 2.0, size=(voters, 1))
    best, scores = np.empty((queries, voters, depth), np.int32), np.empty((queries, voters, depth))
    for q in range(queries):
        seen = rng.normal(size=pool) + noise * rng.normal(size=(voters, pool))
        best[q] = np.argsort(-seen, axis=1)[:, :depth]
        scores[q] = np.take_along_axis(seen, best[q], axis=1)
    names = np.array([f"d{d:04d}" for d in range(pool)], dtype=object)
    return Rankings.from_entries(
        np.repeat(np.array([str(q) for q in range(queries)], dtype=object), voters * depth),
        np.tile(np.repeat(np.array([f"v{v:02d}" for v in range(voters)], dtype=object), depth), queries),
        names[best.ravel()],
        scores=scores.ravel(),
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["one"]:
        one(*sys.argv[2:4])
    elif sys.argv[1:2] == ["long"]:
        long(*map(int, sys.argv[2:3]))
    else:
        main(*map(int, sys.argv[1:2]))
