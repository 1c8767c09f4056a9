"""Sums over arrays: right, and in the order that the code says."""

import math

import numpy as np
import pytest

from podium.kernels.sums import add_up, dot


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 16, 100, 1001])
def test_a_sum_is_the_sum_in_the_order_of_its_code(n):
    x = np.random.default_rng(n).normal(size=n)
    assert add_up(x) == pytest.approx(math.fsum(x), rel=1e-12, abs=1e-15)
    assert add_up(x) == add_up.py_func(x)


@pytest.mark.parametrize("n", [0, 1, 7, 100, 1001])
def test_a_product_of_vectors_is_taken_in_double_precision(n):
    rng = np.random.default_rng(n)
    u, v = rng.normal(size=n).astype(np.float32), rng.normal(size=n)
    assert dot(u, v) == pytest.approx(math.fsum(u.astype(float) * v), rel=1e-12, abs=1e-13)
