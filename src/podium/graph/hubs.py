"""HITS: a good hub links to good authorities, a good authority is linked from good hubs.

    >>> scores = hits([(0, 1), (0, 2), (1, 2), (3, 2)])
    >>> [round(score, 6) for score in scores.authority.values()], [round(score, 6) for score in scores.hub.values()]
    ([0.0, 0.292893, 0.707107, 0.0], [0.414214, 0.292893, 0.0, 0.292893])

Reference: Kleinberg, Authoritative sources in a hyperlinked environment, 1999.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import ParameterError
from podium.graph.links import Edge, Links, as_links, by_name
from podium.graph.pagerank import warn_unfinished


class HITS(NamedTuple):
    """The scores of nodes as authorities and as hubs; each sums to 1."""

    authority: dict[Any, float]
    hub: dict[Any, float]


def hits(edges: Iterable[Edge] | Links, *, tolerance: float = 1e-10, rounds: int = 1000) -> HITS:
    """Authority and hub scores of each node: the leading eigenvectors of AᵀA and AAᵀ, A the matrix of links.

    Power iteration from the uniform vector until the total change is below `tolerance`, at most `rounds` times; then
    a ConvergenceWarning. If several eigenvectors share the largest eigenvalue, the result is the projection of the
    uniform vector on all of them: equal parts of the graph get equal scores. Without links all scores are 1/N.
    """
    links = as_links(edges)
    authority, hub = hits_scores(links, tolerance=tolerance, rounds=rounds)
    return HITS(by_name(links, authority), by_name(links, hub))


def hits_scores(links: Links, *, tolerance: float = 1e-10, rounds: int = 1000) -> tuple[Array, Array]:
    """Authority and hub scores of each node, in the order of the nodes."""  # (N,), (N,)
    if not tolerance > 0.0 or rounds < 1:
        raise ParameterError(f"hits: tolerance must be above 0 and rounds at least 1; got {tolerance!r}, {rounds!r}.")
    n, A = len(links), links.weights
    authority = np.full(n, 1.0 / max(n, 1))
    if A.nnz == 0:
        return authority, authority.copy()
    back, change = A.T.tocsr(), np.inf
    for _ in range(rounds):
        new = back @ (A @ authority)
        new /= new.sum()
        change, authority = float(np.abs(new - authority).sum()), new
        if change < tolerance:
            break
    else:
        warn_unfinished("hits", rounds, change, tolerance)
    hub = A @ authority
    return authority, hub / hub.sum()
