"""TREC files: runs and qrels to measures, and ten runs to one, from files to numbers."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import podium
from benchmarks.contest import Contest
from benchmarks.made_up import trec_files
from benchmarks.peers import peer

MEASURES = ["ndcg@10", "map", "mrr"]


def contests(*, quick: bool) -> Iterator[Contest]:
    queries = 10 if quick else 50
    with tempfile.TemporaryDirectory() as folder:
        qrels, runs = trec_files(Path(folder), runs=10, queries=queries, documents=1000)
        lines = 1000 * queries
        yield measures(qrels, runs[0], f"a TREC run of {lines:,} lines and its qrels → NDCG@10, MAP, MRR", 10.0)
        small_qrels, small = trec_files(_made(Path(folder, "small")), runs=1, queries=queries, documents=20)
        yield measures(small_qrels, small[0], f"the same, a run of {20 * queries:,} lines", None)
        yield fusion(runs, Path(folder), f"ten TREC runs of {lines:,} lines → one, by reciprocal rank fusion")


def measures(qrels: Path, run: Path, what: str, least: float | None) -> Contest:
    values: dict[str, Any] = {}

    def ours() -> None:
        found = podium.evaluate_run(podium.read_qrels(qrels), podium.read_run(run), MEASURES, preset="trec")
        values["podium"] = [average.value for average in found.means().values()]

    peers: dict[str, Any] = {"pytrec_eval": peer("pytrec_eval"), "ranx": peer("ranx"), "ir_measures": "see pytrec_eval"}
    if not isinstance(peers["pytrec_eval"], str):
        import pytrec_eval

        def theirs() -> None:
            with qrels.open() as one, run.open() as other:
                judged, ranked = pytrec_eval.parse_qrel(one), pytrec_eval.parse_run(other)
            found = pytrec_eval.RelevanceEvaluator(judged, {"ndcg_cut.10", "map", "recip_rank"}).evaluate(ranked)
            names = ("ndcg_cut_10", "map", "recip_rank")
            values["pytrec_eval"] = [float(np.mean([query[name] for query in found.values()])) for name in names]

        peers["pytrec_eval"] = theirs
    if not isinstance(peers["ranx"], str):
        from ranx import Qrels, Run, evaluate

        def other() -> None:
            judged, ranked = Qrels.from_file(str(qrels), kind="trec"), Run.from_file(str(run), kind="trec")
            evaluate(judged, ranked, MEASURES)

        peers["ranx"] = other
    here = peer("ir_measures")
    if isinstance(here, str):
        peers["ir_measures"] = here
    else:
        import ir_measures

        def third() -> None:
            judged, ranked = ir_measures.read_trec_qrels(str(qrels)), ir_measures.read_trec_run(str(run))
            ir_measures.calc_aggregate([ir_measures.parse_measure(m) for m in ("nDCG@10", "AP", "RR")], judged, ranked)

        peers["ir_measures"] = third

    def note() -> str:
        if "pytrec_eval" not in values:
            return ""
        return f"Largest difference from pytrec_eval's means: {np.abs(np.subtract(*values.values())).max():.1e}."

    goal = "≥ 10 × the fastest peer" if least else ""
    return Contest(what, ours, peers, goal=goal, least_ratio=least, note=note, per_call=5)


def fusion(runs: list[Path], folder: Path, what: str) -> Contest:
    def ours() -> None:
        podium.write_run(podium.aggregate(podium.read_rankings(runs), "rrf").run(), folder / "fused.txt")

    here: Any = peer("ranx")
    if not isinstance(here, str):
        from ranx import Run, fuse

        def theirs() -> None:
            read = [Run.from_file(str(path), kind="trec") for path in runs]
            fuse(read, method="rrf").save(str(folder / "ranx.txt"), kind="trec")

        here = theirs
    return Contest(what, ours, {"ranx": here}, goal="≥ 20 × ranx", least_ratio=20.0, repeats=3)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
