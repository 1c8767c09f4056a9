"""Clusters for commands that take --cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from podium.cli import console

if TYPE_CHECKING:
    from podium.data.table import Table
    from podium.distributed.dask_cluster import Cluster
    from podium.learner import Learner


@contextmanager
def opened(address: str | None) -> Iterator[Cluster | None]:
    """Connect to the workers at an address until the block ends; None without an address."""
    if address is None:
        yield None
        return
    from podium.distributed.dask_cluster import Cluster

    with Cluster(address) as cluster:
        console.say(f"cluster {address}: {cluster.n_workers} workers")
        yield cluster


def say_what_differs(data: Table, learner: Learner) -> None:
    """Say if one machine would be faster, and if it would grow other trees."""
    from podium.distributed.cluster_training import SMALL
    from podium.scorers import Trees

    if data.n_documents * data.n_features < SMALL:
        console.say(
            f"note: {data.n_documents} × {data.n_features} features are few for a cluster; without --cluster this is "
            "faster."
        )
    trees = getattr(learner, "scorer", None)
    if isinstance(trees, Trees) and trees.min_data_in_leaf > 0:
        console.say(
            "note: a cluster estimates the documents of a leaf, so that its trees are not those of one machine to the "
            "bit; with min_data_in_leaf=0 and min_sum_hessian_in_leaf they are."
        )
