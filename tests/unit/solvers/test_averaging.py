"""Means of parameters: exponential moving averages of steps, and means of epochs."""

import numpy as np
import pytest

from podium.base.errors import ParameterError
from podium.losses import ListNet
from podium.problem import Problem
from podium.scorers import MLP, Linear
from podium.solvers import SGD, Adam, Watch
from podium.testing import linear_data

DATA = linear_data(12, 6)
SCORERS = [Linear(), MLP(hidden=(4,)), MLP(hidden=(4,), precision="float64")]


def solved(solver, scorer):
    return solver.solve(Problem(ListNet(), scorer, DATA), np.random.default_rng(0), Watch()).params["theta"]


@pytest.mark.parametrize("scorer", SCORERS, ids=repr)
def test_the_moving_average_follows_its_formula_over_steps(scorer):
    """With a batch of all queries an epoch is a step: m ← 0.7m + 0.3θ from m = θ at the start."""
    mean = Problem(ListNet(), scorer, DATA).start(np.random.default_rng(0))
    for epochs in range(1, 5):
        mean = 0.7 * mean + 0.3 * solved(Adam(epochs=epochs, batch=12, learning_rate=0.05), scorer)
    averaged = solved(Adam(epochs=4, batch=12, learning_rate=0.05, ema=0.7), scorer)
    np.testing.assert_allclose(averaged, mean, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("scorer", SCORERS, ids=repr)
def test_the_mean_of_epochs_begins_at_its_epoch(scorer):
    thetas = [solved(SGD(epochs=epochs, batch=3), scorer) for epochs in range(1, 6)]
    np.testing.assert_allclose(solved(SGD(epochs=5, batch=3, swa=3), scorer), np.mean(thetas[2:], axis=0), atol=1e-12)
    np.testing.assert_array_equal(solved(SGD(epochs=5, batch=3, swa=6), scorer), thetas[-1])


def test_torchs_averaged_models_have_the_same_parameters():
    torch = pytest.importorskip("torch")
    from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

    layer = torch.nn.Linear(3, 1, dtype=torch.float64)
    averaged = AveragedModel(layer, multi_avg_fn=get_ema_multi_avg_fn(0.7))
    averaged.update_parameters(layer)
    solver, steps = SGD(learning_rate=1.0, ema=0.7), np.random.default_rng(0).standard_normal((5, 3))
    memory = solver.begin(np.zeros(3))
    for step in steps:
        solver.step(step, memory)
        with torch.no_grad():
            layer.weight -= torch.from_numpy(step)
        averaged.update_parameters(layer)
    gap = (layer.weight - averaged.module.weight).detach().numpy()[0]
    np.testing.assert_allclose(memory[0][-1], gap, atol=1e-12)


def test_two_means_at_once_are_refused():
    with pytest.raises(ParameterError, match=r"ema, swa and committee are three means of parameters\. Use one"):
        SGD(ema=0.9, swa=3)
