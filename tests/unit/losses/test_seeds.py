"""The random seed of a loss among the constants that its kernel reads."""

import numpy as np
import pytest

from podium.losses import Loss

GRADES = np.array([0.0, 1.0, 2.0])
SAMPLED = [name for name in Loss.catalogue() if Loss.parse(name).seed_at is not None]


def test_losses_that_draw_at_random_have_a_seed():
    assert {"listmle", "boltzrank", "energy-ndcg"} <= set(SAMPLED)
    assert Loss.parse("ranknet").seed_at is None


@pytest.mark.parametrize("name", SAMPLED)
def test_the_constants_of_a_step_are_those_of_the_loss_with_its_seed(name):
    loss = Loss.parse(name)
    constants = loss.kernel_constants(GRADES)
    np.testing.assert_array_equal(loss.resampled_constants(constants, 3), loss.resampled(3).kernel_constants(GRADES))
    assert loss.resampled_constants(constants, None) is constants
