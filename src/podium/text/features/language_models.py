"""Language models: the mean over the words of the query of the logarithm of their probability in a field.

Words that no document has in this field are left out; with none left, or where all documents have nothing but stop
words in this field, the value is 0. p = cf/|C|; L = max(|d|, 1) and U = max(different words of d, 1), so that an empty
field counts as one word that is not in the query.
Reference: Zhai and Lafferty, A study of smoothing methods for language models applied to ad hoc retrieval, 2001.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from podium.compiled import compiled
from podium.registry import param, register
from podium.text.features.base import WHOLE, Array, Field, FieldFeature


@register
class JelinekMercer(FieldFeature):
    """Mean ln((1 − λ) c/L + λ p)."""

    name = "lmir_jm"
    field: str = WHOLE
    lam: float = param(default=0.1, above=0, below=1)

    def compute(self, field: Field) -> Array:
        return _mean(_jelinek_mercer, field, self.lam)


@register
class Dirichlet(FieldFeature):
    """Mean ln((c + μ p)/(L + μ))."""

    name = "lmir_dir"
    field: str = WHOLE
    mu: float = param(default=2000.0, above=0)

    def compute(self, field: Field) -> Array:
        return _mean(_dirichlet, field, self.mu)


@register
class AbsoluteDiscount(FieldFeature):
    """Mean ln(max(c − δ, 0)/L + δ (U/L) p)."""

    name = "lmir_abs"
    field: str = WHOLE
    delta: float = param(default=0.7, above=0, below=1)

    def compute(self, field: Field) -> Array:
        return _mean(_absolute_discount, field, self.delta)


def _mean(kernel: Callable[..., None], field: Field, smoothing: float) -> Array:
    found, total = np.zeros(len(field.lengths)), field.times[field.cf > 0].sum()
    if total > 0 and field.total > 0:
        share = field.times / total
        kernel(field.counts, share, field.cf / field.total, field.lengths, field.distinct, smoothing, found)
    return found


@compiled
def _jelinek_mercer(counts: Any, share: Any, p: Any, lengths: Any, distinct: Any, smoothing: float, found: Any) -> None:
    for i in range(len(counts)):
        L = max(lengths[i], 1.0)
        for m in range(len(p)):
            if p[m] > 0.0:
                found[i] += share[m] * np.log((1.0 - smoothing) * counts[i, m] / L + smoothing * p[m])


@compiled
def _dirichlet(counts: Any, share: Any, p: Any, lengths: Any, distinct: Any, smoothing: float, found: Any) -> None:
    for i in range(len(counts)):
        L = max(lengths[i], 1.0)
        for m in range(len(p)):
            if p[m] > 0.0:
                found[i] += share[m] * np.log((counts[i, m] + smoothing * p[m]) / (L + smoothing))


@compiled
def _absolute_discount(
    counts: Any, share: Any, p: Any, lengths: Any, distinct: Any, smoothing: float, found: Any
) -> None:
    for i in range(len(counts)):
        L, U = max(lengths[i], 1.0), max(distinct[i], 1.0)
        for m in range(len(p)):
            if p[m] > 0.0:
                seen = max(counts[i, m] - smoothing, 0.0)
                found[i] += share[m] * np.log(seen / L + smoothing * (U / L) * p[m])
