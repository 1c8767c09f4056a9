"""Dueling bandit gradient descent (Yue and Joachims, 2009)."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np

from podium.base.arrays import Array, Flags, Ints
from podium.base.registry import param, register
from podium.data.dataset import Dataset
from podium.jit.sorting import order
from podium.model import Model
from podium.online.interleaving import Interleaving
from podium.online.interleaving.team_draft import TeamDraft
from podium.online.learning.base import OnlineLearner, OnlinePage, scores_of


@register
class DBGD(OnlineLearner):
    """Dueling bandit gradient descent: interleaves the model with a random perturbation, and moves there if it wins.

    Formula: u uniform on the unit sphere; θ′ = θ + delta·u; pages merge the rankings of θ′ and θ; if clicks prefer
        θ′, θ ← θ + learning_rate·u. A page is won by the sign of its credit, as in the paper; clicks by chance win as
        often as they lose with team-draft only.
    Cost: two passes of the scorer a page.
    Use it for: a baseline, or scores without gradients; it learns slowly, the slower the more parameters.
    Reference: Yue and Joachims, Interactively optimizing information retrieval systems as a dueling bandits problem,
        ICML 2009.
    """

    delta: float = param(default=1.0, above=0)
    """Size of the perturbation."""
    learning_rate: float = param(default=0.01, above=0)
    """Length of a step towards a perturbation that won."""
    interleaving: Interleaving = TeamDraft()
    """Interleaving that compares the two rankers."""
    name = "dbgd"

    def choose(self, model: Model, query: Dataset, rng: np.random.Generator, length: int) -> tuple[Ints, Any]:
        theta = model.params["theta"]
        direction = rng.standard_normal(len(theta))
        direction /= np.linalg.norm(direction)
        candidate = replace(model, params={**model.params, "theta": theta + self.delta * direction})
        lists = [[str(row) for row in order(scores_of(ranker, query))] for ranker in (candidate, model)]
        chance = random.Random(int(rng.integers(1 << 62)))
        documents, credits = self.interleaving.merge(lists[0], lists[1], chance, length=length)
        return np.array([int(row) for row in documents], np.int64), (direction, np.array(credits))

    def change(self, model: Model, page: OnlinePage, clicked: Flags) -> Array | None:
        direction, credits = page.memory
        won = float(credits @ clicked) > 1e-12
        return self.learning_rate * direction if won else None
