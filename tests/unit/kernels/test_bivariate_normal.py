"""Bivariate normal distribution: known values, tails, derivatives."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from podium.kernels.bivariate_normal import minus_log_cdf_of_two


@pytest.mark.parametrize("rho", [0.0, 0.25, 0.5, 0.9])
def test_both_are_below_zero_with_a_quarter_and_the_arc(rho: float) -> None:
    assert math.exp(-minus_log_cdf_of_two(0.0, 0.0, rho)[0]) == pytest.approx(0.25 + math.asin(rho) / (2 * math.pi))


@pytest.mark.parametrize(
    ("u", "v", "rho", "expected"),  # integrated with 40 digits
    [
        (-5.0, -5.0, 0.5, 20.91599095164802),
        (-20.0, -20.0, 0.5, 273.5523036474645),
        (-30.0, -2.0, 0.5, 454.32124395610094),
        (8.0, 8.0, 0.5, 1.244190326193809e-15),
        (3.0, -6.0, 0.9, 20.736768949974707),
        (-10.0, -9.0, 0.99, 53.23128515052825),
        (-35.0, -35.0, 0.5, 824.6641220638646),
    ],
)
def test_tails_are_accurate(u: float, v: float, rho: float, expected: float) -> None:
    value, in_u, in_v = minus_log_cdf_of_two(u, v, rho)
    assert value == pytest.approx(expected, rel=1e-11, abs=0.0)
    assert minus_log_cdf_of_two(v, u, rho) == pytest.approx((value, in_v, in_u), rel=1e-12)


def test_one_that_is_nearly_sure_leaves_the_other() -> None:
    assert minus_log_cdf_of_two(-1.3, 30.0, 0.5)[0] == pytest.approx(-norm.logcdf(-1.3), rel=1e-12)


@pytest.mark.parametrize(("u", "v", "rho"), [(0.3, -1.2, 0.5), (-6.0, -4.0, 0.7), (2.0, 1.0, 0.1)])
def test_derivatives_are_slopes(u: float, v: float, rho: float) -> None:
    h = 1e-5
    values = [minus_log_cdf_of_two(u + a, v + b, rho)[0] for a, b in ((h, 0.0), (-h, 0.0), (0.0, h), (0.0, -h))]
    slopes = -np.array([values[0] - values[1], values[2] - values[3]]) / (2 * h)
    assert minus_log_cdf_of_two(u, v, rho)[1:] == pytest.approx(slopes, rel=1e-7)
