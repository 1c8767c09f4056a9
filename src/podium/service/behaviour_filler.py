"""Behaviour features of a request: those that the caller did not send are filled in from the feedback store."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from podium.service.domain_errors import RequestError
from podium.service.feedback.events import Feedback
from podium.service.feedback.served_behaviour import ServedBehaviour

if TYPE_CHECKING:
    from podium.service.models.model_store import Entry, ModelStore
    from podium.service.rank_request import Asked


class BehaviourFiller:
    """Fills in behaviour features, and has the store count what served models need."""

    def __init__(self, feedback: Feedback) -> None:
        self._feedback, self._reader = feedback, ServedBehaviour(Path(feedback.path))
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
        values, at = self._reader.features(wanted, query=asked.query, user=user, documents=asked.ids)
        X = asked.X.copy()
        X[:, columns] = np.where(np.isnan(X[:, columns]), values, X[:, columns])
        return replace(asked, X=X, at=at)

    def close(self) -> None:
        self._reader.close()
