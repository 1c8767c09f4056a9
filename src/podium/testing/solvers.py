"""Contract suite of solvers: the minimum of a convex problem, the best iterate, equal bits, refusals with advice."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import IncompatibleError
from podium.data.dataset import Dataset
from podium.losses import ListNet, Loss, RankNet, Regression, SquaredHinge, sweep
from podium.metrics import Average, Metric
from podium.problem import Problem
from podium.scorers import Linear, Scorer
from podium.solvers import Solution, Solver, Watch
from podium.testing.examples import installed, linear_data, short, threads, with_fields
from podium.testing.names import text_gives_it_back
from podium.testing.numbers import near
from podium.testing.refusals import refused


def check_solver(solver: Solver) -> None:
    """Run every check of solvers, with every loss and every scorer that the solver takes."""
    for check in SOLVER_CHECKS.values():
        check(solver)
    for scorer in _scorers():
        takes_or_refuses_a_scorer(solver, scorer)
    for loss in (cls() for cls in Loss.catalogue().values()):
        if takes(solver, loss, scorer_for(solver)):
            a_loss_falls(solver, loss)


def takes(solver: Solver, loss: Loss, scorer: Scorer) -> bool:
    """Whether a solver accepts a loss with a scorer."""
    try:
        solver.check(loss, scorer)
    except IncompatibleError:
        return False
    return True


def scorer_for(solver: Solver) -> Scorer:
    """The linear scorer, or another if the solver takes none; trees with leaves small enough for few documents."""
    scorers = [Linear(), *_scorers()]
    return with_fields(next(scorer for scorer in scorers if takes(solver, RankNet(), scorer)), min_data_in_leaf=5)


def a_convex_quadratic_is_brought_to_its_minimum(solver: Solver) -> None:
    """Ridge regression, whose minimum is known, if the solver takes it."""
    if not takes(solver, Regression(), Linear()):
        return
    data = _data()
    patient = with_fields(
        short(solver, 600), penalty=0.1, batch=data.n_queries, learning_rate=0.02, tolerance=1e-12, l1=0.0
    )
    theta, least = ridge(data, 0.1)
    solution = _solve(patient, Linear(), loss=Regression())
    value, _ = Problem(Regression(), Linear(), data, 0.1)(solution.params["theta"])
    assert least - 1e-12 <= value <= least * (1 + 1e-4), f"the value is {value}, the minimum {least}"
    near(solution.params["theta"], theta, 0.02, "parameters at the minimum")


def ridge(data: Dataset, penalty: float) -> tuple[Array, float]:
    """Weights and offset that minimise (1/Q) Σ (⟨w, x⟩ + b − y)² + (λ/2)‖w‖², and that minimum."""
    assert data.labels is not None
    X = np.append(np.asarray(data.features, np.float64), np.ones((data.n_documents, 1)), axis=1)
    shrink = np.diag([*np.ones(data.n_features), 0.0]) * penalty / 2
    left, right = X.T @ X / data.n_queries + shrink, X.T @ data.labels / data.n_queries
    theta = np.asarray(np.linalg.solve(left, right), np.float64)
    value = np.sum((X @ theta - data.labels) ** 2) / data.n_queries + theta @ shrink @ theta
    return theta, float(value)


def takes_or_refuses_a_scorer(solver: Solver, scorer: Scorer) -> None:
    """RankNet falls by 5 % in eight iterations, or the scorer is refused with one to use instead."""
    if not takes(solver, RankNet(), scorer):
        says = rf"{solver.name} needs .*; got {scorer.name}\. Use "
        refused(lambda: solver.check(RankNet(), scorer), says=says, when=f"{solver} with {scorer}")
        return
    scorer, data = with_fields(scorer, min_data_in_leaf=5), _data()
    solution = _solve(with_fields(short(solver, 8), most_norm=5.0), scorer)  # the rate of sgd is not for every network
    before = sweep(RankNet(), np.zeros(data.n_documents), data).value
    after = sweep(RankNet(), scorer.score(solution.params, data), data).value
    assert after < 0.95 * before, f"{solver} with {scorer}: the loss goes from {before} to {after}"


def a_loss_falls(solver: Solver, loss: Loss) -> None:
    """Thirty iterations end below the loss of equal scores."""
    scorer, data = scorer_for(solver), _data()
    solution = _solve(with_fields(short(solver, 30), learning_rate=0.01), scorer, loss=loss)
    start = sweep(loss, np.zeros(data.n_documents), data).value
    end = sweep(solution.loss, scorer.score(solution.params, data), data).value
    assert np.isfinite(solution.value), f"the objective is {solution.value}"
    assert end < start, f"{loss} by {solver} goes from {start} to {end}"


def one_seed_gives_equal_bits(solver: Solver) -> None:
    """Two runs from one seed end at the same bytes, also on one thread and two."""
    first, second = (_bits(_solve(short(solver, 5))) for _ in range(2))
    assert first == second, "the same seed gives other parameters"
    data, solutions = linear_data(42, 100), []
    loss = next(loss for loss in (ListNet(), SquaredHinge()) if takes(solver, loss, scorer_for(solver)))
    for number in (1, 2):
        with threads(number):
            solutions.append(_bits(_solve(with_fields(short(solver, 3), batch=42), loss=loss, data=data)))
    assert solutions[0] == solutions[1], "threads change the parameters"


def the_best_iterate_by_validation_is_kept(solver: Solver) -> None:
    """With validation data and patience, the parameters are those of the best iteration."""
    scripted = _watch([1, 2, 5, 4, 3, 2])
    watched = _solve(with_fields(short(solver, 6), patience=10, tolerance=1e-15), watch=scripted)
    there = _solve(with_fields(short(solver, 3), patience=None, tolerance=1e-15))
    assert _bits(watched) == _bits(there), "the parameters are not those of the best iteration"
    assert "best scripted 5.0000" in watched.reason, f"the reason does not name the best value: {watched.reason}"


def patience_ends_the_search(solver: Solver) -> None:
    """Three iterations without a better validation value are the last ones."""
    watch = _watch([1, 2, 2, 2, 2, 2, 2, 2])
    solution = _solve(with_fields(short(solver, 8), patience=3, tolerance=1e-15), watch=watch)
    seen = [step.iteration for step in watch.history]
    assert seen == [1, 2, 3, 4, 5] and solution.iterations == 5, (
        f"iterations {seen}, and {solution.iterations} are reported"
    )
    assert watch.best is not None and watch.best.iteration == 2, f"the best iteration is {watch.best}"
    assert "no better validation measure" in solution.reason, f"the reason is not patience: {solution.reason}"


def without_patience_the_last_iterate_is_kept(solver: Solver) -> None:
    """Validation data is not looked at."""
    watch = _watch([])
    solution = _solve(with_fields(short(solver, 4), patience=None, tolerance=1e-15), watch=watch)
    last = _solve(with_fields(short(solver, 4), tolerance=1e-15))
    assert _bits(solution) == _bits(last), "the parameters are not those of the last iteration"
    assert watch.best is None, "validation data was measured"


def observers_see_every_iteration(solver: Solver) -> None:
    """Each with its number, the largest number, and an objective that falls; the reason has the number."""
    seen: list[Any] = []
    solution = _solve(with_fields(short(solver, 4), tolerance=1e-15), watch=Watch(observers=(seen.append,)))
    steps = [(step.iteration, step.total, step.valid) for step in seen]
    assert steps == [(k, 4, None) for k in (1, 2, 3, 4)], f"(iteration, total, valid) are {steps}"
    assert seen[-1].value < seen[0].value, f"the objective goes from {seen[0].value} to {seen[-1].value}"
    assert "4" in solution.reason, f"the reason does not say how many iterations were allowed: {solution.reason}"


SOLVER_CHECKS: dict[str, Callable[[Solver], None]] = {
    check.__name__: check
    for check in (
        text_gives_it_back, a_convex_quadratic_is_brought_to_its_minimum, one_seed_gives_equal_bits,
        the_best_iterate_by_validation_is_kept, patience_ends_the_search, without_patience_the_last_iterate_is_kept,
        observers_see_every_iteration,
    )
}  # fmt: skip
"""Checks of every solver, by name: solver → None. `check_solver` adds `a_loss_falls`, `takes_or_refuses_a_scorer`."""


def _scorers() -> list[Scorer]:
    return [cls() for cls in Scorer.catalogue().values() if installed(cls)]


class _Scripted:
    """Metric with scripted values, iteration by iteration."""

    def __init__(self, values: Iterable[float]) -> None:
        self._values = iter(values)

    def __call__(self, *scores_and_labels: Any, **_: Any) -> Array:
        return np.array([next(self._values)], np.float64)

    def average(self, values: Array) -> Average:
        """Average of the one value."""
        return Average(float(values[0]), 1, 0)

    def __str__(self) -> str:
        return "scripted"


def _bits(solution: Solution) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in solution.params.items()}


def _watch(values: Iterable[float]) -> Watch:
    metric: Metric = _Scripted(values)  # type: ignore[assignment]
    return Watch(linear_data(5, 8, seed=1), metric)


@functools.cache
def _data() -> Dataset:
    return linear_data(20, 8)


def _solve(
    solver: Solver, scorer: Scorer | None = None, *, loss: Loss | None = None, watch: Watch | None = None,
    data: Dataset | None = None,
) -> Solution:  # fmt: skip
    problem = Problem(loss or RankNet(), scorer or scorer_for(solver), data or _data(), getattr(solver, "penalty", 0.0))
    return solver.solve(problem, np.random.default_rng(0), watch or Watch())
