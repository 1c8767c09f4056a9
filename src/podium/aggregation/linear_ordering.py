"""Linear ordering problem: the cheapest order of documents if every pair has a cost in either direction.

    >>> order, bound = least_order(np.array([[0.0, 2, 1], [1, 0, 2], [2, 1, 0]]), np.array([1, 0, 2]))
    >>> order.tolist(), bound
    ([0, 1, 2], 4.0)

One variable per pair, x_ij = 1 if i comes before j; an order has no cycle of three: 0 ≤ x_ij + x_jk − x_ik ≤ 1. These
cuts are added if they are violated (Grötschel, Jünger & Reinelt 1984), first to the linear program, which is often
enough, then to the integer one. HiGHS solves both.
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints


def least_order(before: Array, start: Ints) -> tuple[Ints, float]:
    """An order of two documents or more, and a lower bound on the cost of any: j before i costs before[i, j].

    `start` is returned if no order found is cheaper. The bound is below the cost only if the solver met its limit of
    nodes.
    """
    program = _Program(before)
    best, cost = start, order_cost(before, start)
    bound, steps = -np.inf, bool((before == np.rint(before)).all())
    for whole in (False, True):
        while (solved := program.solve(whole)) is not None:
            x, at_least = solved
            bound = max(bound, np.ceil(at_least - 1e-6) if steps else at_least)  # whole prices add up to whole costs
            order = np.argsort(-x.sum(axis=1), kind="stable")
            if order_cost(before, order) < cost:
                best, cost = order, order_cost(before, order)
            if cost - bound <= 1e-9 * max(cost, 1.0):
                return best, cost
            if not program.cut(x):
                break
    return best, bound


def order_cost(before: Array, order: Ints) -> float:
    """The cost of the pairs that the order reverses."""
    return float(np.tril(before[np.ix_(order, order)], -1).sum())


class _Program:
    """The program of one problem with the cuts found so far."""

    def __init__(self, before: Array) -> None:
        self.n = n = len(before)
        self.upper = np.triu_indices(n, 1)
        self.column = np.zeros((n, n), np.int64)
        self.column[self.upper] = np.arange(len(self.upper[0]))
        # Σ before[j, i]·x_ij + before[i, j]·(1 − x_ij) over i < j
        self.price = (before.T - before)[self.upper]
        self.constant = float(before[self.upper].sum())
        self.triples = np.empty((0, 3), np.int64)

    def solve(self, whole: bool) -> tuple[Array, float] | None:
        """The solution (n, n) under the present cuts with its bound; None if the limit came first."""
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_array

        m, (i, j, k) = len(self.triples), self.triples.T
        columns = np.stack([self.column[i, j], self.column[j, k], self.column[i, k]], axis=1)
        signs = np.tile([1.0, 1.0, -1.0], m)
        cuts = csr_array((signs, columns.ravel(), 3 * np.arange(m + 1)), shape=(m, len(self.price)))
        solution = milp(
            self.price,
            integrality=np.full(len(self.price), int(whole)),
            bounds=Bounds(0.0, 1.0),
            constraints=LinearConstraint(cuts, 0.0, 1.0) if m else (),
            options={"node_limit": _NODES, "mip_rel_gap": 0.0} if whole else {},
        )
        if solution.x is None:
            return None
        x = np.zeros((self.n, self.n))
        x[self.upper] = solution.x
        x.T[self.upper] = 1.0 - solution.x
        least = solution.mip_dual_bound if whole else solution.fun
        return x, float(least) + self.constant

    def cut(self, x: Array) -> bool:
        """Add the cuts that a solution violates most; False if it violates none."""
        path = x[:, :, None] + x[None, :, :] - x[:, None, :]  # x_ij + x_jk − x_ik at [i, j, k]
        excess = np.maximum(path - 1.0, -path)
        i, j, k = np.nonzero(excess > 1e-6)
        rising = (i < j) & (j < k)
        triples = np.stack([i, j, k], axis=1)[rising]
        worst = np.argsort(-excess[i, j, k][rising], kind="stable")[:_CUTS]
        before = len(self.triples)
        self.triples = np.unique(np.vstack([self.triples, triples[worst]]), axis=0)
        return len(self.triples) > before


_NODES = 2000  # of the integer program's search tree, each time it is solved
_CUTS = 2000  # added at a time
