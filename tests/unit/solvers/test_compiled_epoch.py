"""Steps in one compiled loop against the same steps one by one: the same bits."""

import dataclasses

import numpy as np
import pytest

import podium
from podium.data import Dataset
from podium.losses import Loss
from podium.problem import Problem
from podium.scorers import Linear
from podium.solvers import compiled_epoch


def ragged() -> Dataset:
    rng = np.random.default_rng(0)
    sizes = np.append(3, rng.integers(1, 9, 29))
    X = rng.normal(size=(sizes.sum(), 5)).astype(np.float32)
    return Dataset.from_arrays(X, rng.integers(0, 4, len(X)), group=sizes)


LISTMLE = "recipe(loss=listmle,scorer=linear,solver=adam(epochs=3,batch=4,penalty=0.1))"  # draws anew at every step
RANKNET = "recipe(loss=ranknet,scorer=linear,solver=sgd(epochs=3,batch=1,momentum=0.5,learning_rate=0.02))"


@pytest.mark.parametrize("spec", [LISTMLE, RANKNET])
def test_they_are_the_same_as_one_by_one(spec, monkeypatch):
    monkeypatch.setattr(compiled_epoch, "_AT_ONCE", 300)  # several calls an epoch
    values = []
    fast = podium.train(ragged(), spec, observers=(lambda step: values.append(step.value),))
    monkeypatch.setattr(compiled_epoch, "applies", lambda problem, batch: False)
    plain = []
    slow = podium.train(ragged(), spec, observers=(lambda step: plain.append(step.value),))
    np.testing.assert_array_equal(fast.params["theta"], slow.params["theta"])
    assert values == pytest.approx(plain, rel=1e-12)


def test_other_data_and_losses_are_taken_one_by_one():
    data, linear = ragged(), Linear()

    def takes(loss: str, data: Dataset, batch: int = 4) -> bool:
        return compiled_epoch.applies(Problem(Loss.parse(loss), linear, data), batch)

    assert takes("ranknet", data)
    assert not takes("ranknet", data, 4096)  # threads pay
    assert not takes("pairties-d", data)  # learns a parameter of its own
    assert not takes("ranknet", dataclasses.replace(data, query_weights=np.ones(30)))
    assert not takes("ranknet", data.with_preferences([0], [1]))
