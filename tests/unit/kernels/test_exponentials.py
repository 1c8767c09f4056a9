"""Exponentials by a polynomial against the library's."""

import math

import numpy as np
import pytest

from podium.kernels.exponentials import exponentials, logarithms, tanh


def found(values, less=0.0, scale=1.0):
    out = np.empty(len(values))
    exponentials(np.array(values, float), less, scale, out)
    return out


def test_they_agree_with_the_library_to_two_units_in_the_last_place():
    rng = np.random.default_rng(0)
    x = np.concatenate([np.linspace(-707.9, 708.9, 20_001), rng.normal(size=20_000), rng.normal(size=2_000) * 1e-9])
    wanted = np.exp(x)
    assert (np.abs(found(x) - wanted) <= 2.0 * np.spacing(wanted)).all()


def test_they_take_a_difference_and_a_scale():
    assert found([3.0, 5.0], 4.0, 0.5) == pytest.approx([math.exp(-0.5), math.exp(0.5)], rel=1e-15)


def test_numbers_out_of_range_become_0_and_infinity_and_nan_stays():
    np.testing.assert_array_equal(
        found([-1e4, -np.inf, 1e4, np.inf, np.nan, 0.0]), [0.0, 0.0, np.inf, np.inf, np.nan, 1.0]
    )


def test_logarithms_agree_with_the_librarys():
    rng = np.random.default_rng(0)
    x = np.concatenate([1.0 + 10.0 ** rng.uniform(-16, 300, 5_000), rng.uniform(1.0, 8.0, 5_000), [1.0, 2.0, 1e307]])
    out = np.empty(len(x))
    logarithms(x, out)
    np.testing.assert_allclose(out, np.log(x), rtol=1e-15)
    logarithms(1.0 / x, out)
    np.testing.assert_allclose(out, np.log(1.0 / x), rtol=1e-15, atol=1e-15)


def test_tanh_agrees_with_the_librarys_and_is_odd():
    rng = np.random.default_rng(0)
    x = np.concatenate([np.linspace(-21, 21, 20_001), rng.normal(size=5_000), rng.normal(size=2_000) * 1e-9, [1e-310]])
    here, there = x.copy(), -x
    tanh(here)
    tanh(there)
    assert (np.abs(here - np.tanh(x)) <= 6.0 * np.spacing(np.abs(np.tanh(x)))).all()
    np.testing.assert_array_equal(here, -there)


def test_tanh_of_what_is_not_finite():
    x = np.array([np.inf, -np.inf, np.nan, -0.0])
    tanh(x)
    np.testing.assert_array_equal(x, [1.0, -1.0, np.nan, 0.0])
    assert np.signbit(x[3])
