"""Trees on transformed features, for targets that support any arithmetic; every program makes the same bits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from podium.arrays import Array
from podium.export.front import Front
from podium.float32 import Singles
from podium.scorers.trees.exact_splits import sums
from podium.scorers.trees.forest import Forest


@dataclass(frozen=True, eq=False)
class TransformedTrees:
    """Trees whose features are those that a front makes."""

    front: Front
    forest: Forest

    @property
    def widths(self) -> list[int]:
        """The number of features, from the raw ones to those of the trees."""
        return self.front.widths

    @property
    def takes_missing(self) -> bool:
        """Whether missing values reach the splits, which have a side for them."""
        return bool(np.isnan(self.front.filling).all())

    def scores(self, X: Singles, *, single: bool) -> Array:
        """The scores of rows; X is a query where that matters."""
        return sums(self.forest, self.front.transformed(X).astype(np.float32), single=single)
