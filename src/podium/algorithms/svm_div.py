"""SVM-div: learn which words to cover so that the first documents of a query cover its topics (Yue and Joachims, 2008).

>>> import podium
>>> from podium.data.triples import Triples
>>> from dataclasses import replace
>>> words = podium.Dataset.from_arrays([[1, 0], [1, 0], [0, 1], [0, 1]], qid=list("qqqq"))  # counts of two words
>>> topics = Triples.from_rows([[[0, 0, 1], [1, 0, 1], [2, 1, 1], [3, 1, 1]]])  # (document, topic, grade), judged
>>> podium.train(replace(words, topics=topics), "svm-div(size=2)").score(words).tolist()  # the third comes second
[4.0, 2.0, 3.0, 1.0]
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from podium.base.arrays import Array, Flags, Ints, is_sparse
from podium.base.errors import DataError, IncompatibleError, ParameterError
from podium.base.registry import param, register
from podium.data.dataset import Dataset
from podium.learner import Learned, Learner, fitted
from podium.scorers import Params
from podium.solvers import Watch
from podium.solvers.quadratic_program import solve_planes
from podium.transforms import Identity, Transform


@register
class SvmDiv(Learner):
    """Diverse subsets: a support vector machine whose outputs are sets of documents that cover the topics of a query.

    Features are words: a document has those whose value is above 0. Judged topics of the training queries are in
    `<data>.topics`; to rank, words are enough. Labels are not used.
    Formula: Ψ(y) = Σ of φ(v) over the words v that a set y covers; φ_b(v) = 1 if v is in at least the share b of the
        query's documents. Loss Δ(y) = Σ n_t over the topics t not covered/Σ n_t, n_t documents of t.
        min ½‖w‖² + C ξ, mean_q wᵀ(Ψ(y*) − Ψ(y)) ≥ mean_q (Δ(y) − Δ(y*)) − ξ for all sets y of `size` documents; Ψ is
        divided by the number of words of the query. y*, the most violated sets and predictions are found greedily.
        Scores are n, n − 1, …, 1 in the order in which documents are chosen.
    Ties: of equally good documents the first, also after the first 100 ranks: give documents in the order of a ranker.
    Cost: O(size · documents · words) per query and plane; some tens of planes.
    Use it for: documents that are all relevant, if topics are judged for training queries alone. Without words it has
        nothing over the re-ranker xquad.
    Reference: Yue & Joachims, Predicting diverse subsets using structural SVMs, ICML 2008.
    """

    size: int = param(default=5, least=1)
    """The number of documents that should cover the topics."""
    cost: float = param(default=100.0, above=0)
    """C, the weight of the loss."""
    bands: tuple[float, ...] = (0.1, 0.2, 0.3, 0.4, 0.5)
    """Shares of a query's documents."""
    planes: int = param(default=200, least=1)
    """Maximum number of cutting planes."""
    epsilon: float = param(default=1e-4, above=0)
    """It stops if no set violates the constraints by more."""
    transform: Transform = Identity()
    name = "svm-div"
    per_query: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.bands:
            raise ParameterError("svm-div: bands must not be empty, e.g. bands=[0.1,0.3].")

    def check(self, data: Dataset) -> None:
        if data.topics is None:
            raise IncompatibleError(
                f"svm-div learns from judged topics, but {data.source or 'the data'} has none. Write them next to the "
                "data file, in <data>.topics: lines of query, topic, document and grade."
            )
        if not any(self._query(data, q) is not None for q in range(data.n_queries)):
            raise DataError("svm-div has nothing to learn from: no query has words and topics.", where=data.source)

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        queries = [query for q in range(data.n_queries) if (query := self._query(data, q)) is not None]
        w, slack, G, delta = np.zeros(len(self.bands)), 0.0, list[Array](), list[float]()
        reason = f"{self.planes} planes were allowed"
        for _ in range(self.planes):
            parts = [query.most_violated(w, self.size) for query in queries]
            plane, loss = np.mean([part[0] for part in parts], axis=0), float(np.mean([part[1] for part in parts]))
            if loss - plane @ w <= slack + self.epsilon:
                reason = f"no set is violated by more than {self.epsilon:g}"
                break
            G.append(plane)
            delta.append(loss)
            w, slack = solve_planes(np.array(G), np.array(delta), self.cost, who=self.name)
        params: Params = {"weights": w}
        objective = 0.5 * float(w @ w) + self.cost * slack
        watch.record(1, 1, objective, scores=lambda other: self.score(params, other), state=None, patience=None)
        return Learned(self, params, {"stopped": reason, "iterations": len(G), "objective": objective})

    def score(self, params: Params, data: Dataset) -> Array:
        w, scores = fitted(params, "weights", (len(self.bands),)), np.empty(data.n_documents)
        for a, b in pairwise(data.offsets.tolist()):
            has = words_of(data.features[a:b])
            first = cover(has, word_features(has, self.bands) @ w, min(b - a, _DEPTH))
            order = np.append(first, np.setdiff1d(np.arange(b - a), first))
            scores[a + order] = np.arange(b - a, 0, -1.0)
        return scores

    def _query(self, data: Dataset, q: int) -> _Query | None:
        assert data.topics is not None, "checked"
        n = int(data.sizes[q])
        if not (data.topics.of(q)[:, 2:] > 0).any():
            return None
        has, covers = words_of(data.features[data.offsets[q] : data.offsets[q + 1]]), data.topics.matrix(q, n) > 0
        if not has.shape[1]:
            return None
        share = covers.sum(axis=0) / covers.sum()
        return _Query(has, word_features(has, self.bands), covers, share, cover(covers, share, min(self.size, n)))


_DEPTH = 100
"""Documents to choose; the others follow as they come."""


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
        worst = cover(both, worth, min(size, len(both)))
        difference = covered(self.has, self.features, self.best) - covered(self.has, self.features, worst)
        loss = missed(self.covers, self.share, worst) - missed(self.covers, self.share, self.best)
        return difference / self.has.shape[1], loss


def words_of(features: Any) -> Flags:
    """Whether each document of a query has each of the query's words."""  # (n, V)
    if is_sparse(features):
        return np.asarray(features[:, np.unique(features.indices[features.data > 0])].toarray() > 0)
    has = np.asarray(features) > 0
    return np.asarray(has[:, has.any(axis=0)])


def word_features(has: Flags, bands: tuple[float, ...]) -> Array:
    """φ of each word: whether it is in at least a share of the documents, for each band."""  # (V, B)
    share = has.mean(axis=0) if len(has) else np.zeros(has.shape[1])
    return np.asarray(share[:, None] >= np.array(bands) - 1e-12, np.float64)


def covered(has: Flags, features: Array, chosen: Ints) -> Array:
    """Ψ, the sum of the features of the words that documents cover."""  # (B,)
    return np.asarray(features[has[chosen].any(axis=0)].sum(axis=0))


def missed(covers: Flags, share: Array, chosen: Ints) -> float:
    """Δ, the share of the topics that documents do not cover, by the numbers of their documents."""
    return float(share[~covers[chosen].any(axis=0)].sum())


def cover(has: Flags, worth: Array, count: int) -> Ints:
    """Choose documents greedily by the worth of what they add; of equal ones the first."""
    open_worth, left, chosen = worth.astype(np.float64), np.arange(len(has)), list[int]()
    for _ in range(count):
        at = int(np.argmax(has[left] @ open_worth))
        chosen.append(int(left[at]))
        open_worth[has[left[at]]] = 0.0
        left = np.delete(left, at)
    return np.array(chosen, np.int64)
