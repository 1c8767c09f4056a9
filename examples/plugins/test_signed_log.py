import math

import numpy as np
import pytest
from signed_log import SignedLog

from podium.data import Dataset
from podium.testing import check_transform


def test_it_keeps_the_promises_of_a_transform():
    check_transform(SignedLog())


def test_features_are_logarithms_with_their_sign():
    data = Dataset.from_arrays(np.array([[0.0, 9.0], [-9.0, np.nan]], np.float32), [0, 1], group=[2])
    expected = [[0.0, math.log(10)], [-math.log(10), 0.0]]
    assert SignedLog().features({}, data) == pytest.approx(np.array(expected), rel=1e-6)
