"""TrustRank: PageRank whose walks begin at trusted nodes only, against spam.

    >>> scores = trustrank([(0, 1), (0, 2), (1, 2), (2, 0), (3, 2), (3, 0)], [1])
    >>> {node: round(score, 6) for node, score in scores.items()}
    {0: 0.326738, 1: 0.288864, 2: 0.384398, 3: 0.0}

Reference: Gyöngyi, Garcia-Molina and Pedersen, Combating web spam with TrustRank, 2004.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import DataError
from podium.graph.links import Edge, Links, as_links, by_name
from podium.graph.pagerank import stationary


def trustrank(edges: Iterable[Edge] | Links, seeds: Iterable[Any], *, damping: float = 0.85) -> dict[Any, float]:
    """The trust of each node; they sum to 1. Nodes that no walk from a seed reaches have 0.

    A walk that ends at a node without links begins again at a seed.
    """
    links = as_links(edges)
    return by_name(links, trustrank_scores(links, seeds, damping))


def trustrank_scores(links: Links, seeds: Iterable[Any], damping: float = 0.85) -> Array:
    """The trust of each node, in the order of the nodes; seeds that are no nodes are ignored."""  # (N,)
    trusted = set(seeds)
    start = np.array([name in trusted for name in links.names], np.float64)
    if len(links) and not start.any():
        raise DataError(f"trustrank: none of the {len(trusted)} seeds is in the graph; at least one is needed.")
    start /= max(start.sum(), 1.0)
    return stationary(links, damping, restart=start, dangling=start, tolerance=1e-10, rounds=200, who="trustrank")
