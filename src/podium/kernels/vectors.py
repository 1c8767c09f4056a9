"""Eight numbers in vector registers as one value, for loops whose state goes from step to step in eight lanes.

The compiler vectorises plain loops over long arrays. A recursion that is run for several documents side by side is no
such loop. Within compiled functions:

    v = load(numbers, at)  # numbers[at : at + 8], of a flat array
    store(out, at, v * v + splat(1.0))

+, − and × work lane by lane, `flush` sets what is next to 0 to 0. The code is in `vector_code.py`, which needs numba.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from podium.compiled import Deferred

LANES = 8
NEVER = 1e-150
"""A probability that makes no difference; with numbers that are nearly too small for a float every step is slow."""
REVISION = 2  # to be raised with every change of vector_code.py: the disk cache knows its functions by it


def _written_for_llvm(function: Callable[..., Any]) -> Any:
    def make() -> Any:
        from podium.kernels import vector_code

        return getattr(vector_code, function.__name__)

    return Deferred(function, make)


@_written_for_llvm
def load(numbers: Any, at: Any) -> Any:
    """numbers[at : at + 8] of a flat array."""
    return REVISION


@_written_for_llvm
def store(out: Any, at: Any, v: Any) -> Any:
    """out[at : at + 8] = v."""
    return REVISION


@_written_for_llvm
def splat(number: Any) -> Any:
    """The same number in all lanes."""
    return REVISION


@_written_for_llvm
def spread(numbers: Any, at: Any) -> Any:
    """numbers[at] of a flat array in all lanes; `at` must not be negative."""
    return REVISION


@_written_for_llvm
def flush(v: Any) -> Any:
    """v, with 0 for numbers between −1e−150 and 1e−150; NaN stays NaN."""
    return REVISION
