"""Arguments: single numbers that callers give, right or refused in words.

>>> whole_number(3, "k", least=1)
3
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from podium.base.errors import ParameterError


def whole_number(value: Any, what: str, *, least: int) -> int:
    """A whole number of at least `least`, from any type of integers; no float and no truth value is one."""
    if not isinstance(value, bool | np.bool_):
        try:
            number = operator.index(value)
        except TypeError:
            pass
        else:
            if number >= least:
                return number
    raise ParameterError(f"{what} must be a whole number of at least {least}; got {value!r}.")


def random_numbers(seed: Any) -> np.random.Generator:
    """A generator of random numbers; the same seed gives the same numbers."""
    return np.random.default_rng(whole_number(seed, "seed", least=0))
