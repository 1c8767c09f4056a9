"""Logarithms of features, for counts and lengths that span decades.

>>> from podium.data.dataset import Dataset
>>> from podium.transforms import Identity
>>> data = Dataset.from_arrays([[0.0], [9.0], [-99.0]], group=[3])
>>> SignedLog(of=Identity()).features({}, data).ravel().round(3).astype(str).tolist()
['0.0', '2.303', '-4.605']
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Singles
from podium.base.registry import register
from podium.transforms.base import State
from podium.transforms.mapped import Mapped


@register
class SignedLog(Mapped):
    """sign(x)·log(1 + |x|), then `of`: by default the z-scores of the logarithms.

    Use it for: linear models and networks on counts, lengths and ages; an outlier of 10³⁰ becomes 69.
    Reference: Qin et al., Are neural rankers still outperformed by gradient boosted decision trees?, ICLR 2021.
    """

    name = "signed-log"

    def image(self, state: State, X: Singles) -> Singles:
        x = X.astype(np.float64)
        return np.asarray(np.sign(x) * np.log1p(np.abs(x)), np.float32)
