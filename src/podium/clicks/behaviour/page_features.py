"""Behaviour features of the results pages of a click log, each as of the moment of its page."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Singles, dense
from podium.base.errors import DataError
from podium.clicks.behaviour.base import BehaviourFeature, Counts, read_behaviour
from podium.clicks.behaviour.document_fields import document_fields
from podium.clicks.behaviour.log_counts import LogCounts
from podium.clicks.behaviour.log_keys import AskedPages
from podium.clicks.log.click_log import ClickLog
from podium.clicks.page_data import joined_pages, whole_pages
from podium.data.dataset import Dataset
from podium.data.table import Table

if TYPE_CHECKING:
    from podium.clicks.behaviour.document_fields import Documents


def behaviour_features(
    log: ClickLog, features: str | Sequence[str | BehaviourFeature], documents: Documents | None = None
) -> Singles:
    """Behaviour features of each impression of a log, as of its page: from the events before it.

    `documents`: an index, its path, a file of documents, or documents, for features that need their stored fields.
    """  # (I, d)
    wanted = read_behaviour(features)
    return _matrix(wanted, LogCounts(log, document_fields(wanted, documents, log.document_ids)))


def asked_features(
    log: ClickLog, features: Sequence[BehaviourFeature], asked: AskedPages, documents: Documents | None = None
) -> Singles:
    """Behaviour features of documents of other pages, from the events of a log before each page."""  # (n, d)
    fields = document_fields(features, documents, itertools.chain(log.document_ids, asked.documents))
    return _matrix(features, LogCounts(log, fields, asked))


def _matrix(features: Sequence[BehaviourFeature], counts: Counts) -> Singles:
    X = np.empty((len(counts.times), len(features)), np.float32)
    with np.errstate(over="ignore"):
        for column, feature in enumerate(features):
            X[:, column] = feature.values(counts)
    return X


def behaviour_data(
    log: ClickLog,
    features: str | Sequence[str | BehaviourFeature],
    data: Table | None = None,
    *,
    documents: Documents | None = None,
) -> Dataset:
    """A dataset with one query for each page of a log: clicks as labels, and behaviour features as of the page.

    With `data`, its features come first, joined by the ids of query and document, and documents that it lacks are left
    out. A model that is trained on it remembers which features are of behaviour, so that `podium serve` fills them.

    `documents`: an index, its path, a file of documents, or documents, for features that need their stored fields.
    """
    wanted = read_behaviour(features)
    names = tuple(map(repr, wanted))
    pages, kept = whole_pages(log) if data is None else joined_pages(log, data)
    X = behaviour_features(log, wanted, documents)[kept]
    before = pages.feature_names or tuple(f"f{c}" for c in range(1, pages.n_features + 1))
    twice = next((name for name in names if name in before), None)
    if twice is not None:
        raise DataError(f"the data has a feature {twice!r}, which is the name of a behaviour feature; rename it.")
    info = {} if data is None or data.info is None else dict(data.info)
    return replace(
        pages,
        features=X if data is None else np.hstack([dense(pages.features), X]),
        feature_names=names if data is None else (*before, *names),
        info={**info, "behaviour": list(names)},
    )
