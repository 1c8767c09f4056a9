"""Features of the neighbours of a document: what stands next to it in a graph of links or of similarity.

transform=neighbours                          links of DATA.relations, else the 5 nearest documents of the query
transform=neighbours(of=identity,hops=2)      also the neighbours of neighbours
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import DataError
from podium.base.registry import param, register
from podium.transforms.document_links import document_links, needs_relations
from podium.transforms.stacked import Stacked

if TYPE_CHECKING:
    from podium.data.dataset import Dataset
    from podium.transforms.base import State


@register
class Neighbours(Stacked):
    """Features of `of`, the mean of each over the neighbours of the document, and the sum of its links' weights.

    Formula: x̄_i = Σ_j S_ij x_j/Σ_j S_ij, x_i itself if there is no link; with `hops=2` also the mean of x̄ over the
        neighbours; then Σ_j S_ij as a z-score of the training data. S is the first value of the links from i in
        `<data>.relations`, 1 if there is none; or the cosine of the `nearest` documents of the query, by z-scores
        within the query, if above 0 and in either direction.
    Cost: O(links · features); O(n² · features) per query to find the nearest.
    Use it for: documents whose relevance depends on others, such as pages of a site or near copies. If links are made
        from the features themselves, expect little.
    """

    name = "neighbours"
    per_query: ClassVar[bool] = True
    relation: Literal["auto", "nearest", "file"] = "auto"
    """Where links come from; auto: from `<data>.relations` if the training data has it, else from nearest documents."""
    nearest: int = param(default=5, least=1)
    """The number of nearest documents."""
    symmetric: bool = False
    """Whether a link of the file counts in both directions."""
    hops: int = param(default=1, least=1, most=2)
    """2: also the neighbours of neighbours."""

    def check(self, data: Dataset) -> None:
        super().check(data)
        if self.relation == "file":
            needs_relations(data, who="neighbours(relation=file)")

    def fit(self, data: Dataset) -> State:
        self.check(data)
        state = self.fit_below(data)
        state["file"] = np.array([self._from_file(data)])
        degree = self._links(state, data, self.below(state, data)).sum(axis=1)
        spread = float(degree.std()) if len(degree) else 0.0
        mean = float(degree.mean()) if len(degree) else 0.0
        state["degree"] = np.array([mean, 1.0 / spread if spread > 1e-9 * max(mean, 1e-300) else 0.0])
        return state

    def _from_file(self, data: Dataset) -> bool:
        return self.relation == "file" or (self.relation == "auto" and data.relations is not None)

    def _links(self, state: State, data: Dataset, X: Any) -> Any:
        return document_links(
            data.with_features(X, None),
            from_file=bool(state["file"][0]), nearest=self.nearest, symmetric=self.symmetric, who=self.name,
        )  # fmt: skip

    def features(self, state: State, data: Dataset) -> Any:
        X: Any = self.below(state, data)
        links = self._links(state, data, X)
        degree = np.asarray(links.sum(axis=1))
        mean, scale = state["degree"]
        parts = [X, *_means(links, degree, X, self.hops), ((degree - mean) * scale)[:, None]]
        out = np.hstack(parts).astype(np.float32)
        if np.isinf(out).any():
            raise DataError("the weights of links are too large to be summed up. Scale them.", where=data.source)
        return out


def _means(links: Any, degree: Array, X: Array, hops: int) -> list[Array]:
    """Weighted means over neighbours, then over their neighbours; a document without links keeps its own."""
    alone, parts = (degree == 0)[:, None], [np.asarray(X, np.float64)]
    for _ in range(hops):
        before = parts[-1]
        parts.append(np.where(alone, before, (links @ before) / np.where(alone, 1.0, degree[:, None])))
    return parts[1:]
