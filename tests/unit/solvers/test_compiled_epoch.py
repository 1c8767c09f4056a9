"""Steps in one compiled loop against the same steps one by one."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse

import podium
from podium.base.errors import ParameterError
from podium.base.matrix_on_disk import on_disk
from podium.data import Dataset
from podium.losses import Loss
from podium.problem import Problem
from podium.scorers import MLP, Linear
from podium.solvers import SGD, Watch, compiled_epoch


def ragged() -> Dataset:
    rng = np.random.default_rng(0)
    sizes = np.append(3, rng.integers(1, 9, 29))
    X = rng.normal(size=(sizes.sum(), 5)).astype(np.float32)
    grades = rng.integers(0, 4, len(X))
    grades[:3] = 0  # nothing to learn from the first query
    return Dataset.from_arrays(X, grades, group=sizes)


LISTMLE = "recipe(loss=listmle,scorer=linear,solver=adam(epochs=3,batch=4,penalty=0.1))"  # draws anew at every step
RANKNET = "recipe(loss=ranknet,scorer=linear,solver=sgd(epochs=3,batch=1,momentum=0.5,learning_rate=0.02))"


@pytest.mark.parametrize("spec", [LISTMLE, RANKNET])
def test_on_linear_scorers_they_are_the_same_to_the_bit(spec, monkeypatch):
    monkeypatch.setattr(compiled_epoch, "_AT_ONCE", 300)  # several calls an epoch
    values = []
    fast = podium.train(ragged(), spec, observers=(lambda step: values.append(step.value),))
    monkeypatch.setattr(compiled_epoch, "applies", lambda problem, batch: False)
    plain = []
    slow = podium.train(ragged(), spec, observers=(lambda step: plain.append(step.value),))
    np.testing.assert_array_equal(fast.params["theta"], slow.params["theta"])
    assert values == pytest.approx(plain, rel=1e-12)


@pytest.mark.parametrize("scorer", ["linear", "mlp(hidden=[6])"])
@pytest.mark.parametrize("batch", [1, 7, 30])
def test_rows_on_disk_are_read_piece_by_piece_and_give_the_same_bits(scorer, batch, monkeypatch, tmp_path):
    monkeypatch.setattr(compiled_epoch, "_AT_ONCE", 2_000)  # several pieces an epoch
    podium.write_cache(ragged(), tmp_path / "data.pod")
    stored = podium.read_data(tmp_path / "data.pod")
    assert on_disk(stored.features)
    spec = f"recipe(loss=listmle,scorer={scorer},solver=adam(epochs=3,batch={batch}))"
    in_memory, from_disk = podium.train(ragged(), spec), podium.train(stored, spec)
    np.testing.assert_array_equal(from_disk.params["theta"], in_memory.params["theta"])


def test_a_query_without_slopes_leaves_a_scorer_as_it_is():
    problem = Problem(Loss.parse("ranknet"), Linear(), ragged())
    theta = problem.start(np.random.default_rng(0)) + 1.0
    now, solver = theta.copy(), SGD()
    list(compiled_epoch.steps(problem, now, np.array([0]), 1, solver.kernel, solver.begin(theta), first_step=0))
    np.testing.assert_array_equal(now, theta)


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_networks_that_diverge_say_so(activation):
    problem, solver = Problem(Loss.parse("regression"), MLP(activation=activation), ragged()), SGD(learning_rate=1e9)
    with pytest.raises(ParameterError, match="sgd diverged in epoch"):
        solver.solve(problem, np.random.default_rng(0), Watch())


def test_other_data_and_losses_are_taken_one_by_one():
    data = ragged()

    def takes(loss: str, data: Dataset, batch: int = 4) -> bool:
        return compiled_epoch.applies(Problem(Loss.parse(loss), Linear(), data), batch)

    assert takes("ranknet", data)
    assert takes("ranknet", data, 4096)  # no more than there are
    assert not compiled_epoch.applies(Problem(Loss.parse("ranknet"), MLP(), data), 4)  # numpy's products
    long = Dataset.from_arrays(np.zeros((32_768, 1)), np.zeros(32_768), group=[32_768])
    assert not takes("ranknet", long)  # threads pay
    assert not takes("ranknet", dataclasses.replace(data, features=scipy.sparse.csr_array(data.features)))
    assert not takes("pairties-d", data)  # learns a parameter of its own
    assert not takes("ranknet", dataclasses.replace(data, query_weights=np.ones(30)))
    assert not takes("ranknet", data.with_preferences([0], [1]))
