"""Learning from clicks with and without their bias: the runs of `python -m benchmarks.unbiased`.

Made data with planted grades: 200 queries to learn from and 200 others to measure on. Two weak production rankers,
each trained on two random queries, show whole lists; a coin says whose. People look at rank k with θ_k = 1/k and click
on what they look at with 0.1 + 0.9 · grade/largest grade. Each run is repeated with other seeds, which make other data,
other rankers and other clicks; differences are paired by seed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy.stats import t as student

from benchmarks.peers import peer
from podium.base.errors import PodiumWarning
from podium.clicks import ClickLog, Propensities, page_data, simulate, simulate_counts, weights
from podium.clicks.connected_ranks import parts_of_ranks
from podium.clicks.simulate import click_chance, examination_curve
from podium.data import Dataset, make_letor_like
from podium.formats import read_folder
from podium.methods import method
from podium.metrics import Metric
from podium.propensities import propensities
from podium.training import train

SEEDS = 5
SIZES = [10_000, 30_000, 100_000, 300_000, 1_000_000]
LOSSES = ["softmax", "ranknet", "squared-hinge", "exponential", "listnet", "lambdarank(metric=ndcg@30)"]
# chosen for all losses and weights alike on data of the seeds 100 to 103, which are not reported: networks of 20 to 200
# epochs and penalties of 0 to 0.1, trees with learning rates of 0.05 and 0.1
SCORERS = {
    "linear": "scorer=linear,solver={solver}",
    "mlp": "scorer=mlp(hidden=[16]),solver=adam(epochs=100,batch=10,learning_rate=0.01,penalty=0.03)",
    "trees": "scorer=trees(num_leaves=7),solver=boosting(rounds=60,learning_rate=0.1),transform=identity",
}
ESTIMATORS = [
    "harvest(draws=0)", "harvest(by=pivot,draws=0)", "harvest(by=chain,draws=0)", "click-model(draws=0)",
    "click-model(model=ubm(prior=0.01),draws=0)", "click-model(model=dbn(prior=0.01),draws=0)", "trust(draws=0)",
    "regression-em(draws=0)", "dual(draws=0)", "pairwise(rounds=5)", "randomised",
]  # fmt: skip
NDCG = Metric.parse("ndcg@10")
Array = np.ndarray


@dataclass(frozen=True)
class World:
    """Queries to learn from, others to measure on, and the scores of the production rankers."""

    train: Dataset
    test: Dataset
    rankers: list[Array]
    seed: int

    @property
    def theta(self) -> Propensities:
        return Propensities.of_theta(examination_curve(int(self.train.sizes.max())), how="true θ")

    def counts(self, pages: int) -> ClickLog:
        return simulate_counts(self.train, self.rankers, pages=pages, seed=self.seed)


def made(seed: int) -> World:
    data, _ = make_letor_like(400, (20, 40), seed=seed)
    return world(data.select(range(200)), data.select(range(200, 400)), seed)


def world(training: Dataset, test: Dataset, seed: int) -> World:
    """Two rankers, each of `softmax` on two random queries that have relevant documents."""
    rng = np.random.default_rng(1000 + seed)
    good = np.flatnonzero(np.add.reduceat(training.labels > 0, training.offsets[:-1]) > 0)
    rankers = [
        train(training.select(rng.choice(good, 2, replace=False)), "softmax(penalty=0.01)").score(training)
        for _ in range(2)
    ]
    return World(training, test, rankers, seed)


def kinds(here: World, log: ClickLog) -> dict[str, Dataset]:
    """The training data with naive weights, with those of the true propensities, and with the oracle's."""
    ips = quietly(weights, log, here.theta, here.train).data
    naive = quietly(weights, log, None, here.train).data
    total = ips.document_weights.sum() / naive.document_weights.sum()
    return {
        "naive": replace(naive, document_weights=naive.document_weights * total),
        "ips": ips,
        "oracle": replace(ips, document_weights=click_chance(here.train)),
    }


def quality(here: World, data: Dataset, recipe: str) -> float:
    """NDCG@10 on the test queries, with true grades."""
    return measured(here.test, quietly(train, data, method(recipe)).score(here.test))


def measured(test: Dataset, scores: Array) -> float:
    return float(np.nanmean(NDCG(scores, test.labels, test.offsets)))


def quietly(call: Callable[..., Any], *given: Any, **named: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PodiumWarning)
        return call(*given, **named)


def recipe(loss: str, scorer: str) -> str:
    solver = (
        "adam(epochs=20,batch=10,learning_rate=0.03)"
        if loss.startswith("lambdarank")
        else "lbfgs(penalty=0.01,iterations=50)"
    )
    if scorer == "mlp" and loss in ("ranknet", "squared-hinge", "exponential"):
        loss += "(normalise=true)"  # a mean over pairs, so that one penalty fits all losses
    made = SCORERS[scorer].format(solver=solver)
    if loss.startswith("lambdarank"):  # whose forces are a sum over pairs
        made = made.replace("penalty=0.03", "penalty=0.1")
    return f"recipe(loss={loss},{made})"


SOFTMAX = recipe("softmax", "linear")


def over_pages(worlds: list[World]) -> dict[str, Array]:
    """Quality by the number of pages: of naive, true θ, harvested θ and the oracle (seeds, sizes)."""
    found: dict[str, list[list[float]]] = {}
    for here in worlds:
        oracle: float | None = None
        row: dict[str, list[float]] = {}
        for pages in SIZES:
            log = here.counts(pages)
            data = kinds(here, log)
            harvested = quietly(propensities, log, "harvest(draws=0)")
            data["ips, θ harvested"] = quietly(weights, log, harvested, here.train).data
            for kind, one in data.items():
                value = oracle if kind == "oracle" and oracle is not None else quality(here, one, SOFTMAX)
                oracle = value if kind == "oracle" else oracle
                row.setdefault("ips, true θ" if kind == "ips" else kind, []).append(value)
        row["production rankers"] = [np.mean([measured(here.train, s) for s in here.rankers])] * len(SIZES)
        for kind, values in row.items():
            found.setdefault(kind, []).append(values)
    return {kind: np.array(values) for kind, values in found.items()}


def over_losses(worlds: list[World], pages: int) -> Iterator[tuple[str, str, dict[str, Array]]]:
    """(loss, scorer, quality by kind of weights (seeds,))."""
    data = [kinds(here, here.counts(pages)) for here in worlds]
    for scorer in SCORERS:
        for loss in LOSSES:
            what = recipe(loss, scorer)
            found = {
                kind: np.array([quality(here, one[kind], what) for here, one in zip(worlds, data, strict=True)])
                for kind in ("naive", "ips", "oracle")
            }
            yield loss, scorer, found


def from_grades(worlds: list[World], loss: str, scorer: str) -> Array:
    """Quality of a learner that is given the true grades (seeds,)."""
    return np.array([quality(here, here.train, recipe(loss, scorer)) for here in worlds])


def over_estimators(worlds: list[World], pages: int) -> dict[str, tuple[Array, Array]]:
    """Of each estimator: θ@10 over the truth, and the quality with its θ (seeds,)."""
    found: dict[str, list[tuple[float, float]]] = {}
    for here in worlds:
        log = simulate(here.train, here.rankers, pages=pages, seed=here.seed)
        for how in ESTIMATORS:
            theta = quietly(propensities, log, how, here.train, depth=_depth(here))
            data = quietly(weights, log, theta, here.train).data
            found.setdefault(how, []).append((theta.theta[9] * 10, quality(here, data, SOFTMAX)))
        found.setdefault("true θ", []).append((1.0, quality(here, kinds(here, log)["ips"], SOFTMAX)))
    return {how: tuple(np.array(rows).T) for how, rows in found.items()}  # type: ignore[misc]


def _depth(here: World) -> int:
    """The ranks that every query has: lower ones are shown too rarely for chain and pivot."""
    return int(here.train.sizes.min())


def over_peers(worlds: list[World], pages: int) -> dict[str, Array | str]:
    """Boosters on clicks of pages: quality (seeds,), or why there is none."""
    found: dict[str, Array | str] = {}
    tools: dict[str, Callable[[World, ClickLog], float]] = {
        "podium lambdamart, naive": lambda here, log: quality(here, kinds(here, log)["naive"], BOOSTED),
        "podium lambdamart, ips with harvested θ": lambda here, log: _harvested(here, log, BOOSTED, by="weights"),
        "podium lambdamart(damped=false,by_grade=0), offsets of harvested θ": lambda here, log: _harvested(
            here, log, BOOSTED.replace(")", ",damped=false,by_grade=0)"), by="offsets"
        ),
        "podium softmax × trees, offsets of harvested θ": lambda here, log: _harvested(
            here, log, recipe("softmax", "trees"), by="offsets"
        ),
        "podium lambdamart, bias of positions learned": lambda here, log: quality(
            here, page_data(log, here.train), BOOSTED
        ),
        "podium lambdamart(unbiased=true), ratios of positions learned": lambda here, log: quality(
            here, page_data(log, here.train), BOOSTED.replace(")", ",unbiased=true)")
        ),
        "LightGBM lambdarank": lambda here, log: _lightgbm(here, log, position=False),
        "LightGBM lambdarank, position": lambda here, log: _lightgbm(here, log, position=True),
        "XGBoost rank:ndcg": lambda here, log: _xgboost(here, log, unbiased=False),
        "XGBoost rank:ndcg, lambdarank_unbiased": lambda here, log: _xgboost(here, log, unbiased=True),
    }
    logs = [simulate(here.train, here.rankers, pages=pages, seed=here.seed) for here in worlds]
    for name, call in tools.items():
        module = peer("lightgbm" if "LightGBM" in name else "xgboost" if "XGBoost" in name else "podium")
        if isinstance(module, str):
            found[name] = module
        else:
            found[name] = np.array([call(here, log) for here, log in zip(worlds, logs, strict=True)])
    return found


BOOSTED = "lambdamart(num_leaves=7,rounds=60)"


def _harvested(here: World, log: ClickLog, method: str, *, by: Literal["weights", "offsets"]) -> float:
    theta = quietly(propensities, log, "harvest(draws=0)")
    return quality(here, quietly(weights, log, theta, here.train, by=by).data, method)


def _impressions(here: World, log: ClickLog) -> tuple[Array, Array]:
    """The features of each impression, and its page."""
    rows = np.full(log.n_pairs + 1, -1)
    found = log.find_pairs(here.train.query_ids[here.train.query_index], here.train.document_ids)
    rows[found] = np.arange(len(found))
    return here.train.features[rows[log.pairs]], log.page_of


def _lightgbm(here: World, log: ClickLog, *, position: bool) -> float:
    import lightgbm

    X, _ = _impressions(here, log)
    more = {"position": log.ranks() - 1} if position else {}
    data = lightgbm.Dataset(X, log.clicks, group=log.sizes, **more)
    settings = {"objective": "lambdarank", "num_leaves": 7, "learning_rate": 0.1, "verbose": -1, "num_threads": 1}
    model = lightgbm.train(settings, data, num_boost_round=60)
    return measured(here.test, model.predict(here.test.features))


def _xgboost(here: World, log: ClickLog, *, unbiased: bool) -> float:
    import xgboost

    X, page = _impressions(here, log)
    data = xgboost.DMatrix(X, log.clicks, qid=page)
    settings = {
        "objective": "rank:ndcg", "max_leaves": 7, "grow_policy": "lossguide", "eta": 0.1, "tree_method": "hist",
        "lambdarank_unbiased": unbiased, "lambdarank_pair_method": "topk", "nthread": 1,
    }  # fmt: skip
    model = xgboost.train(settings, data, num_boost_round=60)
    return measured(here.test, model.predict(xgboost.DMatrix(here.test.features)))


def over_folds(folder: str, sizes: list[int]) -> dict[str, Array]:
    """As `over_pages`, on LETOR's folds: (folds, sizes)."""
    worlds = [world(fold.train.grouped(), fold.test.grouped(), k) for k, fold in enumerate(read_folder(folder))]
    found: dict[str, list[list[float]]] = {}
    for here in worlds:
        row: dict[str, list[float]] = {}
        for pages in sizes:
            log = here.counts(pages)
            data = kinds(here, log)
            for how in ("harvest(draws=0)", "click-model(draws=0)"):
                theta = quietly(propensities, log, how, depth=_connected(log))
                data[f"ips, θ by {how.partition('(')[0]}"] = quietly(weights, log, theta, here.train).data
            for kind, one in data.items():
                row.setdefault("ips, true θ" if kind == "ips" else kind, []).append(quality(here, one, SOFTMAX))
        for kind, values in row.items():
            found.setdefault(kind, []).append(values)
    return {kind: np.array(values) for kind, values in found.items()}


def _connected(log: ClickLog) -> int:
    """The ranks from the top that can be compared: of the longest lists the last ranks cannot."""
    parts = parts_of_ranks(log)
    return int(np.flatnonzero(np.append(parts, 0) != 1)[0])


def spread(values: Array) -> float:
    """Half of the 95 % interval of a mean over seeds."""
    return float(student.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))


def mean_of(values: Array) -> str:
    return f"{values.mean():.3f} ± {spread(values):.3f}"
