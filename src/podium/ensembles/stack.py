"""Stack: the base class of learners that combine the per-query z-scores of several fitted models.

What combines them learns from out-of-fold scores: each query is scored by members that were fitted without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import DataError, counted
from podium.data.dataset import Dataset
from podium.ensembles.combining import slopes, zscores
from podium.ensembles.composite import fitted, parsed, quiet, report
from podium.ensembles.packing import pack, query_columns_of, unpack
from podium.learner import Learned, Learner
from podium.model import Model, SavedModel
from podium.scorers import Params, Prepared
from podium.solvers import Watch
from podium.transforms import Identity, State, Transform

FOLDS = 5


class Stack(Learner):
    """Models of several methods; `combine` and `join` say how their z-scores become one score."""

    transform: Transform = Identity()

    @property
    def specifications(self) -> tuple[str, ...]:
        """The methods of the members."""
        raise NotImplementedError

    @property
    def per_query(self) -> bool:
        return True

    def combine(self, data: Dataset, z: Array, z_valid: Array | None, *, seed: int, watch: Watch) -> tuple[Params, Any]:
        """Learn to combine z-scores, a column per member: parameters, and a record; `z` is out of fold."""
        raise NotImplementedError

    def join(self, params: Params, n_features: int) -> Any:
        """The function (data, z) → scores of the learned combination."""
        raise NotImplementedError

    @property
    def learns_to_combine(self) -> bool:
        """Whether it needs out-of-fold scores."""
        return True

    def check(self, data: Dataset) -> None:
        for text in self.specifications:
            parsed(text).learner.check(data)
        if self.learns_to_combine and data.n_queries < 2:
            raise DataError(
                f"{self.name} holds queries out in turn, so that it needs at least 2; got "
                f"{counted(data.n_queries, 'query', 'queries')}.",
                where=data.source,
            )

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        seeds = [int(seed) for seed in rng.integers(2**31, size=len(self.specifications) + 1)]
        members = []
        for number, (text, seed) in enumerate(zip(self.specifications, seeds, strict=False)):
            members.append(tuned(text, data, seed=seed, watch=watch))
            report(watch, number + 1, len(self.specifications))
        z = np.empty((0, 0))
        if self.learns_to_combine:
            texts = zip(self.specifications, members, strict=True)
            learners = [_again(parsed(text).learner, member) for text, member in texts]
            z = out_of_fold(learners, data, rng, quiet(watch))
        z_valid = None if watch.valid is None else columns(members, watch.valid)
        params, record = self.combine(data, z, z_valid, seed=seeds[-1], watch=watch)
        about = [{"learner": repr(model.learner), "valid": model.info.get("valid")} for model in members]
        iterations = sum(int(model.info.get("iterations", 0)) for model in members)
        record = {"stopped": "all members fitted", "iterations": iterations, "members": about, **record}
        return Learned(self, pack(members) | params, record)

    def score(self, params: Params, data: Dataset) -> Array:
        return self.prepare(params, data.n_features)(data)

    def prepare(self, params: Params, n_features: int) -> Prepared:
        members = unpack(params, len(self.specifications), most_features=n_features)
        join = self.join(params, n_features)

        def score(data: Dataset) -> Array:
            return np.asarray(join(data, columns(members, data)))

        return score

    def spread(self, params: Params, data: Dataset) -> Array:
        members = unpack(params, len(self.specifications), most_features=data.n_features)
        return np.asarray(columns(members, data).std(axis=1))

    def shares(self, params: Params) -> Array | None:
        """Weights of the z-scores, if the score is a weighted sum of them."""  # (B,)
        return None

    def weighted_members(self, params: Params, data: Dataset) -> list[tuple[Array, Model]] | None:
        shares = self.shares(params)
        if shares is None:
            return None
        members = unpack(params, len(self.specifications), most_features=data.n_features)
        return zscore_weights(list(zip(shares.tolist(), members, strict=True)), data)

    def query_columns(self, params: Params, state: State) -> tuple[str, ...]:
        inside = {name.removeprefix("of/"): array for name, array in params.items() if name.startswith("of/")}
        return tuple(dict.fromkeys([*query_columns_of(params), *query_columns_of(inside)]))

    def digest(self) -> str:
        return "".join(parsed(text).learner.digest() for text in self.specifications)


def columns(members: Sequence[Model], data: Dataset) -> Array:
    """The per-query z-scores of models, a column each."""  # (N, B)
    return np.stack([zscores(model.score(data), data.offsets) for model in members], axis=1)


def zscore_weights(members: Sequence[tuple[float, Model]], data: Dataset) -> list[tuple[Array, Model]]:
    """Models and the weights of their scores in each document's weighted sum of z-scores."""
    return [(share * slopes(model.score(data), data.offsets), model) for share, model in members if share]


def _again(learner: Learner, member: Model) -> Learner:
    """What to fit to other queries: the member's learner, with the hyperparameters chosen; a saved model stays."""
    return learner if isinstance(learner, SavedModel) else member.learner


def out_of_fold(learners: Sequence[Learner], data: Dataset, rng: np.random.Generator, watch: Watch) -> Array:
    """Per-query z-scores by learners that are fitted to the queries of other folds."""  # (N, B)
    z = np.zeros((data.n_documents, len(learners)))
    for held, seen in folds(data, rng):
        test, training = data.select(held), data.select(seen)
        rows = np.isin(data.query_index, held)
        for number, learner in enumerate(learners):
            model = fitted(learner, training, rng.spawn(1)[0], watch)
            z[rows, number] = zscores(model.score(test), test.offsets)
    return z


def folds(data: Dataset, rng: np.random.Generator) -> list[tuple[Any, Any]]:
    """(held out, seen) numbers of queries; each query is held out once."""
    order = rng.permutation(data.n_queries)
    parts = [np.sort(part) for part in np.array_split(order, min(FOLDS, data.n_queries))]
    return [(part, np.setdiff1d(order, part)) for part in parts]


def tuned(text: str, data: Dataset, *, seed: int, watch: Watch) -> Model:
    """A member fitted to all data; with validation data, its hyperparameters are chosen from its grid."""
    from podium.metrics import Metric
    from podium.training import train

    metric = watch.metric or Metric.parse("ndcg@10")
    model = train(data, text, valid=watch.valid, metric=metric, seed=seed)
    kept = ("metric", "stopped", "iterations", "objective", "valid", "trials", "chosen")
    return Model(
        model.learner,
        model.params,
        model.state,
        model.n_features,
        model.feature_names,
        {key: model.info[key] for key in kept if key in model.info},
    )
