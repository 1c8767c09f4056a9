"""Eight numbers in vector registers as one value, for loops whose state goes from step to step in eight lanes.

The compiler vectorises plain loops over long arrays. A recursion that is run for several documents side by side is no
such loop. Within compiled functions:

    v = load(numbers, at)  # numbers[at : at + 8], of a flat array
    store(out, at, v * v + splat(1.0))

+, − and × work lane by lane, `flush` sets what is next to 0 to 0. The code is in `vector_code.py`, which needs numba;
in plain form a value is an array of eight numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from podium.compiled import Deferred

LANES = 8
NEVER = 1e-150
"""A probability that makes no difference; with numbers that are nearly too small for a float every step is slow."""


def _written_for_llvm(function: Callable[..., Any]) -> Any:
    def make() -> Any:
        from podium.kernels import vector_code

        return getattr(vector_code, function.__name__)

    return Deferred(function, make)


@_written_for_llvm
def load(numbers: Any, at: int) -> Any:
    """numbers[at : at + 8] of a flat array."""
    _check_place(numbers, at, LANES)
    return numbers[at : at + LANES].copy()


@_written_for_llvm
def store(out: Any, at: int, v: Any) -> None:
    """out[at : at + 8] = v."""
    _check_place(out, at, LANES)
    out[at : at + LANES] = v


@_written_for_llvm
def splat(number: float) -> Any:
    """The same number in all lanes."""
    return np.full(LANES, number)


@_written_for_llvm
def spread(numbers: Any, at: int) -> Any:
    """numbers[at] of a flat array in all lanes; `at` must not be negative."""
    _check_place(numbers, at, 1)
    return np.full(LANES, numbers[at])


@_written_for_llvm
def flush(v: Any) -> Any:
    """v, with 0 for numbers between −1e−150 and 1e−150; NaN stays NaN."""
    return np.where(np.abs(v) <= NEVER, 0.0, v)


def _check_place(numbers: Any, at: int, size: int) -> None:
    assert numbers.shape == (numbers.size,), "a vector is a part of a flat array"
    assert numbers.flags.c_contiguous, "a vector is a part of a contiguous array"
    assert 0 <= at <= len(numbers) - size, f"{at}:{at + size} lies outside an array of {len(numbers)}"
