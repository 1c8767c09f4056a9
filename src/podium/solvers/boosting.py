"""Gradient boosting: in each round LightGBM grows a tree on the gradient and curvature of the loss."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from podium.base.arrays import Array, Bytes, Ints
from podium.base.errors import IncompatibleError
from podium.base.registry import param, register
from podium.data.dataset import Dataset
from podium.jit.tiers import machine_code
from podium.losses import Derivatives, LambdaRank, Loss, sweep
from podium.scorers import Scorer, Trees
from podium.scorers.trees.constraints import constraints, monotone_signs
from podium.scorers.trees.grower import Bins, Grower
from podium.scorers.trees.lightgbm_text import divided, joined, read_forest
from podium.scorers.trees.monotone import breach
from podium.scorers.trees.symmetric import DEEPEST, Binned, SymmetricGrower
from podium.solvers.base import Solution, Solver
from podium.solvers.early_stopping import Step, Watch
from podium.solvers.position_bias import PositionBias
from podium.solvers.position_ratios import PositionRatios

if TYPE_CHECKING:
    from podium.problem import Problem


@register
class Boosting(Solver):
    """Gradient boosting: each round adds `learning_rate` × a regression tree fitted to −gradient/curvature of the loss.

    Learned parameters of the loss take a gradient step before each tree, if it lowers the loss. With validation data,
    training stops early and keeps the number of trees at which the metric is best on average over the rounds around
    it, a tenth of all rounds and at most ten to either side: a single best round is often so by chance. If the data
    has positions at which documents were shown, the bias of each is learned along with the trees, as an offset of
    scores that scoring leaves out; with lambdarank(unbiased=true), as ratios that its pairs are divided by.
    Reference: Friedman, Greedy function approximation, 2001; Burges, From RankNet to LambdaRank to LambdaMART, 2010.
    """

    boosts = True
    rounds: int = param(default=500, least=1)
    """Most rounds, each of which adds a tree."""
    learning_rate: float = param(default=0.05, above=0, search=(0.01, 0.3, "log"))
    """Factor of each tree."""
    penalty: float = param(default=0.0, least=0, search=(0.0, 10.0))
    """λ added to the curvature of every leaf."""
    penalty_l1: float = param(default=0.0, least=0, search=(0.0, 10.0))
    """Amount by which the sum of gradients of every leaf is moved towards 0."""
    least_gain: float = param(default=0.0, least=0)
    """Smallest gain of a split."""
    bagging_fraction: float = param(default=1.0, above=0, most=1, search=(0.4, 1.0))
    """Share of queries that each tree learns from, drawn again for every tree."""
    sample: Literal["none", "goss"] = "none"
    """goss: each tree learns from the fifth of documents with the largest gradients and a tenth of the others."""
    drop: float = param(default=0.0, least=0, below=1)
    """DART: share of the earlier trees that is left out while a tree is grown, and then scaled down with it."""
    position_penalty: float = param(default=0.0, least=0)
    """λ of the position bias, which is learned if the data has positions; LightGBM's regularisation of it."""
    patience: int | None = param(default=100, least=1)
    """Early stopping: end after this many rounds without a better validation metric."""

    def check(self, loss: Loss, scorer: Scorer) -> None:
        if self.position_penalty and isinstance(loss, LambdaRank) and loss.unbiased:
            raise IncompatibleError(
                "position_penalty shrinks offsets of positions; lambdarank(unbiased=true) learns ratios, which its p "
                "pulls towards 1. Leave position_penalty out."
            )
        if not isinstance(scorer, Trees):
            raise IncompatibleError(
                f"boosting needs a scorer that grows trees; got {scorer.name}. Use solver=lbfgs, or scorer=trees."
            )
        if scorer.growth != "leaves" and (changed := self._only_by_leaves(loss)):
            raise IncompatibleError(
                f"growth={scorer.growth} grows symmetric trees, which do not know {changed}. Leave it out, or set "
                "growth=leaves."
            )
        if self.sample == "goss" and self.bagging_fraction < 1:
            raise IncompatibleError(
                f"sample=goss chooses documents itself; it cannot be combined with bagging_fraction="
                f"{self.bagging_fraction:g}. Set bagging_fraction=1, or leave sample out."
            )

    def _only_by_leaves(self, loss: Loss) -> str:
        """What is set that symmetric trees do not know."""
        fields = {name: getattr(self, name) for name in ("penalty_l1", "least_gain", "sample", "drop")}
        changed = [f"{name}={value}" for name, value in fields.items() if value not in (0.0, "none")]
        return ", ".join([*changed, *(["learned parameters of the loss"] if loss.learned else [])])

    def solve(self, problem: Problem, rng: np.random.Generator, watch: Watch) -> Solution:
        trees, before = problem.scorer, rng.bit_generator.state
        assert isinstance(trees, Trees)
        if trees.growth == "mixed":
            forests = trees.mixture()
            parts = [
                self._boosted(replace(problem, scorer=forest), rng, part)[1]
                for forest, part in zip(forests, parts_of(watch, len(forests)), strict=True)
            ]
            return _continued(problem, mean_forest(parts))
        keep, solution = self._boosted(problem, rng, watch)
        if self.drop and keep < solution.iterations:  # later trees have rescaled the first ones
            rng.bit_generator.state = before
            again = replace(self, rounds=keep)._boosted(problem, rng, Watch())[1]
            reason = f"{solution.reason}; fitted again with {keep}, since dropping rescales earlier trees"
            solution = replace(again, iterations=solution.iterations, reason=reason)
        solution = _continued(problem, solution)
        prove_monotone(solution.params["trees"], trees, problem.data)
        return solution

    @machine_code(repeated=True)
    def _boosted(self, problem: Problem, rng: np.random.Generator, watch: Watch) -> tuple[int, Solution]:
        """Number of trees to keep, and the solution with the first of this number."""
        trees = problem.scorer
        assert isinstance(trees, Trees)
        settings = self.settings(trees, rng)
        start, before = _start(problem)
        grower = self._grower(problem, watch, settings, start)
        bag = Bag(problem.data.sizes, self.bagging_fraction, rng)
        descent = Descent(
            problem.loss, problem.data, bag, grid(settings), before=before,
            bias=self.position_bias(problem.loss, problem.data),
        )  # fmt: skip
        rounds, reason = 0, f"{self.rounds} rounds were allowed"
        for rounds in range(1, self.rounds + 1):
            if not grower.grow(descent.derivatives):
                rounds, reason = rounds - 1, _no_split(problem, rounds - 1)
                break
            if watch.record(
                rounds, self.rounds, descent.value,
                scores=lambda _: grower.valid_outputs(), state=rounds, patience=self.patience,
            ):  # fmt: skip
                reason = "no better validation measure"
                break
        keep, reason = kept_trees(watch, rounds, reason)
        value = descent.value if rounds else descent.start().value / problem.data.n_queries
        record = {} if descent.bias is None else descent.bias.record(keep)
        return keep, Solution({"trees": grower.text(keep)}, descent.losses[keep], value, rounds, reason, record)

    def _grower(
        self, problem: Problem, watch: Watch, settings: dict[str, Any], start: Callable[[Dataset], Array] | None
    ) -> Grower | SymmetricGrower:
        """What grows trees leaf by leaf, or symmetric ones."""
        trees, data = problem.scorer, problem.data
        assert isinstance(trees, Trees)
        if trees.growth == "leaves":
            of_features = constraints(trees, data)
            return Grower(Bins(data, watch.valid, of_features=of_features, start=start, **settings))
        begin = start or _zeros
        return SymmetricGrower(
            Binned(data, watch.valid, max_bin=trees.max_bin), depth=trees.max_depth or DEEPEST,
            documents=trees.min_data_in_leaf, learning_rate=self.learning_rate, penalty=self.penalty,
            feature_fraction=trees.feature_fraction, seed=settings["seed"],
            start=(begin(data), None if watch.valid is None else begin(watch.valid)),
        )  # fmt: skip

    def position_bias(self, loss: Loss, data: Dataset) -> PositionBias | PositionRatios | None:
        """Bias of positions to learn along with the trees; None if the data has none."""
        if data.positions is None:
            return None
        if isinstance(loss, LambdaRank) and loss.unbiased:
            return PositionRatios(loss, data)
        return PositionBias(data.positions, learning_rate=self.learning_rate, penalty=self.position_penalty)

    def settings(self, trees: Trees, rng: np.random.Generator) -> dict[str, Any]:
        """Parameters of LightGBM."""
        return {
            "num_leaves": trees.num_leaves, "min_data_in_leaf": trees.min_data_in_leaf,
            "min_sum_hessian_in_leaf": trees.min_sum_hessian_in_leaf,
            "feature_fraction": trees.feature_fraction, "max_bin": trees.max_bin, "learning_rate": self.learning_rate,
            "lambda_l2": self.penalty, "lambda_l1": self.penalty_l1, "min_gain_to_split": self.least_gain,
            "max_depth": -1 if trees.max_depth is None else trees.max_depth, "extra_trees": trees.extra,
            "path_smooth": trees.smooth, "feature_fraction_bynode": trees.feature_fraction_bynode,
            "cat_smooth": trees.cat_smooth, "cat_l2": trees.cat_l2, "max_cat_threshold": trees.max_cat_threshold,
            "min_data_per_group": trees.min_data_per_group, "seed": int(rng.integers(2**31)),
            # goss draws from as many blocks of documents as there are threads
            **({"data_sample_strategy": "goss", "num_threads": 1} if self.sample == "goss" else {}),
            **({"boosting": "dart", "drop_rate": self.drop} if self.drop else {}),
        }  # fmt: skip


def _zeros(data: Dataset) -> Array:
    return np.zeros(data.n_documents)


def parts_of(watch: Watch, n: int) -> Iterator[Watch]:
    """A watch for each of n fits that follow each other; observers see them as a single fit."""
    for k in range(n):

        def forward(step: Step, k: int = k) -> None:
            for observer in watch.observers:
                observer(replace(step, iteration=k * step.total + step.iteration, total=n * step.total))

        yield Watch(watch.valid, watch.metric, (forward,))


def mean_forest(parts: list[Solution]) -> Solution:
    """The mean of forests as a single one: all their trees, with leaves over the number of forests."""
    scaled = [divided(part.params["trees"], len(parts)) for part in parts]
    return Solution(
        {"trees": functools.reduce(joined, scaled)}, parts[0].loss, float(np.mean([part.value for part in parts])),
        sum(part.iterations for part in parts),
        f"mean of {len(parts)} forests: " + "; ".join(part.reason for part in parts),
    )  # fmt: skip


def _continued(problem: Problem, solution: Solution) -> Solution:
    """The solution with its trees after those of the model to go on from."""
    if problem.begin is None:
        return solution
    return replace(solution, params={"trees": joined(problem.begin["trees"], solution.params["trees"])})


def _start(problem: Problem) -> tuple[Callable[[Dataset], Array] | None, int]:
    """Scores to which trees are added, and the number of trees that they come from."""
    begin = problem.begin
    if begin is None:
        return None, 0
    if "exact" in begin:
        raise IncompatibleError(
            "these trees are of another library, which compares tiny values in its own way; trees cannot be added. Use "
            "adapted, or podium train --base."
        )
    trees = problem.scorer
    assert isinstance(trees, Trees)
    n_trees = read_forest(begin["trees"], problem.data.n_features).n_trees
    return trees.prepare(begin, problem.data.n_features), n_trees


def prove_monotone(text: Bytes, trees: Trees, data: Dataset) -> None:
    """Raise a clear error unless scores rise and fall with the features that say so, whatever the other values."""
    if not (trees.rising or trees.falling):
        return
    signs = monotone_signs(trees, data)
    against = breach(read_forest(text, data.n_features), signs)
    if against is not None:
        raise IncompatibleError(
            f"tree {against[0] + 1} goes against rising or falling in column {against[1] + 1}: LightGBM did not keep "
            "to it. Set max_depth or num_leaves lower."
        )


def grid(settings: dict[str, Any]) -> float | None:
    """Unit to which gradient and curvature are rounded if only curvature limits leaves; None if documents do.

    Their sums are then exact, in any order, if the total curvature is less than 2²⁹ times that of the smallest leaf.
    """
    least = float(settings["min_sum_hessian_in_leaf"])
    return None if settings["min_data_in_leaf"] else 2.0 ** (np.floor(np.log2(least)) - 24)


def for_leaves(gradient: Array, curvature: Array, grid: float | None) -> tuple[Array, Array]:
    """Gradient and curvature as leaves sum them: curvature above 0, or both on a grid."""
    if grid is None:
        return gradient, np.maximum(curvature, 1e-16)
    return np.rint(gradient / grid) * grid, np.rint(curvature / grid) * grid


def kept_trees(watch: Watch, rounds: int, reason: str) -> tuple[int, str]:
    """Number of trees to keep by the validation data, and why training stopped."""
    if watch.best is None:
        return rounds, reason
    around = min(len(watch.history) // 10, _AROUND)
    values = np.pad([np.nan if step.valid is None else step.valid for step in watch.history], around, mode="edge")
    smooth = np.lib.stride_tricks.sliding_window_view(values, 2 * around + 1).mean(axis=1)
    last = len(smooth) - 1 - int(smooth[::-1].argmax())  # of equals, the one with most trees
    keep = watch.best.iteration if np.isnan(smooth).any() else watch.history[last].iteration
    reason += f"; best {watch.metric} {watch.best.valid:.4f} with {watch.best.iteration} trees"
    return keep, reason + (f", best around {keep}" if keep != watch.best.iteration else "")


_AROUND = 10
"""Most rounds on either side over which the validation metric is averaged; before the first and after the last one, the
value there counts again."""


def weighted(got: Derivatives, data: Dataset) -> tuple[Array, Array]:
    """Gradient and curvature, times the weight of each row."""
    if data.row_weights is None:
        return got.gradient, got.curvature
    return got.gradient * data.row_weights, got.curvature * data.row_weights


class Bag:
    """Bagging: a random subset of the queries for every tree."""

    def __init__(self, sizes: Ints, fraction: float, rng: np.random.Generator) -> None:
        self.sizes, self.size, self.rng = sizes, max(round(fraction * len(sizes)), 1), rng

    def drawn(self) -> Ints | None:
        """Numbers of the queries that are drawn; None if all are."""
        if self.size == len(self.sizes):
            return None
        return np.sort(self.rng.choice(len(self.sizes), self.size, replace=False))


class Descent:
    """Gradient and curvature of a loss in each round. A loss that samples draws again in every round.

    Only queries that are drawn are swept, unless something is learned from all; the others count in `value` with their
    last loss.
    """

    def __init__(
        self, loss: Loss, data: Dataset, bag: Bag | None = None, grid: float | None = None, *, before: int = 0,
        bias: PositionBias | PositionRatios | None = None,
    ) -> None:  # fmt: skip
        self.bias = bias
        self.loss, self.data, self.step = loss, data, 1.0
        self.last_losses: Array | None = None  # (Q,)
        self.bag, self.grid, self.before = bag, grid, before  # trees of the model to go on from
        self.losses = [loss]  # by number of trees

    def start(self) -> Derivatives:
        """Loss of equal scores."""
        return sweep(self.losses[0], np.zeros(self.data.n_documents), self.data)

    @property
    def value(self) -> float:
        """Mean loss of the queries before the last tree; ∞ before any."""
        return np.inf if self.last_losses is None else float(self.last_losses.mean())

    @functools.cached_property
    def _constants(self) -> Array:
        self.loss.check(self.data)
        return self.loss.constants(self.data)

    def derivatives(self, scores: Array) -> tuple[Array, Array]:
        """Gradient and curvature for the next tree."""
        rounds = self.before + len(self.losses)
        drawn = None if self.bag is None else self.bag.drawn()
        if self.loss.learned:
            sampled = self.loss.resampled(rounds).with_learned(self.losses[-1].learned_values())
            loss, got = self._learned(sampled, scores)
            self.losses.append(self.loss.with_learned(loss.learned_values()))
            swept = None
        else:
            constants = self.loss.resampled_constants(self._constants, rounds)
            swept = None if self.bias is not None or self.last_losses is None else drawn
            got = self._swept(self.loss, scores, constants, swept)
            self.losses.append(self.loss)
        self.last_losses = updated(self.last_losses, got, swept)
        gradient, curvature = weighted(got, self.data)
        if self.bias is not None:
            self.bias.step(gradient, curvature)
        if drawn is not None and swept is None:
            kept = of_queries(drawn, self.data.sizes)
            gradient, curvature = gradient * kept, curvature * kept
        return for_leaves(gradient, curvature, self.grid)

    def _swept(self, loss: Loss, scores: Array, constants: Array | None, queries: Ints | None) -> Derivatives:
        if self.bias is not None:
            return self.bias.sweep(loss, scores, self.data, constants=constants)
        return sweep(loss, scores, self.data, constants=constants, queries=queries)

    def _learned(self, loss: Loss, scores: Array) -> tuple[Loss, Derivatives]:
        """Loss after a step of its learned parameters, halved until it helps and doubled for the next round."""
        here = self._swept(loss, scores, None, None)
        down = here.params / self.data.n_queries
        while self.step * np.abs(down).max() > _STILL:
            moved = loss.with_learned(loss.learned_values() - self.step * down)
            there = self._swept(moved, scores, None, None)
            if there.value < here.value:
                self.step *= 2.0
                return moved, there
            self.step *= 0.5
        self.step = max(self.step, _STILL)
        return loss, here


def of_queries(drawn: Ints, sizes: Ints) -> Array:
    """1 for each document of the drawn queries, else 0."""  # (N,)
    kept = np.zeros(len(sizes))
    kept[drawn] = 1.0
    return np.repeat(kept, sizes)


def updated(losses: Array | None, got: Derivatives, swept: Ints | None) -> Array:
    """The last known loss of each query, after a sweep of some, or of all."""
    if losses is None or swept is None:
        return got.per_query
    losses[swept] = got.per_query[swept]
    return losses


_STILL = 1e-6
"""Smaller steps of learned parameters are not tried."""


def _no_split(problem: Problem, rounds: int) -> str:
    trees = problem.scorer
    assert isinstance(trees, Trees)
    n = problem.data.n_documents
    if rounds == 0 and n < 2 * trees.min_data_in_leaf:
        return f"no split found: {n} documents, and a leaf needs {trees.min_data_in_leaf}; set min_data_in_leaf lower"
    return f"no further split found after {rounds} rounds"
