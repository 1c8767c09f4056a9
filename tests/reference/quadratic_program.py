"""A convex quadratic program whose answer is checked by its optimality conditions, so that no solver is trusted."""

from __future__ import annotations

import clarabel
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Array = NDArray[np.float64]


def minimum(P: Array, q: Array, A: Array, b: Array) -> tuple[Array, float]:
    """x and the value of min ½xᵀPx + qᵀx with Ax ≤ b, for a positive semidefinite P.

    The conditions of Karush, Kuhn and Tucker are asserted: Ax ≤ b, z ≥ 0, Px + q + Aᵀz = 0, zᵀ(b − Ax) = 0. They hold
    at the minimum only, whatever found x and z.
    """
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    cone = [clarabel.NonnegativeConeT(len(b))]
    found = clarabel.DefaultSolver(sp.csc_matrix(np.triu(P)), q, sp.csc_matrix(A), b, cone, settings).solve()
    x, z = np.array(found.x), np.maximum(found.z, 0.0)
    room, scale = b - A @ x, 1e-7 * (1.0 + np.abs(q).max() + np.abs(b).max())
    assert room.min() >= -scale, "a constraint is broken"
    assert np.abs(P @ x + q + A.T @ z).max() <= scale, "the gradient of the Lagrangian is not 0"
    assert abs(z @ room) <= scale, "the duality gap is not 0"
    return x, float(0.5 * x @ P @ x + q @ x)
