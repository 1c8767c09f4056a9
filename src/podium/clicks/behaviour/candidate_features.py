"""Behaviour features of the candidates of judged queries, counted in a click log, for training data from an index.

A query has its features as of its `time`, if it has one; else as of the end of the log, when all of its events count.
Judgments that were made from those events then leak: give such queries a time, or a log that ends before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Ints
from podium.base.errors import DataError, ParameterError
from podium.base.registry import split_list
from podium.clicks.behaviour.base import BehaviourFeature, read_behaviour
from podium.clicks.behaviour.log_counts import check_times
from podium.clicks.behaviour.log_keys import AskedPages
from podium.clicks.behaviour.page_features import asked_features
from podium.clicks.log.click_log import ClickLog
from podium.clicks.log.click_pages import as_milliseconds
from podium.clicks.log.queries_by_text import with_known_names
from podium.formats.query_texts import QueryTexts

if TYPE_CHECKING:
    from podium.text.collection.collection import Topic
    from podium.text.features import Feature
    from podium.text.index.index import Index
    from podium.text.retrieval.candidates import Rows

_AT_ONCE = 100_000
"""Candidates whose features are counted in one pass over the log."""


class CandidateBehaviour:
    """Behaviour features of the candidates of queries."""

    def __init__(self, features: Sequence[BehaviourFeature], log: ClickLog, index: Index, texts: QueryTexts) -> None:
        """`texts`: queries by id, since a log may name them by their texts."""
        check_times(log)
        of_users = next((feature for feature in features if feature.of_users()), None)
        if of_users is not None:
            raise ParameterError(
                f"{of_users} is about the user of a page, and judged queries have none. Leave it out, or make training "
                "data of the pages themselves: podium clicks features."
            )
        self.features, self._index, self._log = tuple(features), index, with_known_names(log, texts)
        self.end = log_end(log)
        """Time after the last event of the log."""
        self.queries = set(map(str, self._log.query_ids))
        """Names of the queries of the log."""

    def added(self, rows: Iterable[Rows]) -> Iterator[Rows]:
        """Add the behaviour features to those of the candidates, after them."""
        waiting: list[Rows] = []
        size = 0
        for part in rows:
            waiting.append(part)
            size += len(part.ids)
            if size >= _AT_ONCE:
                yield from self._added(waiting)
                waiting, size = [], 0
        if waiting:
            yield from self._added(waiting)

    def _added(self, parts: Sequence[Rows]) -> Iterator[Rows]:
        sizes = np.array([len(part.ids) for part in parts], np.int64)
        asked = AskedPages(
            [part.topic.id for part in parts], self._times([part.topic for part in parts]), sizes,
            [id for part in parts for id in part.ids],
        )  # fmt: skip
        X = asked_features(self._log, self.features, asked, self._index)
        for part, own in zip(parts, np.split(X, np.cumsum(sizes)[:-1]), strict=True):
            yield replace(part, features=np.hstack([part.features, own]))

    def _times(self, topics: Sequence[Topic]) -> Ints:
        return np.array([self.end if topic.time is None else time_of(topic) for topic in topics], np.int64)


def split_features(
    names: str | Sequence[str | Feature | BehaviourFeature],
) -> tuple[list[str | Feature], list[BehaviourFeature]]:
    """The names of other features, and the behaviour features among them."""
    others: list[str | Feature] = []
    own: list[str | BehaviourFeature] = []
    for word in split_list(names, names) if isinstance(names, str) else names:
        if isinstance(word, BehaviourFeature) or (isinstance(word, str) and _names_behaviour(word)):
            own.append(word)
        else:
            others.append(word)
    return others, read_behaviour(own) if own else []


def log_end(log: ClickLog) -> int:
    """Time of 1 ms after the last event of a log."""
    times = [log.times, log.click_times, log.last_click_times]
    return int(max(np.nanmax(x.astype(np.float64), initial=-np.inf) for x in times if x is not None)) + 1


def time_of(topic: Topic) -> int:
    """Time of a query in ms since 1970; raises a clear error if it is none."""
    try:
        return int(as_milliseconds(topic.time))
    except ValueError:
        raise DataError(
            f"query {topic.id!r}: a time must be like 2024-12-10T00:01:29.378Z, or milliseconds since 1970; got "
            f"{topic.time!r}."
        ) from None


def _names_behaviour(word: str) -> bool:
    return word.partition("(")[0].strip() in BehaviourFeature.catalogue()
