"""Interpolation: saved models, and a method fitted here, in the proportions that are best by the metric."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from podium.algorithms.requirements import needs_grades
from podium.base.arrays import Array
from podium.base.errors import ParameterError
from podium.base.registry import register
from podium.data.dataset import Dataset
from podium.ensembles.composite import check_file_name, parsed
from podium.ensembles.stack import Stack
from podium.learner import fitted
from podium.metrics import Metric
from podium.scorers import Params
from podium.solvers import Watch, mean_metric

NONE = "none"
_STEPS = 10


@register
class Interpolated(Stack):
    """Interpolation: the weighted mean of saved models' z-scores, and of a method fitted to the data.

    Formula: s(x) = Σ_m a_m z_m(x), a_m ≥ 0, Σ a_m = 1, z_m the score of model m less its mean in the query, over its
        standard deviation there. The weights are tenths, and the best by the metric on validation data; without it, on
        the training data, with out-of-fold scores of the method `of`. Of equals the first, which trust early sources.
    Ties: documents that all models tie are tied.
    Cost: scoring of all models; 11 evaluations of the metric for two models, 66 for three, 286 for four.
    Use it for: an old model and a few queries of a new market: never much worse than the better of the two.
    Reference: Gao et al., Model adaptation via model interpolation and boosting for web search ranking, EMNLP 2009.
    """

    sources: tuple[str, ...] = ()
    """Model files."""
    of: str = NONE
    """A method to fit to the data and mix in; none: only saved models."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for source in self.sources:
            check_file_name(source, self.name)
        if self.of != NONE:
            parsed(self.of)

    @property
    def specifications(self) -> tuple[str, ...]:
        return (*(f"model(file={source})" for source in self.sources), *([] if self.of == NONE else [self.of]))

    def check(self, data: Dataset) -> None:
        if not 2 <= len(self.specifications) <= 4:
            raise ParameterError(
                f"interpolated mixes two to four models; got {len(self.specifications)}. Write e.g. "
                "'interpolated(sources=[old.podium],of=listnet)'."
            )
        needs_grades(data, self.name)
        super().check(data)

    def combine(self, data: Dataset, z: Array, z_valid: Array | None, *, seed: int, watch: Watch) -> tuple[Params, Any]:
        metric = watch.metric or Metric.parse("ndcg@10")
        decides, columns = (data, z) if z_valid is None or watch.valid is None else (watch.valid, z_valid)
        tried = [(mean_metric(metric, columns @ shares, decides), shares) for shares in simplex(z.shape[1])]
        _, shares = max(tried, key=lambda pair: -np.inf if np.isnan(pair[0]) else pair[0])
        return {"shares": shares}, {"shares": shares.tolist()}

    def join(self, params: Params, n_features: int) -> Any:
        shares = self.shares(params)
        return lambda data, z: z @ shares

    def shares(self, params: Params) -> Array:
        return fitted(params, "shares", (len(self.specifications),))


def simplex(count: int, steps: int = _STEPS) -> Iterator[Array]:
    """All shares of `count` parts in tenths, or other steps, those that trust the first part first."""  # (count,) each
    for cuts in itertools.combinations(range(steps + count - 1), count - 1):
        places = np.array([-1, *cuts, steps + count - 1])
        yield (np.diff(places) - 1)[::-1] / steps
