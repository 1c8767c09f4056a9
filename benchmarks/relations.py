"""Relations between documents and nodes on planted data: neighbours, c-crf, max_entropy_flow and walk.

    python -m benchmarks.relations [--seeds 6] [--ohsumed FOLDER]

Clusters: 30 training, 10 validation and 40 test queries of 40 documents in 8 clusters. Relevance is a cluster's effect
plus an effect of the document; one feature is the cluster's effect under much noise, five are of the document. Links
join documents of a cluster, some of them wrong.
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
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import spsolve

import podium
from podium.algorithms import Walk
from podium.base.arrays import Array
from podium.data.dataset import Dataset
from podium.data.triples import Triples
from podium.graph import max_entropy_flow, pagerank
from podium.transforms.document_links import document_links


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


PLAIN, NEIGHBOURS = "regression", "regression(transform=neighbours)"
CRF, BOTH = "c-crf", "c-crf(transform=grade-scale(of=neighbours))"
METHODS = (PLAIN, "smoothing", NEIGHBOURS, "regression(transform=neighbours(hops=2))", CRF, BOTH)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--ohsumed", help="a folder of LETOR folds, each with train.txt and vali.txt")
    options = parser.parse_args()
    seeds = range(options.seeds)
    show("clusters, NDCG@10", METHODS, [on_clusters(seed) for seed in seeds])
    show("attraction, pair accuracy", ("PageRank", *(f"cost {cost:g}" for cost in COSTS)), [on_flow(s) for s in seeds])
    show("walks, pair accuracy on other graphs", ("PageRank", "walk", "true walk"), [on_walks(seed) for seed in seeds])
    if options.ohsumed:
        on_folds(options.ohsumed)


def show(title: str, names: tuple[str, ...], values: list[list[float]]) -> None:
    """Print means over seeds with standard errors, also of the gain over the first."""
    table = np.array(values)
    gains = table - table[:, :1]
    print(f"{title}, {len(table)} seeds")
    for c, name in enumerate(names):
        print(f"  {name:46} {_with_error(table[:, c])}" + (f"   gain {_with_error(gains[:, c])}" if c else ""))


def _with_error(values: Array) -> str:
    return f"{values.mean():.4f} ± {values.std(ddof=1) / np.sqrt(len(values)):.4f}"


def on_clusters(seed: int) -> list[float]:
    """NDCG@10 of each method on planted clusters."""
    training, valid, test = clusters(seed)
    models = {name: podium.train(training, name, valid=valid) for name in METHODS if name != "smoothing"}
    scores = {name: model.score(test) for name, model in models.items()}
    gamma = max(GAMMAS, key=lambda value: ndcg(valid, smoothed(valid, models[PLAIN].score(valid), value)).mean())
    scores["smoothing"] = smoothed(test, scores[PLAIN], gamma)
    return [float(ndcg(test, scores[name]).mean()) for name in METHODS]


GAMMAS = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0)
COSTS = (0.01, 0.1, 1.0, 10.0)


def smoothed(data: Dataset, scores: Array, gamma: float) -> Array:
    """(I + γL)⁻¹s of each query, L the Laplacian of its links."""
    from_file = data.relations is not None
    S = document_links(data, from_file=from_file, nearest=5, symmetric=True, who="smoothing")
    A = sparse.eye_array(len(scores)) + gamma * (sparse.diags_array(S.sum(axis=1)) - S)
    return np.asarray(spsolve(A.tocsc(), scores))


def ndcg(data: Dataset, scores: Array) -> Array:
    """NDCG@10 of each query that has something to find."""
    values = podium.evaluate(data, scores, "ndcg@10").values[0]
    return np.asarray(values[~np.isnan(values)])


def on_flow(seed: int) -> list[float]:
    """Pair accuracy of PageRank and of flows of several costs."""
    edges, known, other = attracted(seed)
    flows = [max_entropy_flow(edges, known, cost=cost) for cost in COSTS]
    return [pair_accuracy(scores, other) for scores in (pagerank(edges), *flows)]


def on_walks(seed: int) -> list[float]:
    """Pair accuracy of PageRank, of the learned and of the true walk on other graphs."""
    training, test, weights = walked(seed)
    learned = podium.train(training, "walk").score(test)
    scores = [Walk().score({"weights": w}, test) for w in (np.zeros(4), weights)]
    return [
        podium.evaluate(test, each, "pair-accuracy").means()["pair-accuracy"].value
        for each in (scores[0], learned, scores[1])
    ]


def on_folds(folder: str) -> None:
    """NDCG@10 on the validation parts of folds, with default hyperparameters and links made from the features."""
    names = [*(name for name in METHODS if name != "smoothing"), "listnet", "listnet(transform=neighbours)"]
    parts: dict[str, list[Array]] = {name: [] for name in names}
    for fold in sorted(Path(folder).glob("Fold*")):
        training, valid = (podium.read_data(fold / name).grouped() for name in ("train.txt", "vali.txt"))
        for name in names:
            parts[name].append(ndcg(valid, podium.train(training, name).score(valid)))
    values = {name: np.concatenate(each) for name, each in parts.items()}
    print(f"{folder}: NDCG@10 on validation parts, {len(values[PLAIN])} queries")
    for name, each in values.items():
        plain = values["listnet" if name.startswith("listnet") else PLAIN]
        print(f"  {name:46} {_with_error(each)}   gain {_with_error(each - plain)}")


if __name__ == "__main__":
    main()
