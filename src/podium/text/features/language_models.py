"""Language models: the mean over the words of the query of the logarithm of their probability in a field.

Words that no document has in this field are left out; with none left, the value is 0. p = cf/|C|; L = max(|d|, 1) and
U = max(different words of d, 1), so that an empty field counts as one word that is not in the query.
Reference: Zhai and Lafferty, A study of smoothing methods for language models applied to ad hoc retrieval, 2001.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from podium.registry import param, register
from podium.text.features.base import WHOLE, Array, Field, FieldFeature


@register
class JelinekMercer(FieldFeature):
    """Mean ln((1 − λ) c/L + λ p)."""

    name = "lmir_jm"
    field: str = WHOLE
    lam: float = param(default=0.1, above=0, below=1)

    def compute(self, field: Field) -> Array:
        return _mean(field, lambda c, p, L, _: (1.0 - self.lam) * c / L + self.lam * p)


@register
class Dirichlet(FieldFeature):
    """Mean ln((c + μ p)/(L + μ))."""

    name = "lmir_dir"
    field: str = WHOLE
    mu: float = param(default=2000.0, above=0)

    def compute(self, field: Field) -> Array:
        return _mean(field, lambda c, p, L, _: (c + self.mu * p) / (L + self.mu))


@register
class AbsoluteDiscount(FieldFeature):
    """Mean ln(max(c − δ, 0)/L + δ (U/L) p)."""

    name = "lmir_abs"
    field: str = WHOLE
    delta: float = param(default=0.7, above=0, below=1)

    def compute(self, field: Field) -> Array:
        return _mean(field, lambda c, p, L, U: np.maximum(c - self.delta, 0.0) / L + self.delta * (U / L) * p)


def _mean(field: Field, probability: Callable[..., Array]) -> Array:
    known = field.cf > 0
    times = field.times[known]
    if not len(times):
        return np.zeros(len(field.lengths))
    L, U = np.maximum(field.lengths, 1.0)[:, None], np.maximum(field.distinct, 1.0)[:, None]
    found = np.log(probability(field.counts[:, known], field.cf[known] / field.total, L, U))
    return np.asarray(found @ times / times.sum())
