"""Truncated Newton: the minimum of Ranking SVM by another road, its tolerance, and its refusals."""

import numpy as np
import pytest
from scipy.optimize import minimize

from podium.base.errors import IncompatibleError
from podium.data.dataset import Dataset
from podium.data.synthetic import make_letor_like
from podium.kernels.violations import LONG
from podium.losses import Hinge, SquaredHinge, product
from podium.problem import Problem
from podium.scorers import MLP, Linear
from podium.solvers import LBFGS, Newton, Watch
from podium.testing import linear_data
from podium.training import train

DATA = linear_data(12, 9, n_features=4)


def solved(solver, data=DATA, loss=SquaredHinge()):  # noqa: B008  (a frozen value)
    return solver.solve(Problem(loss, Linear(), data, solver.penalty), np.random.default_rng(0), Watch())


@pytest.mark.parametrize("penalty", [0.01, 1.0, 100.0])
def test_ranking_svm_equals_brute_force_over_all_pairs(penalty):
    X = DATA.features.astype(np.float64)
    pairs = [
        (i, j) for a in range(0, len(X), 9) for i in range(a, a + 9) for j in range(a, a + 9)
        if DATA.labels[i] > DATA.labels[j]
    ]  # fmt: skip
    differences = np.array([X[i] - X[j] for i, j in pairs])

    def objective(w):
        short = np.maximum(0.0, 1 - differences @ w)
        return short @ short / DATA.n_queries + penalty / 2 * w @ w

    expected = minimize(objective, np.zeros(4), method="BFGS", options={"gtol": 1e-9}).x
    found = solved(Newton(penalty=penalty, tolerance=1e-10))
    np.testing.assert_allclose(found.params["theta"][:4], expected, rtol=1e-4, atol=1e-6)
    assert abs(found.params["theta"][4]) < 1e-12  # the offset, which no pair sees


def test_it_stops_at_its_tolerance():
    problem = Problem(SquaredHinge(), Linear(), DATA, 0.1)
    start = np.linalg.norm(problem(np.zeros(5))[1])
    for tolerance in (1e-1, 1e-4, 1e-8):
        found = solved(Newton(tolerance=tolerance))
        assert np.linalg.norm(problem(found.params["theta"])[1]) <= tolerance * start
        assert found.reason.startswith("converged")


def test_it_needs_fewer_steps_than_lbfgs_and_finds_the_same():
    data = make_letor_like(30, n_features=20)[0]
    features = (data.features - data.features.mean(0)) / data.features.std(0)
    data = Dataset.from_arrays(features, data.labels, group=data.sizes)
    newton, other = solved(Newton(tolerance=1e-8), data), solved(LBFGS(tolerance=1e-14, iterations=2000), data)
    assert newton.value == pytest.approx(other.value, rel=1e-8)
    assert newton.iterations < 0.5 * other.iterations


def test_queries_of_any_length_have_the_same_products():
    """Long queries multiply by sorting, short ones pair by pair."""
    rng, n = np.random.default_rng(0), LONG + 40
    scores, labels, v = rng.normal(size=n), rng.integers(0, 4, n), rng.normal(size=n)
    data = Dataset.from_arrays(np.zeros((n, 1)), labels, group=[n])
    violated = (labels[:, None] > labels) & (scores[:, None] - scores < 1)
    both = violated | violated.T
    expected = 2 * (both.sum(1) * v - both @ v)
    np.testing.assert_allclose(product(SquaredHinge(), scores, data, direction=v), expected, rtol=1e-9, atol=1e-9)


def test_nothing_to_learn_is_no_trouble():
    flat = Dataset.from_arrays(np.zeros((4, 2)), [0, 1, 0, 1], group=[2, 2])
    assert solved(Newton(), flat).params["theta"].tolist() == [0.0, 0.0, 0.0]


def test_what_it_cannot_move_is_refused_with_advice():
    with pytest.raises(IncompatibleError, match=r"multiplies by its Hessian; got hinge\. Use solver=lbfgs"):
        Newton().check(Hinge(), Linear())
    with pytest.raises(IncompatibleError, match=r"linear in their parameters; got mlp\. Use solver=adam"):
        Newton().check(SquaredHinge(), MLP())


def test_an_exact_kernel_of_a_million_documents_is_refused_with_the_memory_it_would_need():
    many = Dataset.from_arrays(np.zeros((1_000_000, 1), np.float32), np.arange(1_000_000) % 2, group=[10] * 100_000)
    with pytest.raises(IncompatibleError, match=r"1000000 documents .* 28000 GB .* Use nystrom\(components=300\)"):
        train(many, "ranking-svm-kernel(transform=nystrom(components=none))")
