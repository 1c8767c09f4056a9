"""Trees on a cluster: LightGBM's own network grows them on every worker's queries, by the forces of any of our losses.

All machines find bins from the same documents, and hold the same trees after every round. Early stopping is decided
here, after every few rounds; what grew too many is left out. If a machine is lost, the fit begins again when another
has taken its place: it is then the same to the bit. If none does, it goes on with fewer machines, whose sums are
rounded otherwise.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import secrets
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Array
from podium.base.errors import ClusterError, IncompatibleError, PodiumWarning
from podium.base.matrix_on_disk import FileRows
from podium.data.dataset import Dataset
from podium.distributed import parts, tree_process, tree_worker
from podium.distributed.cluster import Cluster, WorkerLostError
from podium.formats.cache.cache import file_name, is_cache, open_cache
from podium.formats.remote import UrlRows
from podium.formats.tables.table_rows import shared_table, without_features
from podium.learner import Learned
from podium.losses import Loss
from podium.recipe import Recipe
from podium.scorers import Trees
from podium.scorers.trees import lightgbm_text
from podium.solvers import Boosting, Watch
from podium.solvers.boosting import kept_trees
from podium.transforms import Identity

ATTEMPTS = 4
"""How often a fit is begun, at most."""
ROUNDS = 25
"""Trees that grow between two looks at the validation data."""
_MINUTES = 2  # that a machine waits for another


def fit_trees(cluster: Cluster, recipe: Recipe, data: Dataset, *, watch: Watch, seed: int) -> Learned:
    """What `Recipe.learn` finds for boosted trees."""
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
    """A watch to which workers give the measures of the validation queries."""

    def measure(self, scores: Any) -> Array:
        return np.asarray(scores(self.valid))


class _Fit:
    """One attempt."""

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
        """Grow until the rounds or the patience end."""
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
                "train": self.train, "queries": share, "valid": self.valid, "valid_queries": mine,
                "metric": str(watch.metric), "loss": repr(self.loss), "seed": self.seed,
                "bagging_fraction": self.solver.bagging_fraction, "settings": {**settings, "num_threads": 1},
                "network": {**several, "local_listen_port": port, "time_out": _MINUTES} if len(ports) > 1 else {},
            })
            for port, share, mine in zip(ports, shares, held, strict=True)
        ])  # fmt: skip

    def _grow(self, watch: Watch) -> tuple[int, float, str]:
        """The number of trees, the objective before the last, and why there are no more."""
        rounds, value = 0, np.inf
        while rounds < self.solver.rounds:
            some = min(ROUNDS, self.solver.rounds - rounds)
            found = self._ask({"grow": some})
            self._warn_if_uncertain(max(one["usual"] for one in found))
            for k in range(len(found[0]["values"])):
                rounds, value = rounds + 1, sum(one["values"][k] for one in found) / self.data.n_queries
                measured = [m for one in found for m in one["measures"][k]] if watch.valid is not None else []
                now = np.array([np.nan if m is None else m for m in measured], np.float64)
                if watch.record(
                    rounds, self.solver.rounds, value, scores=lambda _, now=now: now, state=rounds,  # type: ignore[misc]
                    patience=self.solver.patience,
                ):  # fmt: skip
                    return rounds, value, "no better validation measure"
            if found[0]["ended"]:
                return rounds, value, f"no further split found after {rounds} rounds"
        return rounds, value, f"{self.solver.rounds} rounds were allowed"

    def _warn_if_uncertain(self, usual: float) -> None:
        """Say that trees may not be one machine's, where leaves as small as are allowed may be miscounted."""
        trees = self.trees
        if len(self.addresses) > 1 and trees.min_data_in_leaf == 0 and trees.min_sum_hessian_in_leaf < usual:
            documents = tree_worker.enough(trees.max_bin)
            warnings.warn(
                f"min_sum_hessian_in_leaf={trees.min_sum_hessian_in_leaf:g} is less than the curvature of {documents} "
                f"documents, {usual:.3g}: LightGBM may count none in a leaf, and trees may differ from one machine's.",
                PodiumWarning,
                stacklevel=2,
            )

    def _text(self, rounds: int) -> NDArray[np.uint8]:
        """The first trees, which must be the same on all machines."""
        if rounds == 0:
            return np.frombuffer(lightgbm_text.constant(self.data.n_features), np.uint8)
        texts = [one["text"].encode() for one in self._ask({"text": rounds})]
        if len({hashlib.sha256(text).digest() for text in texts}) > 1:
            raise ClusterError("the machines of the cluster grew different trees, which is a fault of the network.")
        return np.frombuffer(texts[0], np.uint8)

    def _ask(self, words: dict[str, Any]) -> list[dict[str, Any]]:
        return self.cluster.on(self.addresses, tree_process.ask, [(self.name, words)] * len(self.addresses))


def cache_path(data: Dataset, cluster: Cluster) -> str:
    """A cache with exactly this data, or Parquet, that workers can read."""
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
    """The queries first and last of each of n machines, with about as many documents each."""
    places = np.searchsorted(data.offsets, np.linspace(0, data.n_documents, n + 1))
    places[0], places[-1] = 0, data.n_queries
    return [[int(a), int(b)] for a, b in itertools.pairwise(places)]


def _checked(recipe: Recipe, data: Dataset) -> Loss:
    """The loss, fitted to the data; a clear error if a cluster cannot grow trees on it."""
    if type(recipe.transform) is not Identity:
        raise IncompatibleError(f"trees on a cluster take features as they are; got transform={recipe.transform}.")
    if recipe.loss.learned:
        raise IncompatibleError(
            f"{recipe.loss.name} learns {recipe.loss.learned[0]} along with the trees, which a cluster cannot. Use "
            "another loss, or one machine."
        )
    return recipe.loss.fitted_to(data)
