"""OC SVM: ordinal classification by parallel hyperplanes with large margins (Shashua and Levin, 2003).

>>> from podium.algorithms import OCSVM
>>> OCSVM(margins="sum", cost=2.0)
oc-svm(margins=sum,cost=2.0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from podium.algorithms.linear_learner import LinearLearner
from podium.algorithms.requirements import needs_grades
from podium.algorithms.thresholds import grade_of
from podium.base.arrays import Array, Ints
from podium.base.errors import IncompatibleError, needs_memory
from podium.base.registry import param, register
from podium.data.dataset import Dataset
from podium.learner import Learned
from podium.problem import refuse_missing
from podium.scorers import Params
from podium.solvers import Watch
from podium.solvers.quadratic_program import BYTES, minimise_hinge, solve
from podium.transforms import Transform, ZScore

if TYPE_CHECKING:
    import scipy.sparse as sp


@register
class OCSVM(LinearLearner):
    """Support vector machine for ordinal grades: one direction w, and a threshold between neighbouring grades.

    Formula: fixed: min ½‖w‖² + Σ_r (Σ_{y_i = r} C_r ξ_i + Σ_{y_i = r+1} C_{r+1} ξ*_i) with ⟨w,x_i⟩ − b_r ≤ −1 + ξ_i for
        documents of grade r, ⟨w,x_i⟩ − b_r ≥ 1 − ξ*_i for those of grade r + 1. sum: min Σ_r (a_r − b_r) + Σ C(ξ + ξ*)
        with ⟨w,x_i⟩ ≤ a_r + ξ_i, ⟨w,x_i⟩ ≥ b_r − ξ*_i, a_r ≤ b_r ≤ a_{r+1}, ‖w‖ ≤ 1: each margin as wide as possible.
        Only neighbouring grades share a threshold. The paper has one C for all (`balanced=false`: cost / the number of
        documents of the lowest or the highest grade, whichever is smaller), which neglects rare relevant documents; so
        C_r = cost / (number of documents of grade r), half of it for `sum` in grades between two thresholds. The score
        is ⟨w,x⟩; the threshold of `sum` is (a_r + b_r)/2, and if grades overlap so much that no margin pays, w = 0.
    Ties: documents of equal grade are not compared; queries are ignored, except for their weights.
    Cost: an interior point method: 15 to 60 steps of O(documents × features²), memory for twice the features. More
        documents take more steps: the time of a fit grows about as documents^1.4.
    Use it for: grades that mean the same in every query, up to some 100,000 documents; it predicts grades too.
    Reference: Shashua and Levin, Ranking with large margin principle: two approaches, NIPS 2003.
    """

    margins: Literal["fixed", "sum"] = "fixed"
    """`fixed`: all thresholds have the same margin; `sum`: each is as wide as possible."""
    cost: float = param(default=1.5, above=0)
    """Cost of the mean slack of a grade."""
    balanced: bool = True
    """Whether rare grades have a larger cost; if not, all have the same, as in the paper."""
    transform: Transform = ZScore()
    name = "oc-svm"

    def check(self, data: Dataset) -> None:
        needs_grades(data, self.name)
        values = data.features.size  # the stored ones, if sparse
        needs_memory(2.0 * values * BYTES, self.name, instead="Use prank, or fewer queries.")
        if self.margins == "sum" and self.cost <= 1:
            raise IncompatibleError(
                f"oc-svm(margins=sum): cost={self.cost:g} lets the outer margins grow without end, because giving up a "
                "whole grade costs less than its margin brings. Use a cost above 1."
            )

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        import scipy.sparse as sp

        refuse_missing(data, self.name)
        assert data.labels is not None
        grades, y = np.unique(data.labels, return_inverse=True)
        docs, edge, sign = _adjacent(y, len(grades))
        weights = data.query_weights_of_rows()
        cost = self.cost * weights[docs] / self._shared(y, docs, weights)
        features: Any = data.features
        X: Any = sp.csr_array(features[docs].astype(np.float64))
        find = self._fixed if self.margins == "fixed" else self._sum
        w, b, objective = find(X, edge, sign, cost, len(grades) - 1)
        reason = "the program was solved"
        if self.margins == "sum" and objective > -_NO_MARGIN:
            w, b = np.zeros_like(w), np.zeros_like(b)
            reason = "no direction has margins worth their slack, so w = 0; use a cost nearer to 1"
        record = {"stopped": reason, "objective": objective}
        return Learned(self, {"weights": w, "thresholds": b, "grades": grades}, record)

    def grades(self, params: Params, data: Dataset) -> Array:
        return grade_of(self.score(params, data), params)

    def _shared(self, y: Ints, docs: Ints, weights: Array) -> Array:
        """Divisor of each slack's cost: the number of documents of its grade; in `sum`, twice that of a middle grade.

        There the two limits around a grade cancel in the sum of margins, and two whole costs would outweigh it.
        """
        if not self.balanced:
            return np.full(len(docs), min(weights[y == 0].sum(), weights[y == y.max()].sum()))
        counted = docs if self.margins == "sum" else np.arange(len(y))
        return np.asarray(np.bincount(y[counted], weights[counted])[y[docs]], np.float64)

    def _fixed(self, X: sp.csr_array, edge: Ints, sign: Array, cost: Array, n_edges: int) -> tuple[Array, Array, float]:
        """Hinge on sign·(⟨w,x⟩ − b_r): rows sign·(x, −e_r)."""
        import scipy.sparse as sp

        n, d = X.shape
        places = sp.csr_array((-sign, (np.arange(n), edge)), shape=(n, n_edges))
        rows = sp.hstack([sp.diags_array(sign) @ X, places])
        theta = minimise_hinge(rows, cost, np.append(np.ones(d), np.zeros(n_edges)), who=self.name)
        value = 0.5 * theta[:d] @ theta[:d] + cost @ np.maximum(1 - rows @ theta, 0)
        return theta[:d], theta[d:], float(value)

    def _sum(self, X: sp.csr_array, edge: Ints, sign: Array, cost: Array, n_edges: int) -> tuple[Array, Array, float]:
        """Variables (w, a, b, ξ): sign·(⟨w,x⟩ − a_r or b_r) + ξ ≥ 0, a_r ≤ b_r ≤ a_{r+1}, ‖w‖ ≤ 1."""
        import scipy.sparse as sp

        n, d = X.shape
        limits = 2 * n_edges  # a_1, b_1, a_2, b_2, …
        place = 2 * edge + (sign > 0)
        bounds = sp.csr_array((-sign, (np.arange(n), place)), shape=(n, limits))
        rising = sp.eye_array(limits - 1, limits, k=1) - sp.eye_array(limits - 1, limits)
        A: Any = -sp.block_array(
            [
                [sp.diags_array(sign) @ X, bounds, sp.eye_array(n)],
                [None, None, sp.eye_array(n)],
                [None, rising, None],
                [sp.csr_array((1, d)), None, None],
                [sp.eye_array(d), None, None],
            ]
        )
        b = np.zeros(A.shape[0])
        b[-1 - d] = 1.0  # the cone ‖w‖ ≤ 1
        q = np.concatenate([np.zeros(d), np.tile([1.0, -1.0], n_edges), cost])
        solution = solve(
            sp.csc_array((len(q), len(q))), q, A, b, nonnegative=2 * n + limits - 1, cone=d + 1, who=self.name
        )
        between = solution[d : d + limits].reshape(n_edges, 2)
        return solution[:d], between.mean(axis=1), float(q @ solution)


_NO_MARGIN = 1e-6  # with smaller margins, w is noise of the interior point method


def _adjacent(y: Ints, n_grades: int) -> tuple[Ints, Ints, Array]:
    """Each document with each threshold next to its grade: its row, the threshold, and its side (±1)."""
    above, below = np.flatnonzero(y > 0), np.flatnonzero(y < n_grades - 1)
    docs = np.concatenate([below, above])
    sign = np.concatenate([-np.ones(len(below)), np.ones(len(above))])
    return docs, np.concatenate([y[below], y[above] - 1]), sign
