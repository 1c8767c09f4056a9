"""Single-feature baseline: the feature, ascending or descending, that ranks the training data best."""

from __future__ import annotations

import numpy as np

from podium.algorithms.requirements import needs_grades
from podium.base.arrays import Array, column
from podium.base.registry import register
from podium.data.dataset import Dataset
from podium.learner import Learned, Learner
from podium.metrics import Metric
from podium.scorers import Params
from podium.scorers.forms import LinearForm
from podium.solvers import Watch, mean_metric
from podium.transforms import Identity, Transform


@register
class SingleFeature(Learner):
    """Ranking by one feature: the feature and the direction that are best on the training data.

    Formula: s = ±x_l with l and the sign maximising the metric over the training queries.
    Ties: documents with equal values of the feature are tied.
    Cost: 2·features evaluations of the metric, once.
    Use it for: the baseline that shows what learning adds; finding the strongest feature.
    """

    transform: Transform = Identity()

    def check(self, data: Dataset) -> None:
        needs_grades(data, self.name)

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        assert data.labels is not None, "checked before"
        metric = watch.metric or Metric.parse("ndcg@10")
        best = (-np.inf, 0, 1)
        for feature in range(data.n_features):
            values_of_feature = _column(data, feature)
            for sign in (1, -1):
                value = mean_metric(metric, sign * values_of_feature, data)
                best = max(best, (-np.inf if np.isnan(value) else value, -feature, sign))
        feature, sign = -best[1], best[2]
        name = data.feature_names[feature] if data.feature_names else str(feature + 1)
        record = {"feature": name, "direction": "up" if sign > 0 else "down", "training": {str(metric): best[0]}}
        return Learned(self, {"feature": np.array([feature]), "sign": np.array([sign])}, record)

    def score(self, params: Params, data: Dataset) -> Array:
        return int(params["sign"][0]) * _column(data, int(params["feature"][0]))

    def form(self, params: Params, n_features: int) -> LinearForm:
        weights = np.zeros(n_features)
        weights[int(params["feature"][0])] = params["sign"][0]
        return LinearForm(weights)


def _column(data: Dataset, feature: int) -> Array:
    """One feature of all documents; missing values count as 0."""
    return np.nan_to_num(column(data.features, feature).astype(np.float64))
