"""The normal distribution in the domain of logarithms."""

import math

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr

from podium.kernels.normal import cdfs, minus_log_cdf


@pytest.mark.parametrize("z", [-1000.0, -38.0, -20.5, -20.0, -19.5, -3.0, 0.0, 0.4, 9.0, 1000.0])
def test_the_normal_cdf_keeps_its_digits_far_out(z):
    value, slope, bend = minus_log_cdf(z)
    density = math.exp(-0.5 * z * z - 0.5 * math.log(2 * math.pi) - log_ndtr(z))
    assert value == pytest.approx(-log_ndtr(z), rel=1e-12)
    assert slope == pytest.approx(density, rel=1e-9)
    assert 0 <= bend <= 1


def test_its_second_derivative_does_not_jump_where_the_series_begins():
    near, far = (minus_log_cdf(z)[2] for z in (-19.9999, -20.0001))
    assert near == pytest.approx(far, rel=1e-6)


def test_many_values_of_the_normal_cdf_are_right_to_rounding_on_both_sides():
    z = np.concatenate([np.linspace(-8.0, 8.0, 4001), [-37.0, 37.0, -1e300, 1e300, -np.inf, np.inf]])
    out = np.empty_like(z)
    with np.errstate(over="ignore"):
        cdfs(z, np.exp(-0.5 * z * z), out)
    np.testing.assert_allclose(out, ndtr(z), rtol=2e-13, atol=0)


def test_a_score_that_is_not_a_number_has_no_cdf():
    out = np.empty(1)
    cdfs(np.array([np.nan]), np.array([np.nan]), out)
    assert np.isnan(out[0])
