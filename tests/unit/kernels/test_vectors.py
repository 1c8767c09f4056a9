"""Eight numbers in vector registers."""

import numpy as np

from podium.compiled import compiled
from podium.kernels.vectors import LANES, NEVER, flush, load, splat, spread, store


@compiled
def _combine(a, b, out):
    for at in range(0, len(a), LANES):
        x, y = load(a, at), load(b, at)
        store(out, at, flush(x * y + (x - y) + splat(1.0) * y))


def test_arithmetic_is_that_of_each_lane():
    a, b = np.random.default_rng(0).normal(size=(2, 3 * LANES))
    out = np.empty(3 * LANES)
    _combine(a, b, out)
    np.testing.assert_allclose(out, a * b + a, rtol=1e-14)


@compiled
def _times_the_last(a, out):
    store(out, 0, load(a, 0) * spread(a, len(a) - 1))


def test_one_number_of_an_array_goes_to_every_lane():
    a, out = np.arange(1.0, LANES + 2.0), np.empty(LANES)
    _times_the_last(a, out)
    np.testing.assert_array_equal(out, (LANES + 1.0) * a[:LANES])


def test_numbers_next_to_zero_become_zero_and_nan_stays():
    a = np.array([0.0, NEVER / 2, -NEVER / 2, 2 * NEVER, -2 * NEVER, 1.0, np.inf, 5e-324])
    out = np.empty(LANES)
    _combine(a, np.zeros(LANES), out)
    expected = np.where(np.abs(a) > NEVER, a, 0.0)
    expected[6] = np.nan  # ∞ × 0
    np.testing.assert_array_equal(out, expected)
