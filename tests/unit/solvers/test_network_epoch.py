"""Steps on perceptrons in float32: the same as in float64 up to rounding, on any number of threads."""

import dataclasses

import numpy as np
import pytest

from podium.data.dataset import Dataset
from podium.losses import ListNet, RankNet
from podium.problem import Problem
from podium.scorers import MLP
from podium.solvers import SGD, Adam, network_epoch
from podium.testing.examples import threads
from podium.training import train

SIZES = [1, 0, 30, 7, 12, 7, 25, 3]


def data(sizes=SIZES, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((sum(sizes), d)), rng.integers(0, 3, sum(sizes))
    return Dataset.from_arrays(X, y, group=sizes)


def epoch(solver, scorer, queries, *, loss=None, penalty=0.0):
    problem = Problem(loss or ListNet(), scorer, queries, penalty)
    rng = np.random.default_rng(1)
    theta = problem.start(rng)
    theta += 0.1 * rng.standard_normal(len(theta))  # offsets of 0 would put documents at the kink of relu
    return solver._epoch(problem, theta, np.arange(queries.n_queries)[::-1].copy(), solver.begin(theta), 1)


@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("batch", [1, 3, 8])
@pytest.mark.parametrize(("loss", "penalty"), [(ListNet(), 0.0), (RankNet(), 0.3)])
def test_an_epoch_is_that_in_float64_up_to_rounding(activation, batch, loss, penalty):
    single, double = (
        epoch(
            SGD(batch=batch, momentum=0.5, penalty=penalty, learning_rate=0.01),
            MLP(hidden=(6, 4), activation=activation, precision=precision),
            data(),
            loss=loss,
            penalty=penalty,
        )
        for precision in ("float32", "float64")
    )
    np.testing.assert_allclose(single[0], double[0], rtol=1e-4, atol=1e-5)
    assert single[1] == pytest.approx(double[1], rel=1e-5)
    assert single[0].tobytes() != double[0].tobytes(), "both in one precision"


@pytest.mark.parametrize("name", ["one hidden layer", "three"])
def test_depth_does_not_matter(name):
    hidden = (4,) if name == "one hidden layer" else (5, 4, 3)
    single, double = (epoch(SGD(batch=2), MLP(hidden=hidden, precision=p), data())[0] for p in ("float32", "float64"))
    np.testing.assert_allclose(single, double, rtol=1e-4, atol=1e-5)


def test_blocks_and_threads_do_not_change_a_bit(monkeypatch):
    queries, results = data([9] * 400), []
    for number in (1, 2):
        with threads(number):
            results.append(epoch(Adam(batch=300), MLP(hidden=(6,)), queries)[0])
    assert results[0].tobytes() == results[1].tobytes()
    monkeypatch.setattr(network_epoch, "_ROWS", 40)
    for number in (1, 2):
        with threads(number):
            results.append(epoch(Adam(batch=300), MLP(hidden=(6,)), queries)[0])
    assert results[2].tobytes() == results[3].tobytes() != results[0].tobytes()
    np.testing.assert_allclose(results[2], results[0], atol=1e-4)


def test_blocks_have_whole_queries_and_no_more_documents_than_allowed(monkeypatch):
    monkeypatch.setattr(network_epoch, "_ROWS", 10)
    sizes = np.array([3, 4, 4, 25, 1, 0, 9, 9])
    cuts = network_epoch._blocks(np.cumsum(sizes))
    assert cuts == [(0, 2), (2, 3), (3, 4), (4, 7), (7, 8)]


def test_what_it_cannot_do_is_left_to_the_plain_loop():
    plain, scorer = data(), MLP(hidden=(4,))
    assert network_epoch.applies(Problem(ListNet(), scorer, plain))
    weighted = dataclasses.replace(plain, query_weights=np.ones(len(SIZES)))
    assert not network_epoch.applies(Problem(ListNet(), scorer, weighted))
    assert not network_epoch.applies(Problem(ListNet(), MLP(precision="float64"), plain))


def test_a_model_trained_in_float32_ranks_as_one_in_float64():
    from podium.metrics import NDCG, evaluate_all

    rng = np.random.default_rng(0)
    X = rng.standard_normal((1200, 4))
    y = np.digitize(X[:, 0] * X[:, 1] + 0.3 * X[:, 2], [0.5, 1.5])
    queries, values = Dataset.from_arrays(X, y, group=[20] * 60), []
    for precision in ("float32", "float64"):
        method = f"recipe(loss=listnet,scorer=mlp(hidden=[16],precision={precision}),solver=adam(epochs=30,batch=4))"
        scores = train(queries, method).score(queries)
        values.append(evaluate_all((NDCG(10),), scores, queries.labels, queries.offsets)[0].mean())
    assert values[0] == pytest.approx(values[1], abs=0.005)
    assert values[0] > 0.8


def test_a_step_that_is_too_long_is_noticed():
    from podium.base.errors import ParameterError

    with pytest.raises(ParameterError, match="diverged"):
        train(data(), "recipe(loss=regression,scorer=mlp(activation=relu),solver=sgd(learning_rate=1e9,epochs=50))")
