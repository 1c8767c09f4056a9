"""Spread: judge where the members of a bagged model differ most."""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import register
from podium.data.dataset import Dataset
from podium.model import Model
from podium.pickers.base import Picker, means_of_queries, member_gains


@register
class Spread(Picker):
    """Variance of the members' gains: query by committee, without regard to ranks.

    Formula: Var_j(2^ŷ_ij − 1) over the members j of a bagged model; of a query the mean over its documents. A judged
        document has 0.
    Ties: the id.
    Cost: O(N·n) per query with n documents and N members.
    Use it for: a simpler choice than `elo`. What it picks is no test set.
    Reference: Seung, Opper & Sompolinsky, Query by committee, COLT 1992.
    """

    def worth(self, model: Model | None, pool: Dataset, rng: np.random.Generator) -> tuple[Array, Array]:
        documents = member_gains(model, pool).var(axis=0)
        return means_of_queries(documents, pool), documents
