"""LambdaMART's quality beside other boosters: NDCG@10 on queries that none has seen.

Each tool has its defaults; podium chooses from lambdamart's grid on validation queries, as it does by default. Then
("tuned") the others too choose among six settings each, the usual ones, by NDCG@10 on the same validation queries.

All stop early on the same validation queries, by NDCG@10: after 100 rounds without a better value, of 1,000 at most.
The data is made up: grades follow from sums, bends and interactions of features, with noise; once with features
whose level and scale differ from query to query, as scores of text have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import podium
from benchmarks.contest import OURS, Contest
from benchmarks.peers import peer
from podium.data.dataset import Dataset

SEEDS = 5
SETS = {
    "60 training queries of 10–30 documents": (60, 10, 30, 2.5, False),
    "80 training queries of 20–60 documents": (80, 20, 60, 1.0, False),
    "400 training queries of 20–60 documents": (400, 20, 60, 1.0, False),
    "300 training queries of 20–60 documents, features not scaled": (300, 20, 60, 1.0, True),
}
TUNED = list(SETS)[:2]
GRIDS: dict[str, list[dict[str, Any]]] = {
    "LightGBM": [{"learning_rate": rate, "num_leaves": leaves} for rate in (0.05, 0.1) for leaves in (7, 15, 31)],
    "XGBoost": [{"learning_rate": rate, "max_depth": depth} for rate in (0.05, 0.1) for depth in (3, 4, 6)],
    "CatBoost": [{"learning_rate": rate, "depth": depth} for rate in (0.03, 0.1) for depth in (4, 6, 8)],
}
Parts = tuple[Dataset, Dataset, Dataset]


def contests(*, quick: bool) -> Iterator[Contest]:
    for what, (queries, low, high, noise, raw) in list(SETS.items())[: 1 if quick else None]:
        sizes = (queries, max(queries // 3, 20), 300)
        parts = [
            tuple(made(n, low, high, noise, raw=raw, seed=1000 * k + seed) for k, n in enumerate(sizes))
            for seed in range(2 if quick else SEEDS)
        ]
        found: dict[str, list[float]] = {}
        runs = {name: _over(parts, name, call, found) for name, call in BOOSTERS.items()}
        peers: dict[str, Any] = {name: runs[name] for name in ("podium, transform=identity",)} if raw else {}
        for name, module in (("LightGBM", "lightgbm"), ("XGBoost", "xgboost"), ("CatBoost", "catboost")):
            here = peer(module)
            peers[name] = here if isinstance(here, str) else runs[name]
        yield _contest(f"quality, {what}", runs[OURS], peers, found)
        if what in TUNED:
            again: dict[str, list[float]] = {}
            chosen = {name: _over(parts, name, tuned(name), again) for name in GRIDS if name in BOOSTERS}
            yield _contest(
                f"quality, tuned, {what}",
                _over(parts, OURS, ours, again),
                {name: peers[name] if isinstance(peers[name], str) else run for name, run in chosen.items()},
                again,
            )


def _contest(what: str, ours: Any, peers: dict[str, Any], found: dict[str, list[float]]) -> Contest:
    return Contest(
        what,
        ours,
        peers,
        goal="NDCG@10 ≥ the best of the three",
        repeats=1,
        warm_up=False,
        note=lambda: words(found),
    )


def tuned(name: str) -> Callable[[Parts], Any]:
    """The scores of the setting that is best on the validation queries."""

    def run(parts: Parts) -> Any:
        train, valid, test = parts
        best = max(
            GRIDS[name],
            key=lambda more: (
                podium.evaluate(valid, BOOSTERS[name]((train, valid, valid), **more), "ndcg@10")
                .means()["ndcg@10"]
                .value
            ),
        )
        return BOOSTERS[name]((train, valid, test), **best)

    return run


def words(found: dict[str, list[float]]) -> str:
    """Means over seeds, and podium's lead over each with its standard error."""
    ours = np.array(found[OURS])
    parts = [f"NDCG@10 podium {ours.mean():.4f}"]
    for name, values in found.items():
        if name != OURS:
            lead = ours - np.array(values)
            error = lead.std(ddof=1) / np.sqrt(len(lead))
            parts.append(f"{name} {np.mean(values):.4f} (podium leads by {lead.mean():+.4f} ± {error:.4f})")
    return ", ".join(parts)


def made(queries: int, low: int, high: int, noise: float, *, raw: bool, seed: int, features: int = 40) -> Dataset:
    truth = np.random.default_rng(777)
    linear, bent = truth.standard_normal(features) * (truth.random(features) < 0.5), truth.permutation(features)[:8]
    rng = np.random.default_rng(seed)
    sizes = rng.integers(low, high, queries)
    q, Z = np.repeat(np.arange(queries), sizes), rng.standard_normal((int(sizes.sum()), features))
    use = Z @ linear + 2 * np.abs(Z[:, bent]).sum(axis=1) + 2 * Z[:, bent[0]] * Z[:, bent[1]] + 2 * (Z[:, bent[2]] > 1)
    use = (use - use.mean()) / use.std() + noise * rng.standard_normal(len(Z))
    labels = np.digitize(use, np.quantile(use, [0.6, 0.85, 0.95, 0.99])).astype(np.float64)
    if raw:
        level, scale = 2 * rng.standard_normal((queries, features)), np.exp(rng.standard_normal((queries, features)))
        Z = np.where(np.arange(features) < features // 2, (Z + level[q]) * scale[q], Z)
        Z = np.sign(Z) * np.abs(Z) ** 1.5
    return Dataset.from_arrays(Z.astype(np.float32), labels, group=sizes)


def _over(
    parts: list[Any], name: str, scores: Callable[[Parts], Any], found: dict[str, list[float]]
) -> Callable[[], None]:
    def run() -> None:
        means = [podium.evaluate(one[2], scores(one), "ndcg@10").means()["ndcg@10"].value for one in parts]
        found[name] = means

    return run


def ours(parts: Parts, spec: str = "lambdamart") -> Any:
    train, valid, test = parts
    return podium.train(train, spec, valid=valid).score(test)


def lightgbm(parts: Parts, **more: Any) -> Any:
    import lightgbm

    train, valid, test = parts
    settings = {"objective": "lambdarank", "metric": "ndcg", "eval_at": [10], "num_threads": 1, "verbosity": -1} | more
    first = lightgbm.Dataset(train.features, train.labels, group=train.sizes)
    other = first.create_valid(valid.features, valid.labels, group=valid.sizes)
    stop = [lightgbm.early_stopping(100, verbose=False)]
    return lightgbm.train(settings, first, 1000, [other], callbacks=stop).predict(test.features)


def xgboost(parts: Parts, **more: Any) -> Any:
    import xgboost

    train, valid, test = (
        xgboost.DMatrix(one.features, one.labels, qid=np.repeat(np.arange(one.n_queries), one.sizes)) for one in parts
    )
    settings = {"objective": "rank:ndcg", "eval_metric": "ndcg@10", "nthread": 1} | more
    grown = xgboost.train(
        settings, train, 1000, evals=[(valid, "valid")], early_stopping_rounds=100, verbose_eval=False
    )
    return grown.predict(test, iteration_range=(0, grown.best_iteration + 1))


def catboost(parts: Parts, **more: Any) -> Any:
    import catboost

    train, valid, test = (
        catboost.Pool(one.features, one.labels, group_id=np.repeat(np.arange(one.n_queries), one.sizes))
        for one in parts
    )
    model = catboost.CatBoostRanker(
        loss_function="YetiRank", eval_metric="NDCG:top=10;type=Exp", iterations=1000, thread_count=1,
        early_stopping_rounds=100, verbose=False, allow_writing_files=False, **more,
    )  # fmt: skip
    return model.fit(train, eval_set=valid).predict(test)


BOOSTERS: dict[str, Callable[..., Any]] = {
    OURS: ours,
    "podium, transform=identity": lambda parts: ours(parts, "lambdamart(transform=identity)"),
    "LightGBM": lightgbm,
    "XGBoost": xgboost,
    "CatBoost": catboost,
}
