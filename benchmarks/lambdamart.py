"""LambdaMART: time of training, and NDCG@10 on other queries, with the same size and number of trees for all.

Other settings are each tool's defaults: LightGBM has 255 bins, podium's lambdamart 63.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

import podium
from benchmarks.contest import OURS, Contest
from benchmarks.made_up import graded
from benchmarks.peers import peer
from podium.data.dataset import Dataset

METRIC = "ndcg@10"


SIZES = ((700, 100, 136, 31), (400, 40, 40, 7), (100, 40, 40, 7), (60, 20, 40, 7))
"""Training queries, documents of each, features, and leaves of a tree."""


def contests(*, quick: bool) -> Iterator[Contest]:
    for queries, documents, features, leaves in ((60, 20, 40, 7),) if quick else SIZES:
        large = queries == SIZES[0][0]
        parts = [graded(n, documents, features, seed=k) for k, n in enumerate((queries, queries // 3, queries))]
        for trees in (20,) if quick else (100, 500) if large else (100,):
            for threads in (1, 2) if large else (1,):
                for watched in (False, True):
                    yield _contest(*parts, trees, leaves, threads=threads, watched=watched)


def _contest(
    train: Dataset, valid: Dataset, test: Dataset, trees: int, leaves: int, *, threads: int, watched: bool
) -> Contest:
    held = valid if watched else None
    seen: dict[str, float] = {}
    work = train, held, test, trees, leaves, threads, seen
    with_valid = ", with validation data" if watched else ""
    return Contest(
        f"LambdaMART, {trees} trees of {leaves} leaves, {train.n_documents:,} × {train.n_features}{with_valid}, "
        f"{threads} thread{'s' if threads > 1 else ''}",
        lambda: ours(*work),
        {
            "LightGBM": lightgbm(*work),
            "XGBoost": xgboost(*work),
            "CatBoost": catboost(*work) if trees < 500 else "not run",
        },
        goal="≤ 1.0 × LightGBM's time",
        least_ratio=1.0,
        clock="wall" if threads > 1 else "cpu",
        repeats=3,
        warm_up=leaves < 31,
        note=lambda: "NDCG@10 on other queries: " + ", ".join(f"{name} {value:.4f}" for name, value in seen.items()),
    )


def ours(train: Any, valid: Any, test: Any, trees: int, leaves: int, threads: int, seen: dict[str, float]) -> None:
    os.environ["PODIUM_THREADS"] = str(threads)
    sizes = f"rounds={trees},patience={trees},num_leaves={leaves},learning_rate=0.1"
    spec = f"lambdamart({sizes},growth=leaves,transform=identity)"
    model = podium.train(train, spec, valid=valid)
    seen[OURS] = quality(test, model.score(test))
    os.environ.pop("PODIUM_THREADS")


def lightgbm(train: Any, valid: Any, test: Any, trees: int, leaves: int, threads: int, seen: dict[str, float]) -> Any:
    def fit() -> None:
        import lightgbm

        settings = {
            "objective": "lambdarank", "num_leaves": leaves, "learning_rate": 0.1, "num_threads": threads,
            "metric": "ndcg", "eval_at": [10], "verbosity": -1,
        }  # fmt: skip
        first = lightgbm.Dataset(train.features, train.labels, group=train.sizes)
        more = [] if valid is None else [first.create_valid(valid.features, valid.labels, group=valid.sizes)]
        seen["LightGBM"] = quality(test, lightgbm.train(settings, first, trees, more).predict(test.features))

    return fit


def xgboost(train: Any, valid: Any, test: Any, trees: int, leaves: int, threads: int, seen: dict[str, float]) -> Any:
    here = peer("xgboost")
    if isinstance(here, str):
        return here

    def fit() -> None:
        settings = {
            "objective": "rank:ndcg", "max_leaves": leaves, "max_depth": 0, "grow_policy": "lossguide", "eta": 0.1,
            "tree_method": "hist", "nthread": threads, "eval_metric": "ndcg@10",
        }  # fmt: skip

        def matrix(data: Dataset) -> Any:
            return here.DMatrix(data.features, data.labels, qid=np.repeat(np.arange(data.n_queries), data.sizes))

        evals = [] if valid is None else [(matrix(valid), "valid")]
        grown = here.train(settings, matrix(train), trees, evals=evals, verbose_eval=False)
        seen["XGBoost"] = quality(test, grown.predict(here.DMatrix(test.features)))

    return fit


def catboost(train: Any, valid: Any, test: Any, trees: int, leaves: int, threads: int, seen: dict[str, float]) -> Any:
    here = peer("catboost")
    if isinstance(here, str):
        return here

    def fit() -> None:
        def pool(data: Dataset) -> Any:
            return here.Pool(data.features, data.labels, group_id=np.repeat(np.arange(data.n_queries), data.sizes))

        model = here.CatBoostRanker(
            loss_function="YetiRank", iterations=trees, learning_rate=0.1, depth=round(np.log2(leaves + 1)),
            thread_count=threads, verbose=False, allow_writing_files=False,
        )  # fmt: skip
        model.fit(pool(train), eval_set=None if valid is None else pool(valid))
        seen["CatBoost"] = quality(test, model.predict(test.features))

    return fit


def quality(test: Dataset, scores: Any) -> float:
    return podium.evaluate(test, scores, METRIC).means()[METRIC].value
