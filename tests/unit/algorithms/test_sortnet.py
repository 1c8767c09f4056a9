import numpy as np
import pytest

from podium.algorithms import SortNet
from podium.algorithms.sortnet import _pairs, _start, _with_misordered
from podium.base.errors import ModelFileError
from podium.data.dataset import Dataset
from podium.solvers import Watch
from podium.testing import linear_data


def network(learner, n_features, *, seed=0, scale=4.0):
    """A random comparator; large weights make it far from transitive."""
    theta = scale * np.random.default_rng(seed).standard_normal(len(_start(n_features, learner.hidden, default())))
    return learner._as_params(theta, n_features)


def default():
    return np.random.default_rng(0)


def one_query(n=40, seed=0):
    return Dataset.from_arrays(np.random.default_rng(seed).standard_normal((n, 3)))


def test_the_comparator_is_antisymmetric():
    learner = SortNet(hidden=4)
    answers = learner.compare(network(learner, 3), one_query())
    np.testing.assert_array_equal(answers, -answers.T)
    assert np.abs(answers).max() > 0.5


def test_swapping_documents_swaps_the_outputs():
    # N≻(x, y) = N≺(y, x), written out from the weights.
    learner, data = SortNet(hidden=3), one_query(2)
    params = network(learner, 3)
    (V, U), b, (w, w_, (c, *_)) = params["first"], params["bias"], params["out"]
    x, y = data.features.astype(float)
    sigmoid = lambda z: 1 / (1 + np.exp(-z))  # noqa: E731
    u, v = sigmoid(x @ V + y @ U + b), sigmoid(y @ V + x @ U + b)
    expected = sigmoid(w @ u + w_ @ v + c) - sigmoid(w @ v + w_ @ u + c)
    assert learner.compare(params, data)[0, 1] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("probability", [1.0, 0.7])
def test_the_gradient_passes_finite_differences(probability):
    data = Dataset.from_arrays(default().standard_normal((5, 3)), preferences=([0, 1, 4], [2, 3, 0], [probability] * 3))
    learner, pairs = SortNet(hidden=2), _pairs(data)
    theta = default().standard_normal(len(_start(3, 2, default())))
    _, gradient = learner._loss(theta, data, pairs, 0)
    for at, step in enumerate(1e-6 * np.eye(len(theta))):
        up, down = (learner._loss(theta + sign * step, data, pairs, 0)[0] for sign in (1, -1))
        assert gradient[at] == pytest.approx((up - down) / 2e-6, rel=1e-6, abs=1e-9)


def test_sorting_ends_and_places_every_document_once_also_where_answers_go_in_circles():
    learner, circles = SortNet(hidden=6), 0
    for seed in range(20):
        data, params = one_query(33, seed), network(learner, 3, seed=seed)
        wins = learner.compare(params, data) > 0
        circles += any(wins[i, j] and wins[j, k] and wins[k, i] for i in range(9) for j in range(9) for k in range(9))
        assert sorted(learner.score(params, data)) == list(range(33))
    assert circles > 0


def test_sorting_agrees_with_answers_that_are_transitive():
    learner = SortNet(hidden=1)
    # u − v depends on x − y alone through V = −U: the comparator is a score.
    first = np.array([[[1.0], [0.5], [0.0]], [[-1.0], [-0.5], [0.0]]])
    params = {"first": first, "bias": np.zeros(1), "out": np.array([[1.0], [0.0], [0.0]])}
    data = one_query(50)
    utility = data.features @ first[0, :, 0]
    for order in ("sort", "wins"):
        scores = SortNet(hidden=1, order=order).score(params, data)
        np.testing.assert_array_equal(np.argsort(scores), np.argsort(utility))
    assert learner.score(params, data).max() == 49


def test_wins_are_counted():
    learner = SortNet(hidden=4, order="wins")
    data, params = one_query(12), network(learner, 3)
    np.testing.assert_array_equal(learner.score(params, data), np.sum(learner.compare(params, data) > 0, axis=1))


@pytest.mark.parametrize("order", ["sort", "wins"])
def test_equal_documents_get_equal_scores_and_the_order_of_rows_does_not_matter(order):
    learner, X = SortNet(hidden=5, order=order), one_query(20).features.copy()
    X[7] = X[3]
    params, rows = network(learner, 3), default().permutation(20)
    scores = learner.score(params, Dataset.from_arrays(X))
    np.testing.assert_array_equal(learner.score(params, Dataset.from_arrays(X[rows])), scores[rows])
    assert order == "sort" or scores[3] == scores[7]


def test_misordered_pairs_count_twice():
    data = Dataset.from_arrays(np.eye(3), [2, 1, 0])
    again = _with_misordered(_pairs(data), np.array([1.0, 2.0, 0.0]), data.offsets)
    assert dict(zip(zip(again.winner, again.loser, strict=True), again.weight, strict=True)) == {
        (0, 1): 2.0,
        (0, 2): 1.0,
        (1, 2): 1.0,
    }


def test_the_loss_falls_and_the_order_is_learned():
    data, watch, learner = linear_data(20, 10), Watch(), SortNet(rounds=40)
    params = learner.learn(data, default(), watch).params
    assert watch.history[-1].value < 0.7 * watch.history[0].value
    pairs, scores = _pairs(data), learner.score(params, data)
    start = np.repeat(data.offsets[:-1], np.diff(pairs.offsets))
    assert np.mean(scores[start + pairs.winner] > scores[start + pairs.loser]) > 0.9


def test_arrays_of_another_shape_are_refused_before_the_kernel_sees_them():
    learner = SortNet(hidden=4)
    params = network(learner, 3)
    with pytest.raises(ModelFileError, match=r"'bias' should have shape \(4\)"):
        learner.score({**params, "bias": np.zeros(3)}, one_query())
