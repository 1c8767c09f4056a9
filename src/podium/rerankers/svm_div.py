"""SVM-div: learn which words to cover so that the first documents of a query cover its topics (Yue and Joachims, 2008).

>>> from dataclasses import replace
>>> words = Triples.from_rows([[[0, 0, 1], [1, 0, 1], [2, 1, 1], [3, 1, 1]]])  # (document, word, count)
>>> topics = Triples.from_rows([[[0, 0, 1], [1, 0, 1], [2, 1, 1], [3, 1, 1]]])  # (document, topic, grade), judged
>>> data = replace(Dataset.from_arrays(np.zeros((4, 1)), qid=list("qqqq")), topics=words)
>>> SvmDiv(size=2).fit(data, topics).scores([4, 3, 2, 1], data).tolist()  # the third document comes second
[4.0, 2.0, 3.0, 1.0]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from podium.base.arrays import Array, Flags, Ints
from podium.base.errors import DataError, ParameterError
from podium.data.dataset import Dataset
from podium.data.triples import Triples
from podium.rerankers.base import QueryView, Reranker, greedy
from podium.solvers.quadratic_program import solve_planes


@dataclass(frozen=True, repr=False)
class DiverseSubsets(Reranker):
    """Re-ranker that `SvmDiv` learned: each rank takes the document with the largest weight of words not yet covered.

    Words of the documents are in `<data>.topics`, a line per word.
    """

    name = "svm-div"
    needs_topics = True
    learner: SvmDiv | None = None
    weights: tuple[float, ...] = ()
    """Weight of a word for each band that it is in."""
    planes: int = 0
    """Constraints of the quadratic program."""

    def __repr__(self) -> str:
        return repr(self.learner)

    def choose(self, relevance: Array, query: QueryView, count: int) -> Ints:
        assert query.topics is not None, "checked before"
        assert self.learner is not None, "made by fit"
        has = query.topics > 0
        return cover(has, word_features(has, self.learner.bands) @ np.array(self.weights), relevance, count)


@dataclass(frozen=True)
class SvmDiv:
    """Learner of diverse subsets: a support vector machine whose outputs are sets of documents.

    Formula: Ψ(y) = Σ of φ(v) over the words v that a set y covers; φ_b(v) = 1 if v is in at least the share b of the
        query's documents. Loss Δ(y) = Σ n_t over the topics t not covered/Σ n_t, n_t documents of t.
        min ½‖w‖² + C ξ, mean_q wᵀ(Ψ(y*) − Ψ(y)) ≥ mean_q (Δ(y) − Δ(y*)) − ξ for all sets y of `size` documents; Ψ is
        divided by the number of words of the query. y*, the most violated sets and predictions are found greedily.
    Use it for: words of documents, if topics are judged for training queries alone. Without text it has nothing over
        xquad.
    Reference: Yue & Joachims, Predicting diverse subsets using structural SVMs, ICML 2008.
    """

    size: int = 5
    """The number of documents that should cover the topics."""
    cost: float = 100.0
    """C, the weight of the loss."""
    bands: tuple[float, ...] = (0.1, 0.2, 0.3, 0.4, 0.5)
    """Shares of a query's documents."""
    max_planes: int = 200
    tolerance: float = 1e-4
    """It stops if no set violates the constraints by more."""

    def __post_init__(self) -> None:
        if self.size < 1 or self.cost <= 0 or not self.bands:
            raise ParameterError("svm-div: size must be at least 1, cost above 0, and bands must not be empty.")

    def fit(self, data: Dataset, topics: Triples) -> DiverseSubsets:
        """Learn from queries whose words are in `data.topics`, and whose judged topics are `topics`."""
        queries = [query for q in range(data.n_queries) if (query := self._query(data, topics, q)) is not None]
        if not queries:
            raise DataError("svm-div has nothing to learn from: no query has words and topics.", where=data.source)
        w, slack, G, delta = np.zeros(len(self.bands)), 0.0, list[Array](), list[float]()
        for _ in range(self.max_planes):
            parts = [query.most_violated(w, self.size) for query in queries]
            plane, loss = np.mean([part[0] for part in parts], axis=0), float(np.mean([part[1] for part in parts]))
            if loss - plane @ w <= slack + self.tolerance:
                break
            G.append(plane)
            delta.append(loss)
            w, slack = solve_planes(np.array(G), np.array(delta), self.cost, who="svm-div")
        return DiverseSubsets(learner=self, weights=tuple(w.tolist()), planes=len(G))

    def _query(self, data: Dataset, topics: Triples, q: int) -> _Query | None:
        if data.topics is None:
            raise DataError("svm-div needs the words of the documents, as topics of the data.", where=data.source)
        n = int(data.sizes[q])
        if not len(data.topics.of(q)) or not (topics.of(q)[:, 2:] > 0).any():
            return None
        has, covers = data.topics.matrix(q, n) > 0, topics.matrix(q, n) > 0
        share = covers.sum(axis=0) / covers.sum()
        best = cover(covers, share, np.zeros(n), min(self.size, n))
        return _Query(has, word_features(has, self.bands), covers, share, best)


@dataclass(frozen=True, eq=False)
class _Query:
    """One query to learn from."""

    has: Flags  # (n, V) whether a document has a word
    features: Array  # (V, B)
    covers: Flags  # (n, T) whether a document is relevant to a topic
    share: Array  # (T,) n_t/Σ n
    best: Ints  # y*

    def most_violated(self, w: Array, size: int) -> tuple[Array, float]:
        """Ψ(y*) − Ψ(y) over the number of words, and Δ(y) − Δ(y*), of the set y that violates most."""
        both = np.hstack([self.has, self.covers])
        worth = np.concatenate([self.features @ w / self.has.shape[1], -self.share])
        worst = cover(both, worth, np.zeros(len(both)), min(size, len(both)))
        difference = covered(self.has, self.features, self.best) - covered(self.has, self.features, worst)
        loss = missed(self.covers, self.share, worst) - missed(self.covers, self.share, self.best)
        return difference / self.has.shape[1], loss


def word_features(has: Flags, bands: tuple[float, ...]) -> Array:
    """φ of each word: whether it is in at least a share of the documents, for each band."""  # (V, B)
    return np.asarray(has.mean(axis=0)[:, None] >= np.array(bands) - 1e-12, np.float64)


def covered(has: Flags, features: Array, chosen: Ints) -> Array:
    """Ψ, the sum of the features of the words that documents cover."""  # (B,)
    return np.asarray(features[has[chosen].any(axis=0)].sum(axis=0))


def missed(covers: Flags, share: Array, chosen: Ints) -> float:
    """Δ, the share of the topics that documents do not cover, by the numbers of their documents."""
    return float(share[~covers[chosen].any(axis=0)].sum())


def cover(has: Flags, worth: Array, relevance: Array, count: int) -> Ints:
    """Choose documents greedily by the worth of what they add; of equal ones the more relevant, then the first."""
    open_worth = worth.astype(np.float64)

    def take(document: int) -> None:
        open_worth[has[document]] = 0.0

    return greedy(count, relevance, lambda left: has[left] @ open_worth, take)
