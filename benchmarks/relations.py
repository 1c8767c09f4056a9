"""Relations between documents and nodes on planted data: neighbours, c-crf, max_entropy_flow and walk.

    python -m benchmarks.relations [--seeds 6] [--ohsumed FOLDER]

Clusters: 40 training and 40 test queries of 40 documents in 8 clusters. Relevance is a cluster's effect plus an effect
of the document; one feature is the cluster's effect under much noise, five are of the document. Links join documents of
a cluster, some of them wrong.
Attraction: 120 nodes with 6 links each; the true walk prefers attractive nodes among the links of a node. 300
preferences are known, 300 others tested.
Walks: 8 training and 4 test graphs of 120 nodes, whose true walk follows links by three features of the link.
With --ohsumed, a folder of LETOR folds: NDCG@10 on validation parts, links made from the features.

Printed are means over seeds with standard errors. It takes about three minutes.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from podium.algorithms import Walk
from podium.base.arrays import Array
from podium.data.dataset import Dataset
from podium.data.triples import Triples
from podium.graph import max_entropy_flow, pagerank


def attracted(
    seed: int, *, nodes: int = 120, preferences: int = 300
) -> tuple[list[tuple[int, int]], list[tuple[int, int]], list[tuple[int, int]]]:
    """Links of a graph, and preferences (better, worse) of its true walk: known ones, and others."""
    rng = np.random.default_rng(seed)
    attraction, edges, P = rng.normal(0, 1.5, nodes), [], np.zeros((nodes, nodes))
    for u in range(nodes):
        popular = np.exp(0.3 * attraction) * (np.arange(nodes) != u)
        targets = rng.choice(nodes, 6, replace=False, p=popular / popular.sum())
        edges += [(u, int(v)) for v in targets]
        P[u, targets] = np.exp(attraction[targets]) / np.exp(attraction[targets]).sum()
    p = np.linalg.matrix_power(0.85 * P + 0.15 / nodes, 300)[0]
    pairs = rng.permutation([(u, v) for u in range(nodes) for v in range(nodes) if p[u] > p[v]])[: 2 * preferences]
    listed = [(int(u), int(v)) for u, v in pairs]
    return edges, listed[:preferences], listed[preferences:]


def pair_accuracy(scores: Mapping[Any, float], pairs: list[tuple[int, int]]) -> float:
    """The share of pairs (better, worse) in the right order."""
    return float(np.mean([scores[u] > scores[v] for u, v in pairs]))


WALK = np.array([1.0, 0.5, -1.0, 0.0])
"""Weights of the features of links by which true walks go."""


def walked(seed: int, *, nodes: int = 120, graphs: tuple[int, int] = (8, 4)) -> tuple[Dataset, Dataset, Array]:
    """Training and test graphs whose grades are fifths of a true walk with noise, and the weights of its features."""
    rng = np.random.default_rng(seed)
    links, labels = [], []
    for _ in range(sum(graphs)):
        rows = [[u, int(v), *rng.normal(size=4)] for u in range(nodes) for v in rng.choice(nodes, 6, replace=False)]
        whole = Dataset(
            np.zeros((nodes, 1), np.float32), None, np.array([0, nodes]), relations=Triples.from_rows([rows], 6)
        )
        truth = Walk().score({"weights": WALK}, whole) + rng.normal(0, 0.1, nodes)
        links.append(rows)
        labels.append(np.digitize(truth, np.quantile(truth, [0.2, 0.4, 0.6, 0.8])))
    data = Dataset.from_arrays(np.zeros((sum(graphs) * nodes, 1)), np.concatenate(labels), group=[nodes] * sum(graphs))
    data = replace(data.grouped(), relations=Triples.from_rows(links, 6))
    return data.select(np.arange(graphs[0])), data.select(np.arange(graphs[0], sum(graphs))), WALK


def clusters(seed: int, *, queries: int = 80, wrong: float = 0.1) -> tuple[Dataset, Dataset, Dataset]:
    """Training, validation and test queries in which documents of a cluster share a part of their relevance."""
    rng = np.random.default_rng(seed)
    n, features, utilities, links = 40, [], [], []
    for _ in range(queries):
        cluster = rng.integers(0, 8, n)
        effect = rng.normal(0, 1, 8)[cluster]
        own = rng.normal(0, 1, (n, 5))
        utilities.append(effect + own @ np.linspace(0.5, 0.1, 5) + rng.normal(0, 0.3, n))
        features.append(np.column_stack([effect + rng.normal(0, 2, n), own]))
        same = (cluster[:, None] == cluster) & (rng.random((n, n)) < 0.5)
        linked = (same | (rng.random((n, n)) < wrong / 8)) & ~np.eye(n, dtype=bool)
        links.append([[int(i), int(j), 1.0] for i, j in np.argwhere(linked | linked.T)])
    grades = np.digitize(np.concatenate(utilities), [0.0, 1.0, 2.0])
    data = Dataset.from_arrays(np.concatenate(features), grades, group=[n] * queries).grouped()
    data = replace(data, relations=Triples.from_rows(links))
    half, quarter = queries // 2, queries // 8
    parts = np.split(np.arange(queries), [half - quarter, half])
    return data.select(parts[0]), data.select(parts[1]), data.select(parts[2])
