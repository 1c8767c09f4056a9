"""Scoring: one query of 100 documents, and a million documents, by trees, linear models and networks."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import podium
from benchmarks.contest import Contest
from benchmarks.made_up import graded
from benchmarks.peers import peer
from podium.base.threads import one_blas_thread
from podium.data.dataset import Dataset
from podium.model import Model

FEATURES = 136


def contests(*, quick: bool) -> Iterator[Contest]:
    data = graded(60, 100, FEATURES, seed=1)
    trees = 100 if quick else 500
    model = podium.train(data, f"lambdamart(rounds={trees},num_leaves=31,min_data_in_leaf=1)")
    X = graded(1, 100, FEATURES, seed=2).features
    one = Dataset.from_arrays(X, group=[100])
    bulk = graded(10 if quick else 2_000, 500, FEATURES, seed=3).features
    booster = _booster(model)
    peers = tree_peers(booster, X, quick=quick)

    def note() -> str:
        same = bool((model.score(one) == booster.predict(X, raw_score=True, num_threads=1)).all())
        times = [_wall(lambda: model.score(one)) for _ in range(300)]
        p50, p99 = np.quantile(times, [0.5, 0.99])
        return f"podium wall p50 {1e6 * p50:.0f} µs, p99 {1e6 * p99:.0f} µs; same bits as LightGBM: {same}."

    yield Contest(
        f"100 documents by {trees} trees of 31 leaves, one thread",
        lambda: model.score(one),
        peers,
        goal="p50 ≤ 250 µs",
        most_seconds=250e-6,
        per_call=20,
        note=note,
    )
    many = Dataset.from_arrays(bulk, group=[500] * (len(bulk) // 500))
    yield Contest(
        f"{len(bulk):,} documents by {trees} trees of 31 leaves",
        lambda: model.score(many),
        tree_peers(booster, bulk, quick=quick),
        goal="faster than CatBoost",
        least_ratio=1.0,
        repeats=3,
    )
    for name, layers in (("linear", []), ("mlp(hidden=[64,32])", [64, 32])):
        fitted = podium.train(
            data, f"listnet(scorer={name},iterations=3)" if not layers else f"listnet(scorer={name},epochs=1)"
        )
        with one_blas_thread():  # numpy's threads would wait for each other longer than they multiply
            yield Contest(
                f"100 documents by {name}",
                lambda fitted=fitted: fitted.score(one),
                {"numpy's products and tanh": products(X, layers)},
                goal="≤ 30 µs more than numpy",
                most_more=30e-6,
                per_call=200,
            )


def tree_peers(booster: Any, X: Any, *, quick: bool) -> dict[str, Any]:
    """The same trees in LightGBM and onnxruntime; as many trees of their own in XGBoost and CatBoost."""
    found: dict[str, Any] = {"LightGBM": lambda: booster.predict(X, raw_score=True, num_threads=1)}
    data = graded(60, 100, FEATURES, seed=1)
    trees = booster.num_trees()
    found["XGBoost"] = peer("xgboost")
    if not isinstance(found["XGBoost"], str):
        import xgboost

        settings = {"max_leaves": 31, "max_depth": 0, "grow_policy": "lossguide", "nthread": 1, "min_child_weight": 0}
        grown = xgboost.train(settings, xgboost.DMatrix(data.features, data.labels), trees)
        found["XGBoost"] = lambda: grown.inplace_predict(X)
    found["CatBoost"] = peer("catboost")
    if not isinstance(found["CatBoost"], str):
        import catboost

        cat = catboost.CatBoostRegressor(
            iterations=trees, depth=5, verbose=False, thread_count=1, allow_writing_files=False
        ).fit(data.features, data.labels)
        found["CatBoost"] = lambda: cat.predict(X, thread_count=1)
    found["onnxruntime"] = onnx(booster, X)
    found["lleaves"] = peer("lleaves") if isinstance(peer("lleaves"), str) else "not measured"
    return found


def onnx(booster: Any, X: Any) -> Any:
    runtime, tools = peer("onnxruntime"), peer("onnxmltools")
    if isinstance(runtime, str) or isinstance(tools, str):
        return "not installed"
    try:
        import lightgbm
        from onnxmltools.convert.common.data_types import FloatTensorType

        whole = lightgbm.Booster(
            model_str=booster.model_to_string().replace("tree\n", "tree\nobjective=regression\n", 1)
        )
        made = tools.convert_lightgbm(whole, initial_types=[("x", FloatTensorType([None, FEATURES]))])
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1
        session = runtime.InferenceSession(made.SerializeToString(), options)
    except Exception as error:
        return f"does not convert: {type(error).__name__}"
    return lambda: session.run(None, {"x": X})


def products(X: Any, layers: list[int]) -> Any:
    rng, sizes = np.random.default_rng(0), [X.shape[1], *layers, 1]
    weights = [rng.standard_normal(shape) for shape in itertools.pairwise(sizes)]
    doubles = X.astype(np.float64)

    def multiply() -> None:
        h = doubles
        for w in weights[:-1]:
            h = np.tanh(h @ w)
        h @ weights[-1]

    return multiply


def _booster(model: Model) -> Any:
    from podium.scorers.trees.trees import booster

    return booster(model.params["trees"], FEATURES)


def _wall(call: Any) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
