"""Scores that are not numbers, and labels too large for 2^y: every kernel returns, and no number is made up."""

import threading

import numpy as np
import pytest

from podium.base.errors import DataError
from podium.losses import Loss

LABELS = np.array([2.0, 1.0, 0.0, 0.0, 1.0])


@pytest.mark.parametrize("scores", [[np.nan, 1, 0, 2, 0.5], [np.nan] * 5], ids=["one", "all"])
@pytest.mark.parametrize("name", sorted(Loss.catalogue()))
def test_a_score_that_is_not_a_number_gives_a_loss_that_is_none(name, scores):
    found = []
    worker = threading.Thread(target=lambda: found.append(Loss.parse(name)(scores, LABELS).value), daemon=True)
    worker.start()  # kernels release the interpreter, so one that never returns does not stop the test
    worker.join(240)
    assert found, f"{name} has not returned after four minutes"
    assert np.isnan(found).all()


@pytest.mark.parametrize(
    "loss", ["energy-ndcg", "softrank", "apprank", "regression(target=gain)", "subset-regression(target=gain)"]
)
def test_a_label_too_large_for_its_gain_is_refused(loss):
    with pytest.raises(DataError, match="up to 50; got 1000"):
        Loss.parse(loss)(np.zeros(2), [0, 1000])


def test_losses_without_gains_take_any_label():
    assert Loss.parse("apprank(measure=ap)")([1.0, 0.0], [1000, 0]).value < 0.01
    assert Loss.parse("regression")([1000.0, 0.0], [1000, 0]).value == 0.0
