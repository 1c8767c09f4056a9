"""Learning curve: what more judged queries, or more judged documents, would bring.

    >>> import podium
    >>> from podium.evaluation.curves.learning_curve import learning_curve
    >>> data, _ = podium.make_letor_like(250, (8, 12), n_features=8, seed=3)
    >>> curve = learning_curve(data, "regression", orders=3)
    >>> curve.sizes
    (9, 19, 38, 75, 150)
    >>> curve.by
    'queries'

Nested random subsets of the training data, in several orders, are trained with the same hyperparameters and measured on
the same test data. The fit v(Q) = a − bQ^{−c} says what a doubling would bring.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from podium.base.arguments import whole_number
from podium.base.arrays import Array, Ints
from podium.base.errors import DataError, ParameterError, PodiumError
from podium.base.matrix_on_disk import take_rows
from podium.base.shown import Shown, ShownTable
from podium.data.dataset import Dataset
from podium.data.fold import Fold
from podium.data.inputs import labelled_data
from podium.data.splits import split
from podium.evaluation.evaluate import evaluate, read_metrics
from podium.evaluation.paired import Interval
from podium.metrics import Metric

By = Literal["queries", "documents"]
LEVEL = 0.9
_PARTS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
_LEAST = {"queries": 8, "documents": 50}
_RESAMPLES = 200
_EXPONENTS = np.linspace(0.2, 2.0, 37)
_FARTHEST = 4
"""Multiple of the size of the data beyond which the fit is not asked."""


class Forecast(NamedTuple):
    """Value at a size that was not tried, its gain over that of all data, and their 90 % intervals."""

    size: int
    value: float
    interval: Interval
    gain: float
    gain_interval: Interval


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve(Shown):
    """Values of a metric on test queries, for each order and each size of the training data."""

    method: str
    metric: Metric
    by: By
    sizes: tuple[int, ...]
    values: Array  # (orders, sizes, test queries), without queries that do not count
    seed: int = 0
    data: str = ""

    @property
    def means(self) -> Array:
        """Mean over orders and test queries at each size."""  # (sizes,)
        return np.asarray(self.values.mean(axis=(0, 2)))

    @property
    def intervals(self) -> list[Interval]:
        """90 % interval of the mean at each size: test queries, the same for all sizes, and orders are resampled."""
        return [_interval(column) for column in self._resampled.T]

    @property
    def test_error(self) -> float:
        """Standard error of the value of all data that is due to the number of test queries."""
        last = self.values[:, -1].mean(axis=0)
        return float(last.std(ddof=1) / np.sqrt(len(last)))

    @property
    def last_step(self) -> tuple[float, Interval]:
        """Gain from half of the data to all of it, and its interval."""
        steps = self._resampled[:, -1] - self._resampled[:, -2]
        return float(self.means[-1] - self.means[-2]), _interval(steps)

    def refusal(self, size: int | None = None) -> str | None:
        """The reason why nothing is said about larger data; None if there is none."""
        if len(self.sizes) < 4:
            return f"a fit needs at least 4 sizes of training data; there are {len(self.sizes)}."
        if size is not None and size > _FARTHEST * self.sizes[-1]:
            return f"{size} {self.by} are more than {_FARTHEST} times the data: too far out for the fit."
        low, high = self.last_step[1]
        if low <= 0.0 <= high:
            other = "more documents per query" if self.by == "queries" else "more queries"
            return (
                f"the last doubling changed {self.metric} by between {low:+.4f} and {high:+.4f}, which may be nothing: "
                f"more {self.by} are not what is missing; rather {other}, or other features?"
            )
        return None

    def forecast(self, size: int | None = None) -> Forecast:
        """Forecast of the value at a size, by default twice the data, by the fit a − bQ^{−c} to each resample."""
        wanted = 2 * self.sizes[-1] if size is None else whole_number(size, "size", least=1)
        reason = self.refusal(wanted)
        if reason is not None:
            raise PodiumError(f"No forecast: {reason}")
        noise = self._training_noise
        sizes, weights = np.array(self.sizes, np.float64), 1.0 / self._visible_variance
        sign = 1.0 if self.metric.higher_is_better else -1.0
        fitted = sign * _fits(sign * np.vstack([self.means, self._resampled]), sizes, weights, float(wanted))
        now = np.append(self.means[-1], self._resampled[:, -1])
        shift = np.random.default_rng(self.seed).normal(0.0, np.sqrt(noise / sizes[-1]), _RESAMPLES)
        later = fitted[1:] + shift
        gains = fitted - now
        return Forecast(wanted, float(fitted[0]), _interval(later), float(gains[0]), _interval(gains[1:] + shift))

    def to_dict(self) -> dict[str, Any]:
        """The curve as plain values for JSON."""
        reason = self.refusal()
        sizes = zip(self.sizes, self.means.tolist(), self.intervals, strict=True)
        return {
            "method": self.method,
            "metric": self.metric.tag(),
            "by": self.by,
            "orders": len(self.values),
            "level": LEVEL,
            "sizes": [{"size": n, "value": value, "low": low, "high": high} for n, value, (low, high) in sizes],
            "test_error": self.test_error,
            "forecast": None if reason else self.forecast()._asdict(),
            "refusal": reason,
        }

    def sentences(self) -> list[str]:
        """What the curve says about more data."""
        reason = self.refusal()
        error = f"standard error of {self.metric} due to {self.values.shape[2]} test queries: {self.test_error:.4f}"
        if reason is not None:
            return [f"no forecast: {reason}", error]
        size, value, (low, high), gain, (least, most) = self.forecast()
        return [
            f"twice the {self.by} ({size}) would change {self.metric} by about {gain:+.4f} "
            f"({least:+.4f} to {most:+.4f}, 90 %), to {value:.4f} ({low:.4f} to {high:.4f})",
            error,
        ]

    def _shown(self) -> ShownTable:
        rows = [
            [n, float(value), low, high]
            for n, value, (low, high) in zip(self.sizes, self.means, self.intervals, strict=True)
        ]
        fixed = f"{self.method}, fixed for all sizes; {len(self.values)} orders; 90 % intervals"
        heads = [self.by, str(self.metric), "from", "to"]
        return ShownTable("Learning curve", heads, rows, notes=[fixed, *self.sentences()])

    @cached_property
    def _resampled(self) -> Array:
        """Means of resampled test queries and orders."""  # (resamples, sizes)
        rng = np.random.default_rng(self.seed)
        orders, _, queries = self.values.shape
        rows = []
        for _ in range(_RESAMPLES):
            chosen = self.values[rng.integers(orders, size=orders)].mean(axis=0)
            rows.append(chosen[:, rng.integers(queries, size=queries)].mean(axis=1))
        return np.array(rows)

    @property
    def _training_noise(self) -> float:
        """k of the variance k/Q that the choice of the training data causes.

        Subsets of a part f of the data overlap, so orders show only (1 − f)k/q of it.
        """
        sizes = np.array(self.sizes, np.float64)
        shown = self.values.mean(axis=2).var(axis=0, ddof=1) if len(self.values) > 1 else np.zeros(len(sizes))
        parts = sizes / sizes[-1]
        return float(np.mean((shown * sizes)[:-1] / (1.0 - parts[:-1]))) if len(sizes) > 1 else 0.0

    @property
    def _visible_variance(self) -> Array:
        """Variance of the mean over orders at each size, given all data; at least a quarter of that of all data."""
        sizes = np.array(self.sizes, np.float64)
        noise = max(self._training_noise, 1e-12)
        spread = noise / sizes * (1.0 - sizes / sizes[-1]) / len(self.values)
        return np.asarray(np.maximum(spread, 0.25 * noise / sizes[-1]))


def learning_curve(
    data: Any,
    method: str,
    metric: str | Metric = "ndcg@10",
    *,
    by: By = "queries",
    orders: int = 5,
    preset: str | None = None,
    seed: int = 0,
) -> LearningCurve:
    """Train on nested random subsets of the training data, in several orders, and measure on fixed test data.

    `data` is a fold, or a dataset or frame, which is split by query 60/20/20. Hyperparameters are chosen once, on half
    of the training data, by validation data, and then fixed. With `by="documents"`, subsets have all queries and a part
    of the documents of each.
    """
    from podium.training import fit, train

    orders, seed = whole_number(orders, "orders", least=2), whole_number(seed, "seed", least=0)
    if by not in ("queries", "documents"):
        raise ParameterError(f"by must be queries or documents; got {by!r}.")
    [wanted] = read_metrics([metric], preset)
    fold = data if isinstance(data, Fold) else _fold(data, seed)
    if fold.test is None or fold.test.labels is None:
        raise DataError("no labelled test data, which a learning curve is measured on.", where=fold.name)
    parts, sizes = _sizes(fold.train, by)
    half = _subset(fold.train, 0.5, by, np.random.default_rng([seed, 0]))
    learner = train(half, method, valid=fold.valid, metric=wanted, seed=seed).learner
    values = np.empty((orders, len(sizes), fold.test.n_queries))
    for k in range(orders):
        for n, part in enumerate(parts):
            subset = _subset(fold.train, part, by, np.random.default_rng([seed, k]))
            model = fit(learner, subset, valid=fold.valid, metric=wanted, seed=seed + k)
            values[k, n] = evaluate(fold.test, model.score(fold.test), [wanted]).values[0]
    counted = values[:, :, ~np.isnan(values).any(axis=(0, 1))]
    if counted.shape[2] < 2:
        raise DataError(f"fewer than 2 test queries count for {wanted}; a learning curve needs more.", where=fold.name)
    return LearningCurve(repr(learner), wanted, by, sizes, counted, seed, fold.train.source or "")


def _fold(data: Any, seed: int) -> Fold:
    train, valid, test = split(labelled_data(data), (0.6, 0.2, 0.2), seed=seed)
    return Fold(train, valid, test, "Fold1")


def _sizes(train: Dataset, by: By) -> tuple[list[float], tuple[int, ...]]:
    """The parts of the data to train on, and their sizes; the smallest ones are left out."""
    total = train.n_queries if by == "queries" else train.n_documents
    if total < 2 * _LEAST[by]:
        raise DataError(
            f"a learning curve needs at least {2 * _LEAST[by]} {by} of training data; got {total}.", where=train.source
        )
    parts = [part for part in _PARTS if round(part * total) >= _LEAST[by]]
    return parts, tuple(round(part * total) if by == "queries" else int(_kept(train, part).sum()) for part in parts)


def _kept(train: Dataset, part: float) -> Ints:
    """Documents of each query in a part of the documents; at least one."""
    return np.asarray(np.ceil(part * train.sizes), np.int64)


def _subset(train: Dataset, part: float, by: By, rng: np.random.Generator) -> Dataset:
    """A random part of the queries, or of the documents of each; with the same numbers, a larger part contains it."""
    if by == "queries":
        order = rng.permutation(train.n_queries)
        return train.select(np.sort(order[: round(part * train.n_queries)]))
    if train.preferences is not None:
        raise DataError("documents of preferences cannot be left out. Use by=queries.", where=train.source)
    draws = rng.random(train.n_documents)
    order = np.lexsort((draws, train.query_index))
    place = np.arange(train.n_documents) - np.repeat(train.offsets[:-1], train.sizes)
    kept = _kept(train, part)
    rows: Ints = np.sort(order[place < np.repeat(kept, train.sizes)])
    return Dataset.from_arrays(
        take_rows(train.features, rows),
        None if train.labels is None else train.labels[rows],
        group=kept,
        feature_names=train.feature_names,
        query_weights=train.query_weights,
        document_weights=None if train.document_weights is None else train.document_weights[rows],
        source=train.source,
    ).grouped()


def _fits(values: Array, sizes: Array, weights: Array, at: float) -> Array:
    """The value at a size of the weighted least squares fit of a − bQ^{−c}, b ≥ 0, to each row of values."""
    w = weights / weights.sum()
    best, result = np.full(len(values), np.inf), np.zeros(len(values))
    mean = values @ w
    for c in _EXPONENTS:
        x = -((sizes / sizes[-1]) ** -c)
        centre = float(x @ w)
        spread = float(w @ (x - centre) ** 2)
        slope = np.maximum((values - mean[:, None]) @ (w * (x - centre)) / spread, 0.0)
        residual = ((values - mean[:, None] - np.outer(slope, x - centre)) ** 2) @ w
        better = residual < best
        best = np.where(better, residual, best)
        result = np.where(better, mean + slope * (-((at / sizes[-1]) ** -c) - centre), result)
    return result


def _interval(values: Array) -> Interval:
    low, high = np.quantile(values, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return Interval(float(low), float(high))
