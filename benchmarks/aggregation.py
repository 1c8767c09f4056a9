"""Rank aggregation: seconds for 1,000 queries × 20 rankings × 100 documents, every unsupervised method, in one run.

    python benchmarks/aggregation.py [queries]

`complete`: all voters rank the same 100 documents. `cut`: each ranks the best 100 of 200, so lists are partial. Kemeny,
Mallows and footrule run on a tenth of the queries, scaled up; pmop is left out. Peak memory is of the process.
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np

from podium.aggregation import Aggregator
from podium.data.rankings import Rankings

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
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB")


def make(queries: int, pool: int) -> Rankings:
    """Voters who see the true scores of a pool of documents with noise of their own size, and list the best."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(queries, 1, pool))
    noise = rng.uniform(0.3, 2.0, size=(1, VOTERS, 1))
    scores = truth + noise * rng.normal(size=(queries, VOTERS, pool))
    best = np.argsort(-scores, axis=2)[:, :, : min(DEPTH, pool)]
    query, voter, _ = np.indices(best.shape)
    return Rankings.from_entries(
        [str(q) for q in query.ravel()],
        [f"v{v:02d}" for v in voter.ravel()],
        [f"d{d:03d}" for d in best.ravel()],
        scores=np.take_along_axis(scores, best, axis=2).ravel(),
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
