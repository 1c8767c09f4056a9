"""Activations, layer norm, dropout and noise of perceptrons: torch's numbers, with the same draws."""

import typing

import numpy as np
import pytest

from podium.base.errors import IncompatibleError
from podium.data.dataset import Dataset
from podium.losses import ListNet
from podium.problem import Problem
from podium.scorers import MLP
from podium.scorers.activations import Activation, activate
from podium.solvers import SGD
from podium.testing.examples import linear_data, threads
from podium.training import train

ACTIVATIONS = typing.get_args(Activation)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_a_slope_is_the_derivative(activation, kind):
    z = np.array([[-30.0, -2.5, -0.3, 0.2, 1.7, 40.0]])
    value, slope, step = z.astype(kind), np.empty_like(z, kind), 1e-6
    activate(activation, value, slope)
    above, below = z + step, z - step
    activate(activation, above)
    activate(activation, below)
    np.testing.assert_allclose(slope, (above - below) / (2 * step), atol=1e-6)
    np.testing.assert_allclose(value, (above + below) / 2, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_huge_arguments_have_finite_values_and_slopes(activation):
    z = np.array([-1e300, -1e4, 0.0, 1e4, 1e300])
    slope = np.empty_like(z)
    activate(activation, z, slope)
    assert np.isfinite(z).all()
    assert np.isfinite(slope).all()
    assert activation == "tanh" or slope[-1] == pytest.approx(1.0507 if activation == "selu" else 1.0, abs=1e-4)


@pytest.mark.parametrize("layer_norm", [False, True])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_torchs_layers_with_the_same_draws_give_the_same_scores_and_gradients(activation, layer_norm):
    torch = pytest.importorskip("torch")
    scorer = MLP((5, 4), activation=activation, layer_norm=layer_norm, dropout=0.3, noise=0.2, seed=7).resampled(4)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6, 3)).astype(np.float32)
    theta, g = scorer.init(3, rng) + 0.3 * rng.standard_normal(scorer.n_params(3)), rng.standard_normal(6)
    scores, pullback = scorer.score_with_pullback({"theta": theta}, Dataset.from_arrays(X, group=[6]))

    draws, flat = np.random.default_rng([11, 0]), torch.from_numpy(theta.copy()).requires_grad_()
    h = torch.from_numpy(X + 0.2 * draws.standard_normal((6, 3), np.float32).astype(np.float64))
    norms = scorer.norms(flat)
    curve = {"gelu": lambda z: torch.nn.functional.gelu(z, approximate="tanh")}
    curve = curve.get(activation) or getattr(torch.nn.functional, activation)
    for k, (weights, offset) in enumerate(scorer.layers(flat, 3)):
        h = h @ weights + offset
        if k < 2:
            width = (len(offset),)
            h = torch.nn.functional.layer_norm(h, width, norms[f"{k} gain"], norms[f"{k} offset"]) if norms else h
            h = curve(h) * torch.from_numpy((draws.random(h.shape, np.float32) >= 0.3) / 0.7)
    (h[:, 0] @ torch.from_numpy(g)).backward()
    np.testing.assert_allclose(scores, h[:, 0].detach().numpy(), atol=1e-10)
    np.testing.assert_allclose(pullback(g), flat.grad.numpy(), atol=1e-10)


def test_a_model_scores_without_dropout_and_noise():
    drawn, plain, rng = MLP((5,), dropout=0.5, noise=1.0), MLP((5,)), np.random.default_rng(0)
    theta, data = plain.init(3, rng), Dataset.from_arrays(rng.standard_normal((9, 3)), group=[9])
    np.testing.assert_array_equal(drawn.score({"theta": theta}, data), plain.score({"theta": theta}, data))
    assert (drawn.score_with_pullback({"theta": theta}, data)[0] != plain.score({"theta": theta}, data)).all()


def test_each_step_draws_anew_and_the_same_step_the_same():
    problem = Problem(ListNet(), MLP((5,), dropout=0.5), linear_data(4, 6))
    theta = problem.start(np.random.default_rng(0))
    first, again, second = (problem.on(problem.data, theta, step=step)[1] for step in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != second).any()


@pytest.mark.parametrize(
    "scorer", [{"activation": name} for name in ACTIVATIONS[2:]] + [{"dropout": 0.4, "noise": 0.1}]
)
def test_steps_in_float32_are_those_in_float64(scorer):
    data, moved = linear_data(6, 8), []
    for precision in ("float32", "float64"):
        problem, solver = Problem(ListNet(), MLP((6, 4), precision=precision, **scorer), data), SGD(batch=6)
        theta = problem.start(np.random.default_rng(0))
        moved.append(solver._epoch(problem, theta, np.arange(6), solver.begin(theta), 1)[0] - theta)
    np.testing.assert_allclose(moved[0], moved[1], rtol=1e-3, atol=1e-6)
    assert np.abs(moved[1]).max() > 1e-3


def test_threads_draw_the_same():
    data, method = (
        linear_data(700, 9),
        "listnet(scorer=mlp(hidden=[4],dropout=0.3,noise=0.1),solver=adam(epochs=1,batch=700))",
    )
    thetas = []
    for number in (1, 2):
        with threads(number):
            thetas.append(train(data, method).params["theta"].tobytes())
    assert thetas[0] == thetas[1]


def test_blocks_that_are_not_kept_draw_the_same_on_the_way_back(monkeypatch):
    from podium.scorers import mlp

    scorer, rng = MLP((4,), dropout=0.4, noise=0.1, layer_norm=True), np.random.default_rng(0)
    data = Dataset.from_arrays(rng.standard_normal((9000, 3)), group=[9000])
    params, g, results = {"theta": scorer.init(3, rng)}, rng.standard_normal(9000), []
    for keep in (0, 10**6):
        monkeypatch.setattr(mlp, "_KEEP", keep)
        scores, pullback = scorer.score_with_pullback(params, data)
        results.append((scores.tobytes(), pullback(g).tobytes()))
    assert results[0] == results[1]


def test_a_solver_that_compares_values_refuses_draws():
    with pytest.raises(IncompatibleError, match=r"draws dropout and noise in each step. Use solver=adam"):
        train(linear_data(4, 5), "listnet(scorer=mlp(dropout=0.1),solver=lbfgs)")
