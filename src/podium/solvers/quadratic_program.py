"""Quadratic programs of the support vector machines, solved by Clarabel's interior point method.

    min_θ ½ Σ_l m_l θ_l² + Σ_p c_p [1 − ⟨a_p, θ⟩]_+        `minimise_hinge`
    max_α ⟨δ, α⟩ − ½ ‖Gᵀα‖²,  α ≥ 0, Σα ≤ C                `weigh_planes`, `solve_planes`

Reference: Goulart and Chen, Clarabel: an interior-point solver for conic programs with quadratic objectives, 2024.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import ParameterError

if TYPE_CHECKING:
    import scipy.sparse as sp

BYTES = 160.0
"""Approximate memory of a program per non-zero of its rows, including the factors of its linear systems."""


def minimise_hinge(rows: sp.csr_array, cost: Array, penalised: Array, *, who: str) -> Array:
    """θ that minimises ½ Σ m θ² + Σ c [1 − ⟨a, θ⟩]_+, with a the sparse rows (P, D) and m the `penalised` (D,)."""
    import scipy.sparse as sp

    n, d = rows.shape
    P = sp.diags_array(np.append(penalised, np.zeros(n)))
    q = np.append(np.zeros(d), cost)
    # s = b − A(θ, ξ) ≥ 0:  ⟨a, θ⟩ + ξ − 1 ≥ 0 and ξ ≥ 0
    identity: Any = sp.eye_array(n)
    A: Any = sp.block_array([[-rows, -identity], [None, -identity]])
    b = np.append(-np.ones(n), np.zeros(n))
    return solve(P, q, A, b, nonnegative=2 * n, who=who)[:d]


def solve_planes(G: Array, delta: Array, cost: float, *, who: str) -> tuple[Array, float]:
    """w and the slack ξ of min ½‖w‖² + C ξ, ⟨g, w⟩ ≥ δ − ξ for each plane g (k, d), ξ ≥ 0, by the dual."""
    w = G.T @ weigh_planes(G, delta, cost, who=who)
    return w, max(float(np.max(delta - G @ w)), 0.0)


def weigh_planes(G: Array, delta: Array, cost: float, *, who: str) -> Array:
    """α of the dual, one for each plane; its constraints hold exactly, whatever the tolerance of the solver."""
    import scipy.sparse as sp

    k = len(delta)
    A = sp.vstack([-sp.eye_array(k), sp.csr_array(np.ones((1, k)))])
    b = np.append(np.zeros(k), cost)
    alpha = np.maximum(solve(sp.csc_array(G @ G.T), -delta, A, b, nonnegative=k + 1, who=who), 0.0)
    return np.asarray(alpha * min(1.0, cost / max(float(alpha.sum()), cost)))


def solve(P: Any, q: Array, A: Any, b: Array, *, nonnegative: int, cone: int = 0, who: str) -> Array:
    """Minimise ½xᵀPx + qᵀx with b − Ax ≥ 0 in the first rows and in a second-order cone in the last `cone` rows."""
    import clarabel
    import scipy.sparse as sp

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    cones = [clarabel.NonnegativeConeT(nonnegative)]
    if cone:
        cones.append(clarabel.SecondOrderConeT(cone))
    upper = sp.csc_matrix(sp.triu(P, format="csc"))
    solution = clarabel.DefaultSolver(upper, q, sp.csc_matrix(A), b, cones, settings).solve()
    if solution.status not in (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved):
        raise ParameterError(
            f"{who}: its quadratic program could not be solved (Clarabel says {solution.status}). "
            "Use a smaller cost, or scale the features (transform=zscore)."
        )
    return np.asarray(solution.x, np.float64)
