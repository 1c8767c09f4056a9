"""Time to the tuned model of few queries: podium's default lambdamart and auto, and boosters with four settings each.

CPU seconds of all fits by which validation queries choose, on 60 to 400 training queries of 20 documents and 40
features, with and without levels by query, for which lambdamart tries scaled copies too.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import podium
from benchmarks.boosters import BOOSTERS
from benchmarks.contest import OURS, Contest, Contestant
from benchmarks.quality import METHODS, Run, tools, warm
from benchmarks.shapes import Shape, parts

QUERIES = (60, 120, 400)
SEEDS = (11, 12)


def contests(*, quick: bool) -> Iterator[Contest]:
    podium.train(*warm())
    runs, absent = tools()
    for levels in (0.0, 2.0):
        for queries in QUERIES[:1] if quick else QUERIES:
            shape = Shape(queries, (20, 20), bends=0.5 if levels else 0.7, levels=levels, scales=levels / 2)
            yield _contest(shape, runs, absent)


def _contest(shape: Shape, runs: dict[str, Run], absent: dict[str, str]) -> Contest:
    sets, seconds = [parts(shape, seed, tested=20) for seed in SEEDS], dict[str, float]()

    def timed(name: str) -> Contestant:
        def all_seeds() -> dict[str, float]:
            start = time.process_time()
            for each in sets:
                runs[name](*each)
            seconds[name] = (time.process_time() - start) / len(sets)
            return {"cpu": seconds[name]}

        return all_seeds

    lambdamart = METHODS["lambdamart"]
    return Contest(
        f"tuned model, {shape.queries} × 20 documents, {shape.features} features"
        + (", levels by query" if shape.levels else ""),
        timed(lambdamart),
        {("podium, auto" if name == OURS else name): timed(name) for name in runs if name != lambdamart} | absent,
        goal="≤ the slowest booster's time",
        repeats=1,
        warm_up=False,
        judged=lambda: seconds[lambdamart] <= max(seconds[name] for name in BOOSTERS if name in seconds),
    )
