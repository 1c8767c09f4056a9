"""Language model features: the mean log-probability of the query's words in a field, with smoothing.

Words that no document has in this field are left out; with none left, or if the field has nothing but stop words in
all documents, the value is 0. p = cf/|C|; L = max(|d|, 1) and U = max(different words of d, 1), so that an empty
field counts as one word that is not in the query.
Reference: Zhai and Lafferty, A study of smoothing methods for language models applied to ad hoc retrieval, 2001.
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.text.features.base import WHOLE, FieldFeature
from podium.text.retrieval.base import MOST


@compiled
def _total(times: Array, terms: Array, totals: Array) -> float:
    """The number of query words that some document has in the field, repeats counted."""
    total = 0.0
    for t in range(len(times)):
        if terms[1, t] > 0.0 and totals[1] > 0.0:
            total += times[t]
    return total


@compiled
def _jelinek_mercer(
    counts: Array, times: Array, sizes: Array, terms: Array, totals: Array, params: Array, out: Array
) -> None:
    smoothing, total = params[0], _total(times, terms, totals)
    for t in range(len(times)):
        if terms[1, t] > 0.0 and total > 0.0:
            share, p = times[t] / total, terms[1, t] / totals[1]
            without = np.log(smoothing * p)
            for i in range(len(counts)):
                if counts[i, t] > 0.0:
                    L = max(sizes[0, i], 1.0)
                    out[i] += share * np.log((1.0 - smoothing) * counts[i, t] / L + smoothing * p)
                else:
                    out[i] += share * without


@compiled
def _dirichlet(
    counts: Array, times: Array, sizes: Array, terms: Array, totals: Array, params: Array, out: Array
) -> None:
    smoothing, total = params[0], _total(times, terms, totals)
    for t in range(len(times)):
        if terms[1, t] > 0.0 and total > 0.0:
            share, p = times[t] / total, terms[1, t] / totals[1]
            for i in range(len(counts)):
                L = max(sizes[0, i], 1.0)
                out[i] += share * np.log((counts[i, t] + smoothing * p) / (L + smoothing))


@compiled
def _absolute_discount(
    counts: Array, times: Array, sizes: Array, terms: Array, totals: Array, params: Array, out: Array
) -> None:
    smoothing, total = params[0], _total(times, terms, totals)
    for t in range(len(times)):
        if terms[1, t] > 0.0 and total > 0.0:
            share, p = times[t] / total, terms[1, t] / totals[1]
            for i in range(len(counts)):
                L, U = max(sizes[0, i], 1.0), max(sizes[1, i], 1.0)
                seen = max(counts[i, t] - smoothing, 0.0)
                out[i] += share * np.log(seen / L + smoothing * (U / L) * p)


@register
class JelinekMercer(FieldFeature):
    """Language model with Jelinek-Mercer smoothing: mean ln((1 − λ) c/L + λ p)."""

    name, kernel = "lmir_jm", _jelinek_mercer
    field: str = WHOLE
    lam: float = param(default=0.1, least=1 / MOST, below=1)
    """Share of the collection's model."""


@register
class Dirichlet(FieldFeature):
    """Language model with Dirichlet smoothing: mean ln((c + μ p)/(L + μ))."""

    name, kernel = "lmir_dir", _dirichlet
    field: str = WHOLE
    mu: float = param(default=2000.0, least=1 / MOST, most=1e9)
    """Pseudo-count of words that the collection adds to each document; the larger, the smoother."""


@register
class AbsoluteDiscount(FieldFeature):
    """Language model with absolute discounting: mean ln(max(c − δ, 0)/L + δ (U/L) p)."""

    name, kernel = "lmir_abs", _absolute_discount
    field: str = WHOLE
    delta: float = param(default=0.7, least=1 / MOST, below=1)
    """Occurrences that are taken from each word of the field and given to unseen ones."""
