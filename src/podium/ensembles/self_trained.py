"""Self-training: a method fitted again, with its own verdict on the queries that nobody judged."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from podium.base.arrays import Array, is_sparse
from podium.base.errors import IncompatibleError
from podium.base.registry import param, register
from podium.data.dataset import Dataset
from podium.ensembles.composite import Composite, fitted, quiet
from podium.learner import Learned
from podium.solvers import Watch


@register
class SelfTrained(Composite):
    """Self-training: a method is fitted again with unjudged queries, labelled by its own first fit.

    Formula: fit `of` to the judged documents; in each query without judgments (labels NaN), the share `ends` of the
        documents with the highest scores get label 1, as many with the lowest get 0, and the others are left out; fit
        again with these queries at the weight `weight`. weight=0 is the method itself. The model is one of `of`.
    Ties: those of `of`; equal scores are taken in the order of the rows.
    Cost: `rounds` + 1 fits of `of`.
    Use it for: very few judged queries, many without judgments, and relevant documents that are alike. On data like
        LETOR's it gives nothing; the weight 0 is among those tried on validation data.
    Reference: Yarowsky, Unsupervised word sense disambiguation rivaling supervised methods, ACL 1995; Chapelle,
        Schölkopf & Zien, Semi-supervised learning, 2006, chapter 1.
    """

    of: str = "ranknet"
    """Method to fit."""
    weight: float = param(default=0.1, least=0)
    """Weight of a query without judgments; a judged one has 1, or its own."""
    rounds: int = param(default=1, least=1, most=100)
    """Times that unjudged queries are labelled and the method is fitted again."""
    ends: float = param(default=0.2, above=0, most=0.5)
    """Share of an unjudged query's documents that are taken from either end."""
    wants_unjudged: ClassVar[bool] = True

    def grid(self) -> dict[str, tuple[Any, ...]]:
        return {**super().grid(), "weight": (0.0, 0.1, 0.3)}

    def check(self, data: Dataset) -> None:
        judged = data.judged()
        super().check(judged)
        if self.weight > 0:
            try:
                self.inner.check(replace(judged, query_weights=np.ones(judged.n_queries)))
            except IncompatibleError as error:
                raise IncompatibleError(f"self-trained weights queries, and {error}") from None

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        judged, pool = data.judged(), _without_judgments(data)
        model = fitted(self.inner, judged, rng, quiet(watch))
        for _ in range(self.rounds if self.weight > 0 and pool.n_queries else 0):
            labelled = _labelled(pool, model.score(pool), self.ends)
            both = _joined(judged, labelled, self.weight)
            model = fitted(self.inner, both, rng.spawn(1)[0], quiet(watch))
        record = {key: model.info[key] for key in ("stopped", "iterations", "objective") if key in model.info}
        record |= {"self_trained": repr(self), "unjudged_queries": pool.n_queries}
        return Learned(model.learner, model.params, record, state=model.state)


def _without_judgments(data: Dataset) -> Dataset:
    """The queries of which no document was judged."""
    assert data.labels is not None, "checked before"
    judged = np.bincount(data.query_index[~np.isnan(data.labels)], minlength=data.n_queries)
    return data.select(np.flatnonzero((judged == 0) & (data.sizes > 0)))


def _labelled(pool: Dataset, scores: Array, ends: float) -> Dataset:
    """The top and the bottom of each query with labels 1 and 0; queries of one document are left out."""
    labels = np.full(pool.n_documents, np.nan)
    for a, b in itertools.pairwise(pool.offsets.tolist()):
        if b - a > 1:
            count = min(max(round(ends * (b - a)), 1), (b - a) // 2)
            order = a + np.argsort(-scores[a:b], kind="stable")
            labels[order[:count]], labels[order[-count:]] = 1.0, 0.0
    return replace(pool, labels=labels).judged()


def _joined(judged: Dataset, labelled: Dataset, weight: float) -> Dataset:
    """Both parts' queries, those of the second with this weight."""
    own = np.ones(judged.n_queries) if judged.query_weights is None else judged.query_weights
    assert judged.labels is not None
    assert labelled.labels is not None
    return Dataset(
        _stacked(judged.features, labelled.features),
        np.concatenate([judged.labels, labelled.labels]),
        np.concatenate([judged.offsets, judged.n_documents + labelled.offsets[1:]]),
        feature_names=judged.feature_names,
        query_weights=np.concatenate([own, np.full(labelled.n_queries, weight)]),
        query_features=_both(judged.query_features, labelled.query_features),
        query_feature_names=judged.query_feature_names,
        source=judged.source,
    )


def _both(first: Array | None, second: Array | None) -> Array | None:
    return None if first is None or second is None else np.concatenate([first, second])


def _stacked(first: Any, second: Any) -> Any:
    """Rows of features below each other, in memory."""
    if is_sparse(first):
        import scipy.sparse as sp

        return sp.csr_array(sp.vstack([first, second]))
    return np.concatenate([np.asarray(first[:]), np.asarray(second[:])])
