"""Comparison of numbers for the contract suites, and derivatives by finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from podium.base.arrays import Array


def slopes(f: Callable[[Array], Any], at: Array, h: float = 2e-4) -> Array:
    """Derivatives of f along each axis, to fourth order; of a vector, the Jacobian."""
    steps = h * np.eye(len(at))
    rows = [8 * (f(at + e) - f(at - e)) - (f(at + 2 * e) - f(at - 2 * e)) for e in steps]
    return np.array(rows, np.float64) / (12 * h)


def bends(f: Callable[[Array], float], at: Array, h: float = 2e-3) -> Array:
    """Second derivatives of f along each axis, to fourth order."""
    steps = h * np.eye(len(at))
    rows = [16 * (f(at + e) + f(at - e)) - (f(at + 2 * e) + f(at - 2 * e)) - 30 * f(at) for e in steps]
    return np.array(rows, np.float64) / (12 * h * h)


def near(got: Any, expected: Any, tolerance: float, what: str) -> None:
    """Assert equality within `tolerance`, relative to the largest number or absolute below 1."""
    a, b = np.asarray(got, np.float64), np.asarray(expected, np.float64)
    assert a.shape == b.shape, f"{what}: shape {a.shape}, expected {b.shape}"
    error = np.abs(a - b).max(initial=0.0) if a.size else 0.0
    scale = max(1.0, np.abs(b).max(initial=0.0)) if b.size else 1.0
    assert error <= tolerance * scale, f"{what}: got {a}, expected {b}"
