"""TREC files: evaluating a run end to end, and fusing ten runs, beside pytrec_eval and ranx in one run.

    python benchmarks/trec_files.py [QUERIES] [LINES]

CPU seconds, medians of interleaved repeats, without imports and compilation. Evaluation: read qrels and run of QUERIES
queries of about 120 documents, then NDCG@10, MAP and MRR of each query. The peers' users read files into dictionaries
first; that is counted, and their evaluation alone is shown too. Fusion: read ten runs of LINES lines, fuse them by
reciprocal ranks, and write the fused run.
"""

from __future__ import annotations

import io
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from podium.aggregation import aggregate
from podium.data import read_qrels, read_run, read_runs, write_run
from podium.evaluation import evaluate_run

METRICS = ["ndcg_cut_10", "map", "recip_rank"]


def main(n_queries: int = 10_000, n_lines: int = 50_000) -> None:
    with tempfile.TemporaryDirectory() as folder:
        qrels, run = Path(folder, "qrels"), Path(folder, "run")
        make(qrels, run, n_queries)
        print(f"{n_queries} queries, {qrels.stat().st_size / 1e6:.0f} + {run.stat().st_size / 1e6:.0f} MB")
        table(measure(evaluations(qrels, run), 5))
        runs = [Path(folder, f"{k}.run") for k in range(10)]
        for k, path in enumerate(runs):
            make_run(path, k, n_lines)
        print(f"ten runs of {n_lines} lines, {sum(path.stat().st_size for path in runs) / 1e6:.0f} MB")
        table(measure(fusions(runs, Path(folder, "fused")), 3))


def evaluations(qrels: Path, run: Path) -> dict[str, Callable[[], Any]]:
    found = {
        "podium": lambda: evaluate_run(read_qrels(qrels), read_run(run), METRICS, preset="trec"),
        "podium, reading alone": lambda: (read_qrels(qrels), read_run(run)),
    }
    try:
        import pytrec_eval
    except ImportError:
        return found
    measures = {"ndcg_cut.10", "map", "recip_rank"}

    def theirs() -> Any:
        with qrels.open() as file, run.open() as other:
            judged, ranked = pytrec_eval.parse_qrel(file), pytrec_eval.parse_run(other)
        return pytrec_eval.RelevanceEvaluator(judged, measures).evaluate(ranked)

    with qrels.open() as file, run.open() as other:
        judged, ranked = pytrec_eval.parse_qrel(file), pytrec_eval.parse_run(other)
    check(theirs(), found["podium"]())
    return {
        **found,
        "pytrec_eval": theirs,
        "pytrec_eval, dictionaries there": lambda: pytrec_eval.RelevanceEvaluator(judged, measures).evaluate(ranked),
    }


def fusions(runs: list[Path], target: Path) -> dict[str, Callable[[], Any]]:
    found = {"podium": lambda: write_run(aggregate(read_runs(runs, missing="allow"), "rrf").run("fused"), target)}
    try:
        import ranx
    except ImportError:
        return found

    def theirs() -> None:
        read = [ranx.Run.from_file(str(path), kind="trec") for path in runs]
        ranx.fuse(read, method="rrf").save(str(target) + ".ranx", kind="trec")

    return {**found, "ranx": theirs}


def check(theirs: dict[str, dict[str, float]], ours: Any) -> None:
    """Print how far the values of all queries are apart."""
    expected = np.array([[theirs[query][name] for query in ours.query_ids] for name in METRICS])
    print(f"largest difference from pytrec_eval: {np.abs(expected - ours.values).max():.1e}")


def make(qrels: Path, run: Path, n_queries: int) -> None:
    """Judgements and a run that retrieves about two thirds of the judged documents."""
    rng = np.random.default_rng(0)
    judged, ranked = io.StringIO(), io.StringIO()
    for q in range(n_queries):
        n = int(rng.integers(60, 181))
        names = [
            f"clueweb09-en{d // 1000:04d}-{d % 1000:03d}" for d in rng.choice(5_000_000, n + n // 2, replace=False)
        ]
        for name, grade in zip(names[:n], rng.choice(5, n, p=[0.52, 0.32, 0.13, 0.02, 0.01]), strict=True):
            judged.write(f"{q} 0 {name} {grade}\n")
        scores = np.sort(rng.normal(10, 3, n).astype(np.float32).astype(float))[::-1].tolist()
        for rank, (name, score) in enumerate(zip(names[n // 2 :], scores, strict=False), 1):
            ranked.write(f"{q} Q0 {name} {rank} {score!r} bm25\n")
    qrels.write_text(judged.getvalue())
    run.write_text(ranked.getvalue())


def make_run(path: Path, seed: int, n_lines: int) -> None:
    """Lists of 1,000 documents out of 3,000 for each query."""
    rng = np.random.default_rng(seed)
    with path.open("w") as file:
        for q in range(n_lines // 1000):
            scores = -np.sort(-rng.normal(10, 3, 1000))
            for rank, (d, score) in enumerate(zip(rng.choice(3000, 1000, replace=False), scores, strict=True), 1):
                file.write(f"q{q} Q0 document-{q}-{d} {rank} {score:.6f} run{seed}\n")


def measure(contestants: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Median CPU seconds, interleaved so that a busy machine is busy for all; the first round, which compiles, is left
    out."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(repeats + 1):
        for name, run in contestants.items():
            start = time.process_time()
            run()
            seconds[name].append(time.process_time() - start)
    return {name: float(np.median(found[1:])) for name, found in seconds.items()}


def table(medians: dict[str, float]) -> None:
    for name, seconds in medians.items():
        print(f"  {name:33} {seconds:8.3f} CPU s   {seconds / medians['podium']:6.1f} ×")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
