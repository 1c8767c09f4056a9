"""McRank: ranking as classification of grades with boosted trees (Li, Burges and Wu, 2007).

>>> from podium.algorithms import McRank
>>> McRank(ordinal=True)
mcrank(ordinal=true)
"""

from __future__ import annotations

import numpy as np

from podium.algorithms.requirements import needs_grades
from podium.base.arrays import Array
from podium.base.errors import IncompatibleError
from podium.base.registry import param, register
from podium.data.dataset import Dataset
from podium.learner import Learned, Learner, fitted
from podium.scorers import Params, Prepared, Trees
from podium.scorers.trees.grower import Bins, Grower
from podium.solvers import Watch
from podium.transforms import Identity, Transform

MOST_GRADES = 100


@register
class McRank(Learner):
    """Classification of documents into grades with boosted trees; ranks by the expected grade.

    Formula: s = Σ_k k·P(y = k | x) over the grades k of the training data, by their values. P is a boosted multinomial
        model; with `ordinal`, K − 1 boosted logistic models give P(y ≥ k), and P(y = k) are their differences.
    Ties: documents of equal grade are one class; queries are ignored.
    Cost: one tree per grade (less one, if ordinal) and round, each O(documents × features).
    Use it for: few grades that mean the same in every query; probabilities of grades. `ordinal` when grades are steps.
    Reference: Li, Burges and Wu, McRank: learning to rank using multiple classification and gradient boosting, 2007.
    """

    ordinal: bool = False
    """Whether grades are steps: models of P(y ≥ k) instead of P(y = k)."""
    rounds: int = param(default=300, least=1)
    """Most rounds, each with a tree for every grade."""
    learning_rate: float = param(default=0.05, above=0, search=(0.01, 0.3, "log"))
    """Factor of each tree."""
    num_leaves: int = param(default=10, least=2, search=(4, 64, "log"))
    """Most leaves of a tree."""
    min_data_in_leaf: int = param(default=20, least=1, search=(5, 100, "log"))
    """Minimum number of documents in a leaf."""
    patience: int | None = param(default=50, least=1)
    """Early stopping: end after this many rounds without a better validation metric."""
    transform: Transform = Identity()
    name = "mcrank"

    @property
    def predicts_grades(self) -> bool:
        return True

    def check(self, data: Dataset) -> None:
        grades = needs_grades(data, self.name)
        if len(grades) > MOST_GRADES:
            raise IncompatibleError(
                f"mcrank grows a tree per grade and round; the data has {len(grades)} grades, and at most "
                f"{MOST_GRADES} are sensible. Use the method regression, or fewer grades."
            )

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        assert data.labels is not None
        grades, y = np.unique(data.labels, return_inverse=True)
        bins = Bins(
            data, watch.valid, num_leaves=self.num_leaves, min_data_in_leaf=self.min_data_in_leaf,
            learning_rate=self.learning_rate, seed=int(rng.integers(2**31)),
        )  # fmt: skip
        steps, whole = np.arange(1, len(grades)), np.arange(len(grades))
        target = np.asarray(y[:, None] >= steps if self.ordinal else y[:, None] == whole, np.float64)  # (N, models)
        growers = [Grower(bins) for _ in range(target.shape[1])]
        start = self._start(target.mean(axis=0))
        rounds, reason = 0, f"{self.rounds} rounds were allowed"
        for rounds in range(1, self.rounds + 1):
            value, grown = self._round(growers, start, target, data.query_weights_of_rows())
            if not grown:
                rounds, reason = rounds - 1, f"no further split found after {rounds - 1} rounds"
                break
            if watch.record(
                rounds, self.rounds, value,
                scores=lambda _: self._expected(start + np.column_stack([g.valid_outputs() for g in growers]), grades),
                state=rounds, patience=self.patience,
            ):  # fmt: skip
                reason = "no better validation measure"
                break
        keep = rounds if watch.best is None else watch.best.iteration
        trees = {f"trees-{at}": grower.text(keep) for at, grower in enumerate(growers)}
        record = {"stopped": reason, "iterations": rounds, "kept": keep}
        return Learned(self, {"grades": grades, "start": start, **trees}, record)

    def score(self, params: Params, data: Dataset) -> Array:
        return self.prepare(params, data.n_features)(data)

    def prepare(self, params: Params, n_features: int) -> Prepared:
        raw, grades = self._raw(params, n_features), fitted(params, "grades", (None,))
        return lambda data: self._expected(raw(data), grades)

    def probabilities(self, params: Params, data: Dataset) -> Array:
        """P(y = k | x) for each grade of the training data, ascending."""  # (N, K)
        return self._probabilities(self._raw(params, data.n_features)(data))

    def best_grade_probability(self, params: Params, data: Dataset) -> Array:
        return np.asarray(self.probabilities(params, data)[:, -1])

    def grades(self, params: Params, data: Dataset) -> Array:
        """The most probable grade of each document."""  # (N,)
        return np.asarray(fitted(params, "grades", (None,))[np.argmax(self.probabilities(params, data), axis=1)])

    def _start(self, share: Array) -> Array:
        """Outputs before the first tree: the probability of each grade is its share of the data."""
        from scipy.special import logit

        return np.asarray(logit(share) if self.ordinal else np.log(share))

    def _round(self, growers: list[Grower], start: Array, target: Array, weights: Array) -> tuple[float, bool]:
        """Grow each model by a tree; returns the mean −log P of the grades before, and whether any tree has grown."""
        from scipy.special import expit, log_softmax, softmax

        raw = start + np.column_stack([grower.outputs() for grower in growers])
        P = expit(raw) if self.ordinal else softmax(raw, axis=1)
        # A multinomial output has the curvature K/(K − 1)·p(1 − p), since the others respond (Friedman, 2001).
        factor = 1.0 if self.ordinal else P.shape[1] / (P.shape[1] - 1)
        curvature = np.maximum(factor * P * (1 - P), 1e-16) * weights[:, None]
        gradient = (P - target) * weights[:, None]
        grown = [
            grower.grow(lambda _, k=k: (gradient[:, k], curvature[:, k]))  # type: ignore[misc]
            for k, grower in enumerate(growers)
        ]
        off = np.logaddexp(0, np.where(target > 0, -raw, raw)) if self.ordinal else -log_softmax(raw, axis=1) * target
        return float(weights @ off.sum(axis=1) / weights.sum()), any(grown)

    def _raw(self, params: Params, n_features: int) -> Prepared:
        """A function of data to the outputs of all models."""  # (N, K or K − 1)
        n_models = len(fitted(params, "grades", (None,))) - self.ordinal
        start = fitted(params, "start", (n_models,))
        texts = [params.get(f"trees-{at}", np.empty(0, np.uint8)) for at in range(n_models)]
        models = [Trees().prepare({"trees": text}, n_features) for text in texts]
        return lambda data: start + np.column_stack([model(data) for model in models])

    def _probabilities(self, raw: Array) -> Array:
        from scipy.special import expit, softmax

        if not self.ordinal:
            return np.asarray(softmax(raw, axis=1))
        # Separate models need not decrease with k; their running minimum does.
        above = np.minimum.accumulate(np.column_stack([np.ones(len(raw)), expit(raw)]), axis=1)
        return -np.diff(above, axis=1, append=0.0)

    def _expected(self, raw: Array, grades: Array) -> Array:
        """Σ_k k·P(y = k) over the values k of grades."""
        return np.asarray(self._probabilities(raw) @ grades, np.float64)
