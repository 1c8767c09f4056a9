import numpy as np
import pytest

from podium.algorithms import OCSVM
from podium.base.errors import IncompatibleError
from podium.data.dataset import Dataset
from podium.solvers import Watch
from reference.algorithms import fixed_margin_svm, sum_of_margins_value


def small(seed, n=14, noise=0.7):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    utility = X @ [1.0, -0.5] + noise * rng.standard_normal(n)
    y = np.digitize(utility, np.quantile(utility, [1 / 3, 2 / 3]))
    return Dataset.from_arrays(X, y), y


def costs(y, cost, *, balanced=True, middle=1):
    """What each document's slacks cost: a grade's documents share the cost, a middle grade counts `middle` times.

    Where it is not balanced all cost the same, which is what the fewer documents of the outer grades share.
    """
    if not balanced:
        return np.full(len(y), cost / min(np.sum(y == 0), np.sum(y == y.max())))
    shared = np.bincount(y)[y] * np.where((y > 0) & (y < y.max()), middle, 1)
    return cost / shared


def learned(learner, data):
    return learner.learn(data, np.random.default_rng(0), Watch())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("cost", [0.1, 2.0])
@pytest.mark.parametrize("balanced", [False, True])
def test_the_fixed_margin_solution_is_that_of_a_general_solver(seed, cost, balanced):
    data, y = small(seed)
    found = learned(OCSVM(cost=4 * cost, balanced=balanced), data)
    w, _, value = fixed_margin_svm(data.features.astype(float), y, costs(y, 4 * cost, balanced=balanced))
    assert found.record["objective"] == pytest.approx(value, rel=1e-5)
    np.testing.assert_allclose(found.params["weights"], w, atol=2e-3)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("balanced", [False, True])
def test_the_sum_of_margins_is_the_least_over_all_directions(seed, balanced):
    data, y = small(seed, noise=0.1)
    X, C = data.features.astype(float), costs(y, 3.0, balanced=balanced, middle=2)
    found = learned(OCSVM(margins="sum", cost=3.0, balanced=balanced), data)
    w = found.params["weights"]
    assert np.linalg.norm(w) == pytest.approx(1, abs=1e-5)
    reached = sum_of_margins_value(X, y, C, w)
    assert reached < -0.01
    assert found.record["objective"] == pytest.approx(reached, abs=1e-5)
    turns = [sum_of_margins_value(X, y, C, np.array([np.cos(t), np.sin(t)])) for t in np.linspace(0, 2 * np.pi, 73)]
    assert reached <= min(*turns, 0.0) + 1e-6


def test_only_neighbouring_grades_share_a_threshold():
    # The outer grades lie far from their own threshold's other side: moving them further changes nothing.
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    y = [0, 0, 1, 1, 2, 2]
    near = learned(OCSVM(cost=20.0), Dataset.from_arrays(X, y)).params
    X[0], X[5] = -50.0, 50.0
    far = learned(OCSVM(cost=20.0), Dataset.from_arrays(X, y)).params
    np.testing.assert_allclose(near["weights"], [2.0], atol=1e-4)  # margin 1 on either side of a gap of 1
    np.testing.assert_allclose(near["thresholds"], [3.0, 7.0], atol=1e-3)
    np.testing.assert_allclose(far["weights"], near["weights"], atol=1e-4)
    assert OCSVM().grades(near, Dataset.from_arrays(X)).tolist() == y


def test_query_weights_count_as_repeated_queries():
    data, _ = small(5)
    two = [np.tile(data.features, (2, 1)), np.tile(data.labels, 2)]
    weighted = Dataset.from_arrays(data.features, data.labels, query_weights=[2.0])
    once, twice = learned(OCSVM(cost=1.0), weighted), learned(OCSVM(cost=1.0), Dataset.from_arrays(*two))
    np.testing.assert_allclose(once.params["weights"], twice.params["weights"], atol=1e-4)


def test_sparse_features_give_the_dense_answer():
    import scipy.sparse as sp

    data, _ = small(6)
    sparse = Dataset.from_arrays(sp.csr_array(data.features), data.labels)
    dense, other = learned(OCSVM(), data).params, learned(OCSVM(), sparse).params
    np.testing.assert_allclose(dense["weights"], other["weights"], atol=1e-6)


@pytest.mark.parametrize("margins", ["fixed", "sum"])
def test_few_documents_of_the_upper_grades_are_not_given_up(margins):
    rng = np.random.default_rng(8)
    X = rng.standard_normal((600, 3))
    utility = X @ [1.0, -0.5, 0.0] + 0.7 * rng.standard_normal(600)
    y = np.digitize(utility, np.quantile(utility, [0.9, 0.97]))
    w = learned(OCSVM(margins=margins, cost=1.01), Dataset.from_arrays(X, y)).params["weights"]
    assert w @ [1.0, -0.5, 0.0] > 0.9 * np.linalg.norm(w) * np.sqrt(1.25) > 0


def test_a_cost_that_leaves_the_margins_unbounded_is_refused():
    data, _ = small(7)
    with pytest.raises(IncompatibleError, match="Use a cost above 1"):
        OCSVM(margins="sum", cost=0.9).check(data)


def test_margins_that_are_not_worth_their_slack_are_reported():
    found = learned(OCSVM(margins="sum", cost=50.0), small(3, noise=3.0)[0])
    assert "use a cost nearer to 1" in found.record["stopped"]
    assert not found.params["weights"].any()


def test_data_beyond_memory_is_refused_with_what_it_would_need():
    n = 1_000_000
    labels = np.arange(n) % 2.0
    with pytest.raises(IncompatibleError, match=r"would need about \d+ GB"):
        OCSVM().check(Dataset(np.broadcast_to(np.float32(0), (n, 136)), labels, np.array([0, n])))
