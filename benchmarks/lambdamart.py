"""LambdaMART: time of training, and NDCG@10 on other queries, with the same size and number of trees for all."""

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


def contests(*, quick: bool) -> Iterator[Contest]:
    queries = 60 if quick else 700
    train, valid, test = (graded(n, 100, 136, seed=k) for k, n in enumerate((queries, queries // 3, queries)))
    for trees in (20,) if quick else (100, 500):
        for threads in (1, 2):
            for watched in (False, True):
                held = valid if watched else None
                found: dict[str, float] = {}
                with_valid = ", with validation data" if watched else ""
                yield Contest(
                    f"LambdaMART, {trees} trees of 31 leaves, {train.n_documents:,} × 136{with_valid}, "
                    f"{threads} thread{'s' if threads > 1 else ''}",
                    lambda t=trees, k=threads, h=held, f=found: ours(train, h, test, t, k, f),
                    {
                        "LightGBM": lightgbm(train, held, test, trees, threads, found),
                        "XGBoost": xgboost(train, held, test, trees, threads, found),
                        "CatBoost": catboost(train, held, test, trees, threads, found) if trees < 500 else "not run",
                    },
                    goal="≤ 1.0 × LightGBM's time",
                    least_ratio=1.0,
                    clock="wall" if threads > 1 else "cpu",
                    repeats=3,
                    warm_up=False,
                    note=lambda f=found: (
                        "NDCG@10 on other queries: " + ", ".join(f"{name} {value:.4f}" for name, value in f.items())
                    ),
                )


def ours(train: Any, valid: Any, test: Any, trees: int, threads: int, found: dict[str, float]) -> None:
    os.environ["PODIUM_THREADS"] = str(threads)
    spec = f"lambdamart(rounds={trees},num_leaves=31,learning_rate=0.1,patience={trees},transform=identity)"
    model = podium.train(train, spec, valid=valid)
    found[OURS] = quality(test, model.score(test))
    os.environ.pop("PODIUM_THREADS")


def lightgbm(train: Any, valid: Any, test: Any, trees: int, threads: int, found: dict[str, float]) -> Any:
    def fit() -> None:
        import lightgbm

        settings = {
            "objective": "lambdarank", "num_leaves": 31, "learning_rate": 0.1, "num_threads": threads,
            "metric": "ndcg", "eval_at": [10], "verbosity": -1,
        }  # fmt: skip
        first = lightgbm.Dataset(train.features, train.labels, group=train.sizes)
        more = [] if valid is None else [first.create_valid(valid.features, valid.labels, group=valid.sizes)]
        found["LightGBM"] = quality(test, lightgbm.train(settings, first, trees, more).predict(test.features))

    return fit


def xgboost(train: Any, valid: Any, test: Any, trees: int, threads: int, found: dict[str, float]) -> Any:
    here = peer("xgboost")
    if isinstance(here, str):
        return here

    def fit() -> None:
        settings = {
            "objective": "rank:ndcg", "max_leaves": 31, "max_depth": 0, "grow_policy": "lossguide", "eta": 0.1,
            "tree_method": "hist", "nthread": threads, "eval_metric": "ndcg@10",
        }  # fmt: skip

        def matrix(data: Dataset) -> Any:
            return here.DMatrix(data.features, data.labels, qid=np.repeat(np.arange(data.n_queries), data.sizes))

        evals = [] if valid is None else [(matrix(valid), "valid")]
        grown = here.train(settings, matrix(train), trees, evals=evals, verbose_eval=False)
        found["XGBoost"] = quality(test, grown.predict(here.DMatrix(test.features)))

    return fit


def catboost(train: Any, valid: Any, test: Any, trees: int, threads: int, found: dict[str, float]) -> Any:
    here = peer("catboost")
    if isinstance(here, str):
        return here

    def fit() -> None:
        def pool(data: Dataset) -> Any:
            return here.Pool(data.features, data.labels, group_id=np.repeat(np.arange(data.n_queries), data.sizes))

        model = here.CatBoostRanker(
            loss_function="YetiRank", iterations=trees, learning_rate=0.1, depth=5, thread_count=threads,
            verbose=False, allow_writing_files=False,
        )  # fmt: skip
        model.fit(pool(train), eval_set=None if valid is None else pool(valid))
        found["CatBoost"] = quality(test, model.predict(test.features))

    return fit


def quality(test: Dataset, scores: Any) -> float:
    return podium.evaluate(test, scores, METRIC).means()[METRIC].value
