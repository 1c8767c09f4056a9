"""Products of small matrices, against numpy's."""

import numpy as np
import pytest

from podium.kernels.matrix_product import add_product


@pytest.mark.parametrize(("n", "m", "w"), [(1, 1, 1), (5, 3, 8), (7, 20, 16), (13, 2, 21), (4, 0, 9), (0, 4, 9)])
def test_they_are_added(n, m, w):
    rng = np.random.default_rng(0)
    A, B, C = rng.normal(size=(n, m)), rng.normal(size=(m, w)), rng.normal(size=(n, w))
    plain, turned = C.ravel().copy(), C.ravel().copy()
    add_product(A.ravel(), m, 1, B.ravel(), plain, n, m, w)
    add_product(A.T.copy().ravel(), 1, n, B.ravel(), turned, n, m, w)
    np.testing.assert_allclose(plain, (C + A @ B).ravel(), rtol=1e-13, atol=1e-14)
    np.testing.assert_array_equal(plain, turned)
