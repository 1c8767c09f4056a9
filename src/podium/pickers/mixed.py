"""Mixed: half by another picker, half at random."""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import register
from podium.data.dataset import Dataset
from podium.model import Model
from podium.pickers.base import Picker
from podium.pickers.elo import Elo


@register
class Mixed(Picker):
    """Half of the queries by another picker, half at random; the documents of each likewise.

    Formula: of k queries, ⌊k/2⌋ by `by`, the others at random from the rest, each with the same probability; likewise
        the documents of a query. Every row has a chance above 0 if documents are left over.
    Ties: those of `by`.
    Cost: that of `by`.
    Use it for: judgments to learn from that can also measure: weight a row by 1/chance.
    Reference: Horvitz & Thompson, A generalization of sampling without replacement from a finite universe, JASA 1952.
    """

    by: Picker = Elo()
    """Picker of the other half."""

    @property
    def needs_model(self) -> bool:  # type: ignore[override]
        return self.by.needs_model

    @property
    def random_queries(self) -> float:  # type: ignore[override]
        return max(0.5, self.by.random_queries)

    @property
    def random_documents(self) -> float:  # type: ignore[override]
        return max(0.5, self.by.random_documents)

    def worth(self, model: Model | None, pool: Dataset, rng: np.random.Generator) -> tuple[Array, Array]:
        return self.by.worth(model, pool, rng)

    def shown_name(self) -> str:
        return repr(self.by)
