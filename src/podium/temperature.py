"""Temperature: the scale that turns a model's scores into odds, fitted on validation data.

Plackett–Luce on s/T gives odds that are too sure where T is too small, and too flat where it is too large.

>>> import podium
>>> data, _ = podium.make_letor_like(60, seed=1)
>>> train, valid, _ = podium.split(data)
>>> scores = podium.train(train, "ranking-svm").score(valid)
>>> round(fit_temperature(scores, valid), 2) == round(fit_temperature(10 * scores, valid) / 10, 2)
True
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from podium.data.dataset import Dataset
from podium.distributions.plackett_luce import PlackettLuce

_MOST = 200_000  # documents that the fit looks at


def fit_temperature(scores: NDArray[np.float64], data: Dataset) -> float | None:
    """The T > 0 that makes the grades likeliest under Plackett–Luce on s/T; None where no query has two grades.

    The likelihood is that of what grades say and no more: every document comes before all of lower grade, in whatever
    order within a grade (`graded_race.py`). Its negative logarithm is convex in 1/T. The mean over the orders within a
    grade instead would make odds too flat, since most documents share the lowest grade; P(a document of the grade comes
    next), as in pmop-fd, would make them too sharp, since it asks for one document of a grade and not for all. Both are
    measured in docs/odds.md. A pair of typical distance, once won and once lost, is added to the data, so that a few
    queries without a mistake do not make for certainty.
    """
    assert data.labels is not None, "checked before training"
    queries = [(scores[a:b], data.labels[a:b], w) for a, b, w in _spread_out(data)]
    queries = [(s - s.mean(), y, w) for s, y, w in queries if len(s) and y.min() < y.max()]
    if not queries:
        return None
    spread = math.sqrt(np.mean([float(np.mean(s * s)) for s, _, _ in queries]))
    if not spread > 0:
        return 1.0  # every temperature gives the same odds
    scaled, law = [(s / spread, y, w) for s, y, w in queries], PlackettLuce()

    def cost(log_sharpness: float) -> float:
        sharpness = math.exp(log_sharpness)
        imagined = np.logaddexp(0.0, sharpness) + np.logaddexp(0.0, -sharpness)
        return float(imagined - sum(w * law.log_prob_of_grades(sharpness * s, y) for s, y, w in scaled))

    found = minimize_scalar(cost, bounds=(-7.0, 5.0), method="bounded", options={"xatol": 1e-4})
    return float(spread / math.exp(found.x))


def _spread_out(data: Dataset) -> Iterator[tuple[int, int, float]]:
    """Where queries begin and end, with their weights: all, or of a large dataset every k-th."""
    for q in range(0, data.n_queries, 1 + data.n_documents // _MOST):
        weight = 1.0 if data.query_weights is None else float(data.query_weights[q])
        yield int(data.offsets[q]), int(data.offsets[q + 1]), weight
