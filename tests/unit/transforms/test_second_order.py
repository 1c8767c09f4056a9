import numpy as np
import pytest

from podium.base.errors import IncompatibleError
from podium.data.dataset import Dataset
from podium.metrics import Metric
from podium.training import train
from podium.transforms import MinMax, SecondOrder, ZScore


def make(n=200, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 0.3
    labels = np.digitize(X[:, 0] * X[:, 1] + 0.3 * X[:, 2] ** 2 + 0.2 * rng.standard_normal(n), [-0.5, 0.5])
    return Dataset.from_arrays(X, labels, group=[n // 2, n - n // 2])


@pytest.mark.parametrize("below", [ZScore(), MinMax()], ids=repr)
@pytest.mark.parametrize("threshold", [0.0, 0.15, 0.4])
def test_products_are_those_whose_correlation_is_large_by_brute_force(below, threshold):
    data = make()
    made = SecondOrder(of=below, correlation=threshold)
    state = made.fit(data)
    X = below.features(below.fit(data), data).astype(np.float64)
    kept = []
    for i in range(5):
        for j in range(i, 5):
            if abs(np.corrcoef(X[:, i] * X[:, j], data.labels)[0, 1]) > threshold:
                kept.append((i, j))
    assert list(zip(state["first"], state["second"], strict=True)) == kept
    products = [X[:, i] * X[:, j] for i, j in kept]
    expected = np.column_stack([X, *((product - product.mean()) / product.std() for product in products)])
    np.testing.assert_allclose(made.features(state, data), expected, atol=2e-5)


def test_a_constant_feature_or_one_grade_adds_no_product():
    data = make()
    X = data.features.copy()
    X[:, 1] = 7.0
    state = SecondOrder(correlation=0.0).fit(Dataset.from_arrays(X, data.labels, group=data.sizes))
    assert 1 not in {*state["first"], *state["second"]}
    state = SecondOrder(correlation=0.0).fit(Dataset.from_arrays(X, np.ones(200), group=data.sizes))
    assert len(state["first"]) == 0


def test_a_linear_scorer_then_learns_a_product():
    data, other = make(400), make(400, seed=1)
    plain, second = train(data, "ranknet"), train(data, "ranknet(transform=second-order)")

    def pairs_right(model):
        return np.mean(Metric.parse("pair-accuracy")(model.score(other), other.labels, other.offsets))

    assert pairs_right(second) > pairs_right(plain) + 0.1


def test_data_without_grades_is_refused_before_work_starts():
    pairs = ([0, 2], [1, 3])
    data = Dataset.from_arrays(np.zeros((4, 2)), group=[4], preferences=pairs)
    with pytest.raises(IncompatibleError, match="second-order keeps products that correlate with grades"):
        train(data, "ranknet(transform=second-order)")
