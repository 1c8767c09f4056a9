"""Committees of epochs: the mean of the best parameters, by the validation metric."""

import numpy as np
import pytest

import podium
from podium.base.errors import IncompatibleError
from podium.losses import Hinge
from podium.metrics import Metric
from podium.solvers import mean_metric
from podium.testing import linear_data

DATA, VALID = linear_data(12, 6), linear_data(8, 6, seed=1)
NDCG = Metric.parse("ndcg@10")


def theta(method, *, epochs, seed=3):
    return podium.train(DATA, f"{method},epochs={epochs}))", valid=VALID, seed=seed).params["theta"]


@pytest.mark.parametrize("solver", ["sgd", "adam"])
def test_it_is_the_mean_of_the_best_epochs_weighted_by_their_metric(solver):
    ranker = f"recipe(loss=hinge(margin=0),solver={solver}(patience=6"
    states, values = [], []
    for epochs in range(1, 6):  # without patience, the last epoch is kept
        last = podium.train(
            DATA, f"recipe(loss=hinge(margin=0),solver={solver}(patience=none,epochs={epochs}))", seed=3
        )
        states.append(last.params["theta"])
        values.append(mean_metric(NDCG, last.score(VALID), VALID))
    best = sorted(range(5), key=lambda k: -values[k])[:3]
    expected = np.average([states[k] for k in best], axis=0, weights=[values[k] for k in best])
    np.testing.assert_allclose(theta(f"{ranker},committee=3", epochs=5), expected, rtol=1e-12)
    assert theta(f"{ranker},committee=1", epochs=5).tobytes() == states[int(np.argmax(values))].tobytes()


def test_a_committee_is_of_linear_scorers():
    with pytest.raises(IncompatibleError, match="committee of linear scorers only; got mlp"):
        podium.train(DATA, "recipe(loss=listnet,scorer=mlp,solver=adam(committee=2))")


def test_without_a_margin_a_tie_is_a_mistake():
    value, gradient = (lambda result: (result.value, result.gradient.tolist()))(Hinge(margin=0)([1.0, 1.0], [1, 0]))
    assert (value, gradient) == (0.0, [-1.0, 1.0])
    assert Hinge(margin=0)([1.5, 1.0], [1, 0]).value == 0.0
    assert Hinge(margin=2)([1.5, 1.0], [1, 0]).value == 1.5
