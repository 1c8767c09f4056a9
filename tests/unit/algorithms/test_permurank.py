import itertools

import numpy as np
import pytest

from podium.algorithms import PermuRank
from podium.algorithms.permurank import _sums, _weights_of_places
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
