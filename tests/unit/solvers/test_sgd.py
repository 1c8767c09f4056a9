import numpy as np
import pytest

from podium.base.errors import ParameterError
from podium.losses import Regression
from podium.metrics import Metric
from podium.problem import Problem
from podium.scorers import Linear
from podium.solvers import SGD, Adam, Watch
from podium.testing import linear_data

DATA = linear_data(6, 5)
PROBLEM = Problem(Regression(), Linear(), DATA)


def run(solver, watch=None, problem=PROBLEM):
    return solver.solve(problem, np.random.default_rng(0), watch or Watch())


def test_one_epoch_of_all_queries_is_one_step_down_the_gradient():
    found = run(SGD(epochs=1, batch=6, learning_rate=0.01))
    _, gradient = PROBLEM(np.zeros(4))
    np.testing.assert_allclose(found.params["theta"], -0.01 * gradient)


def test_momentum_keeps_its_direction():
    _, first = PROBLEM(np.zeros(4))
    _, second = PROBLEM(-0.01 * first)
    found = run(SGD(epochs=2, batch=6, learning_rate=0.01, momentum=0.5))
    np.testing.assert_allclose(found.params["theta"], -0.01 * first - 0.01 * (0.5 * first + second))


def test_adams_first_step_is_the_rate_in_every_direction():
    found = run(Adam(epochs=1, batch=6, learning_rate=0.01))
    _, gradient = PROBLEM(np.zeros(4))
    np.testing.assert_allclose(found.params["theta"], -0.01 * np.sign(gradient), rtol=1e-6)


def test_batches_are_shuffled_queries_and_each_is_seen_once_per_epoch():
    seen = []

    class Recording(Problem):
        def on(self, data, theta, step=None):
            seen.append(data.labels.sum() + data.features.sum())
            return super().on(data, theta, step)

    run(SGD(epochs=2), problem=Recording(Regression(), Linear(), DATA))
    each = [float(one.labels.sum() + one.features.sum()) for one in (DATA.select([q]) for q in range(6))]
    np.testing.assert_allclose(sorted(seen[:6]), sorted(each), rtol=1e-6)
    np.testing.assert_allclose(sorted(seen[6:]), sorted(each), rtol=1e-6)
    assert seen[:6] != seen[6:]


def test_a_rate_that_is_too_large_is_refused_in_words():
    with pytest.raises(ParameterError, match=r"sgd diverged in epoch \d+; use a smaller rate than 1000000.0, or scale"):
        run(SGD(learning_rate=1e6, epochs=200))


def test_divergence_after_a_good_start_keeps_the_best_epoch():
    watch = Watch(DATA, Metric.parse("ndcg@10"))
    found = run(SGD(learning_rate=1e6, epochs=200, patience=200), watch)
    assert "diverged" in found.reason
    assert np.isfinite(found.params["theta"]).all()


def test_momentum_is_below_one():
    with pytest.raises(ParameterError, match="momentum must be below 1; got 1"):
        Adam(momentum=1.0)
