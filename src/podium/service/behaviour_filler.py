"""Behaviour features of a request: those that the caller did not send are filled in from the feedback store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from podium.clicks.behaviour.base import BehaviourFeature
from podium.service.domain_errors import RequestError
from podium.service.feedback.events import Feedback
from podium.service.feedback.served_behaviour import ServedBehaviour
from podium.service.feedback.stored_fields import StoredFields, StoredValue

if TYPE_CHECKING:
    from podium.service.models.model_store import Entry, ModelStore
    from podium.service.rank_request import Asked


class BehaviourFiller:
    """Fills in behaviour features, and has the store count what served models need."""

    def __init__(self, feedback: Feedback, fields: StoredFields | None = None) -> None:
        """`fields`: the stored fields of the index, if there is one."""
        self._feedback, self._fields, self._reader = feedback, fields, ServedBehaviour(Path(feedback.path))
        self._required: set[str] = set()

    def follow(self, models: ModelStore) -> None:
        """Have the store count what the behaviour features of all models need."""
        features = {feature for entry in models.entries.values() for feature in entry.behaviour.values()}
        names = {repr(feature) for feature in features} - self._required
        if names:
            cells = {name for feature in features for name in feature.cells()}
            self._feedback.count_behaviour(cells, names).result()
            self._required |= names

    def filled(self, entry: Entry, asked: Asked) -> Asked:
        """The documents with those behaviour features that are missing (NaN), as of now."""
        columns = [column for column in entry.behaviour if np.isnan(asked.X[:, column]).any()]
        if not columns or not len(asked.X):
            return asked
        if asked.ids is None:
            raise RequestError(
                f"{entry.key} has behaviour features, which are read by id: give each document its id.",
                where="documents",
            )
        user = None if asked.user is None else self._feedback.user_hash(asked.user)
        wanted = [entry.behaviour[column] for column in columns]
        stored = self._stored(entry, wanted, asked.ids)
        values, at = self._reader.features(wanted, query=asked.query, user=user, documents=asked.ids, stored=stored)
        X = asked.X.copy()
        X[:, columns] = np.where(np.isnan(X[:, columns]), values, X[:, columns])
        return replace(asked, X=X, at=at)

    def _stored(
        self, entry: Entry, wanted: Sequence[BehaviourFeature], ids: Sequence[str]
    ) -> dict[str, list[StoredValue]]:
        """Values of documents in the stored fields that features need."""
        names = {field: repr(feature) for feature in wanted for field in feature.stored_fields()}
        if not names:
            return {}
        if self._fields is None:
            field = min(names)
            raise RequestError(
                f"{entry.key} has the behaviour feature {names[field]}, which needs the stored field {field!r} of "
                "documents, and the service has no index. Send the feature, or start the service with an index: podium "
                "serve MODEL my.index --store FILE.",
                where="documents",
            )
        lacking = self._fields.lacking(names)
        if lacking is not None:
            raise RequestError(
                f"{entry.key} has the behaviour feature {names[lacking]}, but no document of the index has a field "
                f"{lacking!r}. Send the feature, or add the field to the documents: podium index --replace.",
                where="documents",
            )
        return {name: self._fields.values(name, ids) for name in names}

    def close(self) -> None:
        self._reader.close()
        if self._fields is not None:
            self._fields.close()
