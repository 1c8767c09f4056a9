"""Contract suite of re-rankers: a permutation, whatever the rows' order, that keeps the scores' order if told to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from podium.data.dataset import Dataset
from podium.data.triples import Triples
from podium.rerankers import Reranker
from podium.testing.names import page_has_headings, text_gives_it_back


def check_reranker(reranker: Reranker) -> None:
    """Run every check of re-rankers."""
    for check in RERANKER_CHECKS.values():
        check(reranker)


def example(rng: np.random.Generator, sizes: tuple[int, ...] = (1, 2, 5, 8, 0, 3)) -> tuple[Dataset, np.ndarray]:
    """Queries with topics and relations, and different scores of their documents."""
    n = sum(sizes)
    offsets = np.cumsum([0, *sizes])
    topics, relations = [], []
    for size in sizes:
        pairs = [(d, t) for d in range(size) for t in range(3) if rng.random() < 0.4]
        topics.append([[d, t, float(rng.integers(0, 3))] for d, t in pairs])
        links = [(d, e) for d in range(size) for e in range(d) if rng.random() < 0.4]
        relations.append([[d, e, rng.uniform()] for d, e in links])
    data = Dataset(
        rng.normal(size=(n, 4)).astype(np.float32), None, offsets,
        topics=Triples.from_rows(topics), relations=Triples.from_rows(relations),
    )  # fmt: skip
    return data, rng.permutation(n).astype(np.float64)


def its_page_has_the_fixed_headings(reranker: Reranker) -> None:
    """Formula, ties, cost, use and reference, in this order."""
    page_has_headings(reranker, ("Formula", "Ties", "Cost", "Use it for", "Reference"))


def each_rank_is_taken_once(reranker: Reranker) -> None:
    """The new scores of a query are a permutation of n, …, 1."""
    data, scores = example(np.random.default_rng(0))
    for ties in (scores, np.zeros(len(scores))):
        new = reranker.scores(ties, data)
        for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True):
            assert sorted(new[a:b]) == list(range(1, b - a + 1)), f"scores are {new[a:b]}"


def a_depth_of_zero_keeps_the_order(reranker: Reranker) -> None:
    """No document is moved."""
    data, scores = example(np.random.default_rng(1))
    new = replace(reranker, depth=0).scores(scores, data)
    for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        assert (np.argsort(-new[a:b]) == np.argsort(-scores[a:b])).all(), "the order is another one"


def the_order_of_rows_does_not_matter(reranker: Reranker) -> None:
    """If rows move, their ranks move with them."""
    rng = np.random.default_rng(2)
    for _ in range(5):
        data, scores = example(rng, (6,))
        rows = rng.permutation(6)
        place = np.argsort(rows)
        assert data.topics is not None
        assert data.relations is not None
        topics, relations = data.topics.values.copy(), data.relations.values.copy()
        topics[:, 0] = place[topics[:, 0].astype(int)]
        relations[:, :2] = place[relations[:, :2].astype(int)]
        moved = replace(
            data, features=data.features[rows], topics=Triples(topics, data.topics.offsets),
            relations=Triples(relations, data.relations.offsets),
        )  # fmt: skip
        assert (reranker.scores(scores[rows], moved) == reranker.scores(scores, data)[rows]).all(), "ranks differ"


RERANKER_CHECKS: dict[str, Callable[[Reranker], None]] = {
    check.__name__: check
    for check in (
        its_page_has_the_fixed_headings, text_gives_it_back, each_rank_is_taken_once, a_depth_of_zero_keeps_the_order,
        the_order_of_rows_does_not_matter,
    )
}  # fmt: skip
