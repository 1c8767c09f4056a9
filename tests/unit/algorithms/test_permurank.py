import itertools

import numpy as np
import pytest

from podium.algorithms import PermuRank
from podium.algorithms.permurank import _sums, _weights_of_places
from podium.algorithms.working_set_programs import Pairs, losses, minimise, objective
from podium.base.errors import DataError, IncompatibleError
from podium.data.dataset import Dataset
from podium.metrics import Metric
from podium.solvers import Watch
from podium.solvers.quadratic_program import minimise_hinge
from podium.testing import linear_data


def test_the_score_of_a_ranking_is_its_mean_over_pairs():
    data = linear_data(1, 5)
    order = np.array([3, 0, 4, 1, 2])
    pairs = [data.features[i].astype(float) - data.features[j] for i, j in itertools.combinations(order, 2)]
    expected = 2 / (5 * 4) * np.sum(pairs, axis=0)
    np.testing.assert_allclose(_sums(data, _weights_of_places(data, order))[0], expected, rtol=1e-6)


@pytest.mark.parametrize(("perfect", "best"), [("nearest", max), ("violated", min)])
def test_the_perfect_ranking_added_has_the_largest_or_the_least_score(perfect, best):
    data, w = linear_data(1, 6, seed=2), np.random.default_rng(2).standard_normal(3)
    value = lambda order: data.features @ w @ _weights_of_places(data, np.array(order))  # noqa: E731
    every = [o for o in itertools.permutations(range(6)) if (np.diff(data.labels[list(o)]) <= 0).all()]
    found, by_score = PermuRank(perfect=perfect)._by_score(data, w)
    assert value(found) == pytest.approx(best(map(value, every)))
    assert value(by_score) == pytest.approx(max(map(value, itertools.permutations(range(6)))))
    assert len(every) > 1


def test_a_hinge_program_reaches_its_known_optimum():
    # min ½θ² + c[1 − aθ]_+ has θ = min(c·a, 1/a).
    import scipy.sparse as sp

    for a, c in ((2.0, 0.1), (2.0, 5.0), (0.5, 1.0)):
        theta = minimise_hinge(sp.csr_array([[a]]), np.array([c]), np.ones(1), who="test")
        assert theta[0] == pytest.approx(min(c * a, 1 / a), abs=1e-6)


@pytest.mark.parametrize("name", ["map", "ndcg@3"])
def test_it_orders_what_can_be_ordered(name):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 3))
    data = Dataset.from_arrays(X, np.digitize(X @ [1.0, 2.0, -1.0], [-1.0, 1.0]), group=np.full(10, 6))
    learner = PermuRank(metric=Metric.parse(name), cost=1e4, rounds=20)
    found = learner.learn(data, rng, Watch())
    values = learner.metric(learner.score(found.params, data), data.labels, data.offsets)
    assert np.nanmean(values) > 0.98


def test_preferences_and_measures_that_see_no_difference_are_refused():
    with pytest.raises(IncompatibleError, match="only preferences"):
        PermuRank().check(Dataset.from_arrays(np.eye(2), preferences=([0], [1])))
    with pytest.raises(DataError, match="cannot tell two rankings"):
        PermuRank().check(Dataset.from_arrays(np.eye(4), [1, 2, 1, 2]))


SURROGATES = ["hinge", "exponential", "logistic"]


def random_pairs(seed):
    rng = np.random.default_rng(seed)
    query = np.sort(np.append(np.arange(4), rng.integers(4, size=11)))
    return Pairs(rng.standard_normal((15, 3)), rng.uniform(0.1, 1.0, 15), query, rng.uniform(0.2, 3.0, 4))


@pytest.mark.parametrize("surrogate", SURROGATES)
@pytest.mark.parametrize("seed", range(3))
def test_every_bound_is_at_least_the_worst_gap_of_a_wrong_pair(surrogate, seed):
    pairs, w = random_pairs(seed), np.random.default_rng(seed).standard_normal(3) * 3
    wrong = pairs.gaps * (pairs.rows @ w <= 0)
    worst = [wrong[pairs.query == q].max() for q in range(4)]  # (4.25) of the book
    least = 0.5 * w @ w + pairs.cost @ worst
    most, total = (objective(pairs, w, surrogate, over) for over in ("max", "sum"))
    assert total >= most >= least


@pytest.mark.parametrize("surrogate", SURROGATES)
def test_derivatives_of_the_bounds_are_their_slopes(surrogate):
    pairs, h = random_pairs(7), 1e-6
    for w in (np.array([0.3, -0.2, 0.1]), np.array([4.0, -7.0, 2.0])):
        step = np.array([0.2, 0.5, -0.4])
        change = (losses(pairs, w + h * step, surrogate)[0] - losses(pairs, w - h * step, surrogate)[0]) / (2 * h)
        np.testing.assert_allclose(change, losses(pairs, w, surrogate)[1] * (pairs.rows @ step), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("surrogate", SURROGATES)
@pytest.mark.parametrize("over", ["sum", "max"])
def test_each_program_reaches_a_minimum(surrogate, over):
    pairs = random_pairs(1)
    w = minimise(pairs, surrogate, over, who="test")
    least, rng = objective(pairs, w, surrogate, over), np.random.default_rng(0)
    assert least < objective(pairs, np.zeros(3), surrogate, over)
    for size in (1.0, 0.1, 0.01):
        around = [objective(pairs, w + size * rng.standard_normal(3), surrogate, over) for _ in range(50)]
        assert min(around) >= least - 1e-5


@pytest.mark.parametrize("surrogate", SURROGATES)
@pytest.mark.parametrize("over", ["sum", "max"])
def test_every_bound_learns(surrogate, over):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 3))
    data = Dataset.from_arrays(X, np.digitize(X @ [1.0, 2.0, -1.0], [-1.0, 1.0]), group=np.full(10, 6))
    learner = PermuRank(cost=100.0, rounds=5, surrogate=surrogate, over=over)
    values = learner.metric(learner.score(learner.learn(data, rng, Watch()).params, data), data.labels, data.offsets)
    assert np.nanmean(values) > 0.95
