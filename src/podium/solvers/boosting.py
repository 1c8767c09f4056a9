"""Gradient boosting: each round LightGBM grows a tree on our loss's gradient and curvature."""

from __future__ import annotations

from typing import Any

import numpy as np

from podium.errors import IncompatibleError
from podium.losses import Derivatives, Loss, sweep
from podium.problem import Problem
from podium.registry import param, register
from podium.scorers import Scorer, Trees, tree_text
from podium.scorers.trees import for_lightgbm
from podium.solvers.base import Array, Solution, Solver, Watch
from podium.threads import default_threads


@register
class Boosting(Solver):
    """Adds `learning_rate` × a regression tree per round, fitted to −gradient/curvature of the loss.

    Parameters that the loss learns take a step of their own before each tree, down their gradient, as far as the loss
    falls. With validation data, the number of trees that does best on it is kept and the search ends after `patience`
    rounds without a better one.
    Reference: Friedman, Greedy function approximation, 2001; Burges, From RankNet to LambdaRank to LambdaMART, 2010.
    """

    rounds: int = param(default=300, least=1)
    learning_rate: float = param(default=0.05, above=0, search=(0.01, 0.3, "log"))
    penalty: float = param(default=0.0, least=0, search=(0.0, 10.0))
    """λ added to the curvature of every leaf."""
    patience: int | None = param(default=50, least=1)

    def check(self, loss: Loss, scorer: Scorer) -> None:
        if not isinstance(scorer, Trees):
            raise IncompatibleError(
                f"boosting needs a scorer that grows trees; got {scorer.name}. Use solver=lbfgs, or scorer=trees."
            )

    def solve(self, problem: Problem, rng: np.random.Generator, watch: Watch) -> Solution:
        import lightgbm

        settings = self._settings(problem, rng)
        train = _as_lightgbm(problem.data.features, settings)
        if not any(train.feature_num_bin(feature) for feature in range(problem.data.n_features)):
            return _constant(problem)
        descent = _Descent(problem)

        booster = lightgbm.Booster(settings, train)
        if watch.valid is not None:
            booster.add_valid(_as_lightgbm(watch.valid.features, settings, reference=train), "valid")
        rounds, reason = 0, f"{self.rounds} rounds were allowed"
        for rounds in range(1, self.rounds + 1):
            if booster.update(fobj=descent.objective):
                rounds, reason = rounds - 1, _no_split(problem, rounds - 1)
                break
            if watch.record(
                rounds, self.rounds, descent.value,
                scores=lambda _: _valid_scores(booster), state=rounds, patience=self.patience,
            ):  # fmt: skip
                reason = "no better validation measure"
                break
        keep = rounds
        if watch.best is not None:
            keep = watch.best.iteration
            reason += f"; best {watch.metric} {watch.best.valid:.4f} with {keep} trees"
        text = tree_text.trim(booster.model_to_string(num_iteration=max(keep, 1)))
        return Solution(np.frombuffer(text, np.uint8), descent.losses[keep], descent.value, rounds, reason)

    def _settings(self, problem: Problem, rng: np.random.Generator) -> dict[str, Any]:
        trees = problem.scorer
        assert isinstance(trees, Trees)
        return {
            "objective": "none",
            "num_leaves": trees.num_leaves,
            "min_data_in_leaf": trees.min_data_in_leaf,
            "feature_fraction": trees.feature_fraction,
            "max_bin": trees.max_bin,
            "learning_rate": self.learning_rate,
            "lambda_l2": self.penalty,
            "min_sum_hessian_in_leaf": 1e-3,
            "boost_from_average": False,
            "seed": int(rng.integers(2**31)),
            # The same bits for any number of threads: histograms are summed feature by feature.
            "deterministic": True,
            "force_col_wise": True,
            "num_threads": default_threads() if problem.data.features.size > _WORTH_THREADS else 1,
            "verbosity": -1,
        }


class _Descent:
    """The loss as LightGBM asks for it, round by round."""

    def __init__(self, problem: Problem) -> None:
        self.data, self.value, self.step = problem.data, np.inf, 1.0
        self.losses = [problem.loss]  # as it was for each tree, the first for none

    def objective(self, scores: Array, _: Any) -> tuple[Array, Array]:
        """Gradient and curvature for the next tree."""
        loss, got = self._learned(self.losses[-1], scores)
        self.losses.append(loss)
        self.value = got.value / self.data.n_queries
        return got.gradient, np.maximum(got.curvature, 1e-16)

    def _learned(self, loss: Loss, scores: Array) -> tuple[Loss, Derivatives]:
        """The loss after a step of its own parameters, halved until it helps and doubled for the next round."""
        here = sweep(loss, scores, self.data)
        down = here.params / self.data.n_queries
        while loss.learned and self.step * np.abs(down).max() > _STILL:
            moved = loss.with_learned(loss.learned_values() - self.step * down)
            there = sweep(moved, scores, self.data)
            if there.value < here.value:
                self.step *= 2.0
                return moved, there
            self.step *= 0.5
        self.step = max(self.step, _STILL)
        return loss, here


_STILL = 1e-6
"""Steps of learned parameters below this are not worth a look."""
_WORTH_THREADS = 2**20
"""Cells of features below which threads wait for each other longer than they work, far longer on busy cores."""


def _as_lightgbm(features: Any, settings: dict[str, Any], reference: Any = None) -> Any:
    import lightgbm

    labels = np.zeros(features.shape[0], np.float32)
    return lightgbm.Dataset(for_lightgbm(features), label=labels, reference=reference, params=settings).construct()


def _constant(problem: Problem) -> Solution:
    """Where no feature can be split, which LightGBM refuses to start from."""
    text = np.frombuffer(tree_text.constant(problem.data.n_features), np.uint8)
    value = sweep(problem.loss, np.zeros(problem.data.n_documents), problem.data).value / problem.data.n_queries
    return Solution(text, problem.loss, value, 0, _no_split(problem, 0))


def _valid_scores(booster: Any) -> Array:
    """The validation scores that LightGBM keeps up to date tree by tree."""
    seen: list[Array] = []

    def look(scores: Array, _: Any) -> tuple[str, float, bool]:
        seen.append(np.array(scores, np.float64))
        return "seen", 0.0, True

    booster.eval_valid(look)
    return seen[0]


def _no_split(problem: Problem, rounds: int) -> str:
    trees = problem.scorer
    assert isinstance(trees, Trees)
    n = problem.data.n_documents
    if rounds == 0 and n < 2 * trees.min_data_in_leaf:
        return f"no split found: {n} documents, and a leaf needs {trees.min_data_in_leaf}; set min_data_in_leaf lower"
    return f"no further split found after {rounds} rounds"
