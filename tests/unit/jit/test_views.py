"""Views: what they show, and that they write through."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from podium.jit.compiled import compiled
from podium.jit.views import view


@compiled
def _doubled(values: NDArray[np.float64], start: int, end: int) -> float:
    part, total = view(values, start, end), 0.0
    for i in range(len(part)):
        part[i] *= 2.0
        total += part[i]
    return total


def test_a_view_is_a_part_of_the_array_itself() -> None:
    values = np.arange(6.0)
    assert _doubled(values, 2, 5) == 18.0
    assert values.tolist() == [0.0, 1.0, 4.0, 6.0, 8.0, 5.0]
    assert _doubled(values, 6, 6) == 0.0
