"""PageRank: the probability of each node in a random walk along links.

    >>> scores = pagerank([(0, 1), (0, 2), (1, 2), (3, 2)])
    >>> {node: round(score, 6) for node, score in scores.items()}
    {0: 0.144692, 1: 0.206186, 2: 0.504431, 3: 0.144692}

Reference: Page, Brin, Motwani and Winograd, The PageRank citation ranking: bringing order to the web, 1999.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import ConvergenceWarning, DataError, ParameterError
from podium.graph.links import Edge, Links, as_links, by_name


def pagerank(
    edges: Iterable[Edge] | Links,
    *,
    damping: float = 0.85,
    restart: Mapping[Any, float] | None = None,
    tolerance: float = 1e-10,
    rounds: int = 200,
) -> dict[Any, float]:
    """The PageRank of each node; they sum to 1.

    p = damping · (Pᵀp + (Σ p of nodes without links)/N) + (1 − damping) · v, where P follows the links of a node by
    their weights and v is uniform, or `restart`: weights of the nodes where a new walk begins, 0 for those left out.
    Power iteration until the total change is below `tolerance`, at most `rounds` times; then a ConvergenceWarning.
    """
    links = as_links(edges)
    return by_name(links, pagerank_scores(links, damping, restart=restart, tolerance=tolerance, rounds=rounds))


def pagerank_scores(
    links: Links,
    damping: float = 0.85,
    *,
    restart: Mapping[Any, float] | None = None,
    tolerance: float = 1e-10,
    rounds: int = 200,
) -> Array:
    """The PageRank of each node, in the order of the nodes."""  # (N,)
    uniform = np.full(len(links), 1.0 / max(len(links), 1))
    start = uniform if restart is None else _shares(links.names, restart)
    return stationary(
        links, damping, restart=start, dangling=uniform, tolerance=tolerance, rounds=rounds, who="pagerank"
    )


def stationary(
    links: Links, damping: float, *, restart: Array, dangling: Array, tolerance: float, rounds: int, who: str
) -> Array:
    """The stationary distribution of a random walk along links, with restarts.

    p = damping · (Pᵀp + (Σ p of nodes without links) · dangling) + (1 − damping) · restart
    """
    if not 0.0 <= damping < 1.0:
        raise ParameterError(f"{who}: damping must be at least 0 and below 1; got {damping!r}.")
    if not tolerance > 0.0 or rounds < 1:
        raise ParameterError(f"{who}: tolerance must be above 0 and rounds at least 1; got {tolerance!r}, {rounds!r}.")
    if not len(links):
        return np.empty(0)
    out = links.weights.sum(axis=1)
    ends = np.flatnonzero(out == 0.0)
    follow = (links.weights.multiply(np.divide(1.0, out, out=np.zeros_like(out), where=out > 0)[:, None])).T.tocsr()
    p: Array = restart
    change = np.inf
    for _ in range(rounds):
        new = damping * (follow @ p + p[ends].sum() * dangling) + (1.0 - damping) * restart
        new /= new.sum()  # rounding only
        change, p = float(np.abs(new - p).sum()), new
        if change < tolerance:
            return p
    warn_unfinished(who, rounds, change, tolerance)
    return p


def warn_unfinished(who: str, rounds: int, change: float, tolerance: float) -> None:
    warnings.warn(
        f"{who}: the scores still change by {change:.1e} in all after {rounds} rounds (tolerance {tolerance:.0e}), so "
        "their last digits are not exact. Allow more rounds, or a larger tolerance.",
        ConvergenceWarning,
        stacklevel=3,
    )


def _shares(names: list[Hashable], restart: Mapping[Any, float]) -> Array:
    """Weights of nodes as shares of their sum."""  # (N,)
    nodes = set(names)
    for name, weight in restart.items():
        if name not in nodes:
            raise DataError(f"restart: there is no node {name!r} in the graph.")
        if not 0.0 <= weight < np.inf:
            raise DataError(f"restart: the weight of {name!r} must be a finite number of at least 0; got {weight!r}.")
    weights = np.array([float(restart.get(name, 0.0)) for name in names])
    if names and not weights.sum() > 0.0:
        raise DataError("restart: at least one weight must be above 0.")
    return weights / weights.sum() if names else weights
