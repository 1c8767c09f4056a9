"""Boosted trees on a cluster: LightGBM's network grows them on every worker's queries, by the gradients of any loss.

All machines find bins from the same documents, and have the same trees after every round. Early stopping is decided
here, after every few rounds; surplus trees are left out. If a machine is lost, the fit starts again once another has
taken its place, with the same bits. If none does, it continues with fewer machines, whose sums are rounded differently.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import secrets
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from podium.base.arrays import Array, Bytes
from podium.base.errors import ClusterError, IncompatibleError, PodiumWarning
from podium.base.matrix_on_disk import FileRows
from podium.data.dataset import Dataset
from podium.distributed import parts, tree_process, tree_worker
from podium.distributed.dask_cluster import Cluster, WorkerLostError
from podium.formats.cache.cache import file_name, is_cache, open_cache
from podium.formats.remote import UrlRows
from podium.formats.tables.table_rows import shared_table, without_features
from podium.learner import Learned
from podium.losses import Loss
from podium.recipe import Recipe
from podium.scorers import Trees
from podium.scorers.trees import lightgbm_text
from podium.scorers.trees.constraints import constraints
from podium.solvers import Boosting, Watch
from podium.solvers.boosting import kept_trees
from podium.transforms import Identity

ATTEMPTS = 4
"""Largest number of starts of a fit."""
ROUNDS = 25
"""Number of trees between two evaluations on the validation data."""
_MINUTES = 2  # timeout of LightGBM's network


def fit_trees(cluster: Cluster, recipe: Recipe, data: Dataset, *, watch: Watch, seed: int) -> Learned:
    """Fit boosted trees, as `Recipe.learn` does."""
    loss = _checked(recipe, data)
    train = cache_path(data, cluster)
    valid = None if watch.valid is None else cache_path(watch.valid, cluster)
    n = cluster.n_workers
    for attempt in range(1, ATTEMPTS + 1):
        fresh = _Measured(watch.valid, watch.metric, watch.observers)
        try:
            return _Fit(cluster, recipe, loss, data, train=train, valid=valid, seed=seed).run(fresh)
        except (WorkerLostError, ClusterError) as error:
            if attempt == ATTEMPTS:
                raise ClusterError(f"{error} The fit was begun {ATTEMPTS} times.") from error
            cluster.settle(n)
    raise AssertionError("returned or raised above")


class _Measured(Watch):
    """Watch whose metric on the validation queries is computed by the workers."""

    def measure(self, scores: Callable[[Dataset], Array]) -> Array:
        assert self.valid is not None
        return np.asarray(scores(self.valid))


class _Fit:
    """One attempt of a fit."""

    def __init__(
        self, cluster: Cluster, recipe: Recipe, loss: Loss, data: Dataset, *, train: str, valid: str | None, seed: int
    ) -> None:
        assert isinstance(recipe.solver, Boosting)
        assert isinstance(recipe.scorer, Trees)
        self.cluster, self.recipe, self.loss, self.data = cluster, recipe, loss, data
        self.train, self.valid, self.seed = train, valid, seed
        self.name, self.addresses = secrets.token_hex(8), cluster.addresses()[: max(data.n_queries, 1)]
        self.solver, self.trees = recipe.solver, recipe.scorer

    def run(self, watch: Watch) -> Learned:
        """Grow trees until the rounds or the patience end."""
        try:
            self._start(watch)
            rounds, value, reason = self._grow(watch)
            keep, reason = kept_trees(watch, rounds, reason)
            text = self._text(keep)
        finally:
            self.cluster.forget(self.addresses, tree_process.stop, self.name)
        record = {"stopped": reason, "iterations": rounds, "objective": value}
        return Learned(replace(self.recipe, loss=self.loss), {"trees": text}, record)

    def _start(self, watch: Watch) -> None:
        ports = self.cluster.on(self.addresses, tree_process.free_port, [()] * len(self.addresses))
        hosts = [address.split("://")[-1].rsplit(":", 1)[0] for address in self.addresses]
        machines = ",".join(f"{host}:{port}" for host, port in zip(hosts, ports, strict=True))
        several = {"machines": machines, "num_machines": len(ports), "tree_learner": "data", "pre_partition": True}
        settings = self.solver.settings(self.trees, np.random.default_rng(self.seed))
        shares = _shares(self.data, len(ports))
        held = [None] * len(ports) if watch.valid is None else _shares(watch.valid, len(ports))
        self.cluster.on(self.addresses, tree_process.start, [
            (self.name, {
                "train": self.train, "queries": share, "valid": self.valid, "valid_queries": valid_share,
                "metric": str(watch.metric), "loss": repr(self.loss), "seed": self.seed,
                "bagging_fraction": self.solver.bagging_fraction, "settings": {**settings, "num_threads": 1},
                "of_features": constraints(self.trees, self.data),
                "network": {**several, "local_listen_port": port, "time_out": _MINUTES} if len(ports) > 1 else {},
            })
            for port, share, valid_share in zip(ports, shares, held, strict=True)
        ])  # fmt: skip

    def _grow(self, watch: Watch) -> tuple[int, float, str]:
        """Grow all trees: their number, the objective before the last, and why there are no more."""
        rounds, value = 0, np.inf
        while rounds < self.solver.rounds:
            answers = self._ask({"grow": min(ROUNDS, self.solver.rounds - rounds)})
            self._warn_if_uncertain(max(answer["usual"] for answer in answers))
            for k in range(len(answers[0]["values"])):
                rounds, value = rounds + 1, sum(answer["values"][k] for answer in answers) / self.data.n_queries
                measured = [m for answer in answers for m in answer["measures"][k]] if watch.valid is not None else []
                now = np.array([np.nan if m is None else m for m in measured], np.float64)
                if watch.record(
                    rounds, self.solver.rounds, value, scores=lambda _, now=now: now, state=rounds,  # type: ignore[misc]
                    patience=self.solver.patience,
                ):  # fmt: skip
                    return rounds, value, "no better validation measure"
            if answers[0]["ended"]:
                return rounds, value, f"no further split found after {rounds} rounds"
        return rounds, value, f"{self.solver.rounds} rounds were allowed"

    def _warn_if_uncertain(self, usual: float) -> None:
        """Warn that trees may differ from those of one machine, if the smallest allowed leaves may be miscounted."""
        trees = self.trees
        if len(self.addresses) > 1 and trees.min_data_in_leaf == 0 and trees.min_sum_hessian_in_leaf < usual:
            documents = tree_worker.enough(trees.max_bin)
            warnings.warn(
                f"min_sum_hessian_in_leaf={trees.min_sum_hessian_in_leaf:g} is less than the curvature of {documents} "
                f"documents, {usual:.3g}: LightGBM may count none in a leaf, and trees may differ from one machine's.",
                PodiumWarning,
                stacklevel=2,
            )

    def _text(self, rounds: int) -> Bytes:
        """Text of the first trees, which must be equal on all machines."""
        if rounds == 0:
            return np.frombuffer(lightgbm_text.constant(self.data.n_features), np.uint8)
        texts = [answer["text"].encode() for answer in self._ask({"text": rounds})]
        if len({hashlib.sha256(text).digest() for text in texts}) > 1:
            raise ClusterError("the machines of the cluster grew different trees, which is a fault of the network.")
        return np.frombuffer(texts[0], np.uint8)

    def _ask(self, words: dict[str, Any]) -> list[dict[str, Any]]:
        return self.cluster.on(self.addresses, tree_process.ask, [(self.name, words)] * len(self.addresses))


def cache_path(data: Dataset, cluster: Cluster) -> str:
    """Path of a cache or Parquet with exactly this data, which workers can read; written if needed."""
    X: Any = data.features
    if (
        isinstance(X, FileRows | UrlRows)
        and isinstance(X.file, str)
        and os.path.basename(X.file) == file_name("features")
    ):
        folder = os.path.dirname(X.file)
        if is_cache(folder) and without_features(open_cache(folder)) == without_features(data):
            return folder
    table = None if cluster.local or not isinstance(X, np.ndarray) else shared_table(data)
    if table is not None and table.source is not None:
        return table.source
    return os.fspath(parts.written(data, cluster))


def _shares(data: Dataset, n: int) -> list[Any]:
    """First and last query of each of n machines, with about as many documents each."""
    places = np.searchsorted(data.offsets, np.linspace(0, data.n_documents, n + 1))
    places[0], places[-1] = 0, data.n_queries
    return [[int(a), int(b)] for a, b in itertools.pairwise(places)]


def _checked(recipe: Recipe, data: Dataset) -> Loss:
    """Loss, fitted to the data; raises a clear error if a cluster cannot grow trees by it."""
    if type(recipe.transform) is not Identity:
        raise IncompatibleError(f"trees on a cluster take features as they are; got transform={recipe.transform}.")
    assert isinstance(recipe.solver, Boosting)
    if recipe.solver.sample != "none" or recipe.solver.drop:
        raise IncompatibleError("sample=goss and drop are for one machine; a cluster has neither. Leave them out.")
    if isinstance(recipe.scorer, Trees) and recipe.scorer.growth != "leaves":
        raise IncompatibleError(
            f"trees on a cluster are grown leaf by leaf; got growth={recipe.scorer.growth}. Set growth=leaves, or "
            "train on one machine."
        )
    if data.row_weights is not None or data.positions is not None:
        what = "weights of rows" if data.positions is None else "positions"
        raise IncompatibleError(f"trees on a cluster take no {what} yet. Train on one machine.")
    if data.categories:
        raise IncompatibleError("trees on a cluster take no categories yet. Train on one machine.")
    if recipe.loss.learned:
        raise IncompatibleError(
            f"{recipe.loss.name} learns {recipe.loss.learned[0]} along with the trees, which a cluster cannot. Use "
            "another loss, or one machine."
        )
    return recipe.loss.fitted_to(data)
