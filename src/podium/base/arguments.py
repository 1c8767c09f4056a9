"""Arguments: checks of single numbers that callers pass; an error names the parameter.

>>> whole_number(3, "k", least=1)
3
"""

from __future__ import annotations

import operator

import numpy as np

from podium.base.errors import ParameterError


def whole_number(value: object, what: str, *, least: int) -> int:
    """The value as an int of at least `least`; any integer type is accepted, floats and booleans are not."""
    if not isinstance(value, bool | np.bool_):
        try:
            number = operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            pass
        else:
            if number >= least:
                return number
    raise ParameterError(f"{what} must be a whole number of at least {least}; got {value!r}.")


def random_numbers(seed: object) -> np.random.Generator:
    """A generator of random numbers; the same seed gives the same numbers."""
    return np.random.default_rng(whole_number(seed, "seed", least=0))
