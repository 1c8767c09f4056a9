"""The perturbed preference perceptron: neighbours are exchanged by a coin, and clicks say which exchange was right."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.data.dataset import Dataset
from podium.jit.sorting import order
from podium.model import Model
from podium.online.learning.base import OnlineLearner, OnlinePage, pulled_back, scores_of


@register
class PreferencePerceptron(OnlineLearner):
    """Shows the model's ranking with neighbours (1, 2), (3, 4) … exchanged by coins, and moves towards clicks.

    Formula: ȳ is the page with the documents of a pair exchanged if only the lower one was clicked;
        θ ← θ + rate·Σ_i (D(ȳ, i) − D(y, i))·∇s_i, with D = 1/log2(1 + rank), the discount of DCG.
    Cost: a pass of the scorer a page.
    Use it for: pages that must stay near the model's own; clicks are compared between neighbours alone.
    Reference: Raman, Joachims, Shivaswamy & Schnabel, Stable coactive learning via perturbation, ICML 2013.
    """

    learning_rate: float = param(default=0.1, above=0)

    def choose(
        self, model: Model, query: Dataset, rng: np.random.Generator, length: int
    ) -> tuple[NDArray[np.int64], Any]:
        rows = order(scores_of(model, query))[:length].copy()
        for top in range(0, length - 1, 2):
            if rng.random() < 0.5:
                rows[[top, top + 1]] = rows[[top + 1, top]]
        return rows, None

    def change(self, model: Model, page: OnlinePage, clicked: NDArray[np.bool_]) -> Array | None:
        discounts, gradient = 1.0 / np.log2(np.arange(2.0, len(page.rows) + 2.0)), np.zeros(page.query.n_documents)
        for top in range(0, len(page.rows) - 1, 2):
            if clicked[top + 1] and not clicked[top]:
                gain = discounts[top] - discounts[top + 1]
                gradient[page.rows[[top, top + 1]]] = -gain, gain
        return self.learning_rate * pulled_back(model, page.query, gradient) if gradient.any() else None
