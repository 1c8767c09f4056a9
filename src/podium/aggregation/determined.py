"""Whether comparisons determine worths: who is connected with whom, and who is above or below all others.

Maximum likelihood exists if a chain of defeats leads from every document to every other (Hunter 2004).
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Flags


def components(holds: Flags) -> list[Flags]:
    """Sets of documents that comparisons connect; `holds` says at [i, j] whether i bounds the worth of j."""
    from scipy.sparse.csgraph import connected_components

    count, part = connected_components(holds, directed=False)
    return [part == p for p in range(count)]


def separated(holds: Flags) -> tuple[Flags, Flags]:
    """Documents that never lose to the others, and documents that never win; none if a maximum exists."""
    from scipy.sparse.csgraph import connected_components

    count, part = connected_components(holds, directed=True, connection="strong")
    if count == 1:
        return np.zeros(len(part), np.bool_), np.zeros(len(part), np.bool_)
    crossing = holds & (part[:, None] != part[None, :])
    lost, won = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    np.logical_or.at(lost, part, crossing.any(axis=0))
    np.logical_or.at(won, part, crossing.any(axis=1))
    largest = np.bincount(part).argmax()
    others = np.arange(count) != largest
    return np.asarray((others & ~lost)[part]), np.asarray((others & ~won)[part])
