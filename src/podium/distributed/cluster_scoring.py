"""Scoring on a cluster: each part of whole queries by a worker; scores equal those of one machine to the bit."""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array
from podium.data.dataset import Dataset
from podium.data.table import Table
from podium.distributed import parts
from podium.distributed.dask_cluster import Cluster
from podium.model import Model


def score(cluster: Cluster, model: Model, data: Table) -> Array:
    """Score each document, in the row order of the data."""  # (N,)
    grouped = parts.stored(model.align_features(data), cluster)
    scores = cluster.map(_scores, parts.pieces(grouped, parts.cuts(grouped)), model)
    return data.from_grouped(np.concatenate(scores) if scores else np.empty(0))


def _scores(part: Dataset, model: Model) -> Array:
    return model.score(part)
