"""The least point of a function of one number."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from podium.least_point import least_point


@pytest.mark.parametrize(
    "make",
    [
        lambda c: lambda x: (x - c) ** 2,
        lambda c: lambda x: math.exp(x - c) - x,
        lambda c: lambda x: abs(x - c) ** 1.3,
        lambda c: lambda x: 1.0,
    ],
)
def test_the_steps_are_those_of_scipy(make: Callable[[float], Callable[[float], float]]) -> None:
    for c in np.random.default_rng(0).uniform(-9.0, 7.0, size=20):  # also outside the bounds
        ours, theirs = _Noted(make(c)), _Noted(make(c))
        found = least_point(ours, -7.0, 5.0, tolerance=1e-4)
        expected = minimize_scalar(theirs, bounds=(-7.0, 5.0), method="bounded", options={"xatol": 1e-4}).x
        assert found == pytest.approx(expected, rel=1e-9)
        np.testing.assert_allclose(ours.seen, theirs.seen, rtol=1e-9)


class _Noted:
    """A function that notes where it was asked."""

    def __init__(self, f: Callable[[float], float]) -> None:
        self.f, self.seen = f, list[float]()

    def __call__(self, x: float) -> float:
        self.seen.append(x)
        return self.f(x)
