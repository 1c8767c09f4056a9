"""NDCG@10, MAP and MRR of flat arrays; what other tools take natively is made before the clock starts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.contest import Contest
from benchmarks.made_up import SHARES
from benchmarks.peers import peer
from podium.metrics import Metric, evaluate_all

NAMES = ["ndcg_cut_10", "map", "recip_rank"]


def contests(*, quick: bool) -> Iterator[Contest]:
    rng = np.random.default_rng(0)
    queries = 1_000 if quick else 10_000
    sizes = rng.integers(60, 181, queries)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    scores, labels = rng.normal(size=offsets[-1]), rng.choice(5, size=offsets[-1], p=SHARES).astype(np.float64)
    metrics = [Metric.parse(name) for name in NAMES]
    tied = np.round(2 * scores)
    peers = {"pytrec_eval": pytrec(scores, labels, offsets), "ranx": ranx(scores, labels, offsets)}
    what = f"NDCG@10 + MAP + MRR of arrays, {queries:,} queries of about 120 documents"
    yield Contest(
        what,
        lambda: evaluate_all(metrics, scores, labels, offsets),
        peers,
        goal="≥ 15 × the fastest peer",
        least_ratio=15.0,
    )
    yield Contest(f"{what}, scores of 12 values", lambda: evaluate_all(metrics, tied, labels, offsets), {})


def pytrec(scores: Any, labels: Any, offsets: Any) -> Any:
    here = peer("pytrec_eval")
    if isinstance(here, str):
        return here
    run, qrels = as_dicts(scores.tolist(), offsets), as_dicts(labels.astype(int).tolist(), offsets)
    evaluator = here.RelevanceEvaluator(qrels, {"ndcg_cut.10", "map", "recip_rank"})
    return lambda: evaluator.evaluate(run)


def ranx(scores: Any, labels: Any, offsets: Any) -> Any:
    here = peer("ranx")
    if isinstance(here, str):
        return here
    run = here.Run(as_dicts(scores.tolist(), offsets))
    qrels = here.Qrels(as_dicts(labels.astype(int).tolist(), offsets))
    return lambda: here.evaluate(qrels, run, ["ndcg@10", "map", "mrr"])


def as_dicts(values: list[Any], offsets: Any) -> dict[str, dict[str, Any]]:
    spans = itertools.pairwise(offsets.tolist())
    return {f"q{q}": {f"d{row}": values[row] for row in range(a, b)} for q, (a, b) in enumerate(spans)}
