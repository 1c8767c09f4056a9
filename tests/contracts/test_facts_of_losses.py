"""Facts that losses state about themselves: bounds of metrics, and consistency. Each test would refute a wrong one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from podium.losses import Loss
from podium.losses.bounds import Bound
from podium.metrics import Metric
from podium.testing import instances

STATED = [
    loss
    for cls in Loss.catalogue().values()
    for loss in (*instances(cls), *(loss for loss in [cls()] if hasattr(loss, "normalise")))
    if loss.bounds()
]
MORE = [
    "hinge(normalise=true)", "ranknet(normalise=true)", "frank(normalise=true)", "structrank(learn=false)",
    "structrank(normalise=true)", "structrank(topology=disconnected)", "softmax(target=gain-share)",
    "regression(target=gain)", "lambdarank(metric=ndcg@3)", "listmle(samples=50)",
    "lambda-loss(scheme=ndcg1)", "lambda-loss(scheme=ndcg2++)",
]  # fmt: skip
STATED = list(dict.fromkeys([*STATED, *map(Loss.parse, MORE)]))
TIGHT = {
    "hinge",
    "squared-hinge",
    "exponential",
    "rank-regress",
    "ranknet",
    "frank",
    "listmle",
    "lambdarank",
    "lambda-loss",
}
BOUNDS = [(loss, bound) for loss in STATED for bound in loss.bounds()]


def metric_of(bound: Bound, labels: np.ndarray) -> Metric:
    if bound.metric == "ndcg[gain=e^y]":
        table = ",".join(repr(float(np.exp(grade))) for grade in range(int(labels.max()) + 1))
        return Metric.parse(f"ndcg[gain=[{table}]]")
    return Metric.parse(bound.metric)


def queries(bound: Bound, loss: Loss, number: int, seed: int):
    """Scores and labels: random, tied, nearly separated, and with one badly misplaced document."""
    rng = np.random.default_rng(seed)
    for k in range(number):
        n = int(rng.integers(2, 8))
        labels = rng.integers(0, 2 if bound.two_grades else 5, n).astype(float)
        if len(set(labels)) == 1:
            labels[0] = 1.0 - min(labels[0], 1.0)
        scores = rng.normal(size=n)
        if k % 5 == 1 and loss.name not in ("lambdarank", "lambda-loss"):  # which rank equal scores in one order
            scores = rng.integers(0, 3, n).astype(float)
        elif k % 5 == 2:
            scores = labels * 20.0 + 1e-3 * scores
        elif k % 5 == 3:
            scores = labels * 20.0 + 1e-3 * scores
            scores[rng.integers(n)] = rng.choice([-1.0, 1.0]) * 1e-6
        elif k % 5 == 4:
            scores *= 1e-6
        yield scores, labels


def worst(loss: Loss, bound: Bound, share: float = 1.0) -> float:
    """The largest amount by which a metric is below its bound, if only a share of the loss is reported."""
    below = -np.inf
    for scores, labels in queries(bound, loss, 300, seed=7):
        value = metric_of(bound, labels)(scores, labels, [0, len(labels)])[0]
        if np.isfinite(value):
            below = max(below, bound.least(share * loss(scores, labels).value, labels) - value)
    return below


@pytest.mark.parametrize(
    ("loss", "bound"), BOUNDS, ids=lambda part: repr(part) if isinstance(part, Loss) else str(part)
)
def test_no_ranking_is_below_a_stated_bound(loss, bound):
    assert worst(loss, bound) <= 1e-9


@pytest.mark.parametrize("name", sorted(TIGHT))
def test_half_of_a_tight_bound_would_be_wrong(name):
    loss = Loss.parse(name)
    assert worst(loss, loss.bounds()[0], share=0.5) > 0.05


def test_a_normalised_loss_is_multiplied_by_the_number_of_its_pairs():
    scores, labels = np.array([0.1, 0.4, -0.2, 0.3]), np.array([2.0, 1.0, 0.0, 0.0])
    for name in ("hinge", "ranknet", "frank", "structrank"):
        sums, means = (Loss.parse(f"{name}(normalise={word})") for word in ("false", "true"))
        for one, other in zip(sums.bounds(), means.bounds(), strict=True):
            expected = one.least(sums(scores, labels).value, labels)
            assert other.least(means(scores, labels).value, labels) == pytest.approx(expected)


PERMUTATIONS = np.array(list(itertools.permutations(range(3))))


def laws(number: int):
    """Random distributions over two to four label vectors of three documents with grades 0 to 2."""
    rng = np.random.default_rng(3)
    vectors = [np.array(y, float) for y in itertools.product(range(3), repeat=3) if any(y)]
    for _ in range(number):
        chosen = rng.choice(len(vectors), int(rng.integers(2, 5)), replace=False)
        yield [vectors[k] for k in chosen], rng.dirichlet(np.ones(len(chosen)))


def wrong(loss: Loss, metric: Metric, number: int = 40) -> int:
    """Number of laws whose scores of least expected loss do not have the best expected metric."""
    count = 0
    for vectors, odds in laws(number):
        expected = np.array([
            sum(p * metric(-np.argsort(order).astype(float), y, [0, 3])[0] for y, p in zip(vectors, odds, strict=True))
            for order in PERMUTATIONS
        ])  # fmt: skip
        if np.sort(expected)[-1] - np.sort(expected)[-2] < 1e-3:  # nearly tied: the minimiser's digits would decide
            continue

        def risk(s: np.ndarray, vectors=vectors, odds=odds) -> tuple[float, np.ndarray]:
            parts = [loss(s, y) for y in vectors]
            return sum(p * part.value for p, part in zip(odds, parts, strict=True)), sum(
                p * part.gradient for p, part in zip(odds, parts, strict=True)
            )

        best = minimize(risk, np.zeros(3), jac=True, options={"gtol": 1e-9}).x
        count += bool(expected.max() - expected[(np.argsort(-best) == PERMUTATIONS).all(axis=1)][0] > 1e-9)
    return count


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loss", "metric"),
    [
        (loss, metric)
        for loss in map(Loss.parse, ["regression", "regression(target=gain)", "regression(target=gain-share)",
                                     "softmax", "softmax(target=gain-share)"])
        for metric in loss.consistent_for()
    ],
    ids=str,
)  # fmt: skip
def test_the_scores_of_least_expected_loss_rank_best_for_the_stated_metric(loss, metric):
    assert wrong(loss, Metric.parse(metric)) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["regression", "regression(target=gain)", "softmax", "listnet", "ranknet", "listmle"])
def test_no_other_target_is_consistent_for_ndcg(name):
    loss = Loss.parse(name)
    assert "ndcg" not in loss.consistent_for()
    assert wrong(loss, Metric.parse("ndcg")) > 0


def misordered(loss: Loss, number: int = 60) -> int:
    """Number of lists of probabilities that the scores of least expected loss do not put in order."""
    rng, count = np.random.default_rng(5), 0
    for _ in range(number):
        odds = np.sort(rng.uniform(0.02, 0.98, 4))[::-1]
        if (np.diff(-odds) < 0.02).any():
            continue
        pairs = [(i, j, 1.0, odds[i] * (1.0 - odds[j])) for i, j in itertools.permutations(range(4), 2)]

        def risk(s: np.ndarray, pairs=pairs) -> tuple[float, np.ndarray]:
            part = loss(s, np.array(pairs))
            return part.value, part.gradient

        best = minimize(risk, rng.normal(size=4) * 0.01, jac=True, options={"gtol": 1e-9}).x
        count += bool((np.diff(best) > -1e-6).any())
    return count


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ranknet", "exponential", "squared-hinge"])
def test_the_best_scores_are_in_the_order_of_independent_probabilities(name):
    assert "auc (independent labels 0 and 1)" in Loss.parse(name).consistent_for()
    assert misordered(Loss.parse(name)) == 0


@pytest.mark.slow
def test_the_hinge_is_not_consistent_for_auc():
    """Gao & Zhou, On the consistency of AUC pairwise optimization, IJCAI 2015."""
    assert Loss.parse("hinge").consistent_for() == ()
    assert misordered(Loss.parse("hinge")) > 0


def test_a_convex_loss_claims_nothing_for_map_or_err():
    """No convex function of scores is consistent for them (Calauzènes, Usunier & Gallinari, 2012)."""
    for cls in Loss.catalogue().values():
        assert not {"map", "err", "pair-accuracy"} & set(cls().consistent_for()), cls
