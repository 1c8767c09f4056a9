"""Ranker of a search: a model of the model store, or a first stage such as BM25."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from podium.base.arrays import Singles
from podium.engine import Answer
from podium.engine.with_model import WithModel
from podium.service.domain_errors import RequestError
from podium.service.models.model_store import Entry, ModelStore
from podium.service.rank_request import Asked
from podium.text.retrieval import Retrieval
from podium.text.retrieval.base import parts_of

if TYPE_CHECKING:
    from podium.engine.engine import Fill
    from podium.service.schemas import SearchRequest
    from podium.text.index.index import Hits, Index
    from podium.text.query import Query

MOST_PARTS = 16
"""Retrievals that a first stage of a request may be made of: others wait for all of them."""


@dataclass(frozen=True, slots=True)
class SearchRanker:
    """A model that can search, with the first stage that it was trained with; or a first stage alone."""

    entry: Entry | None
    retrieval: Retrieval

    @property
    def key(self) -> str:
        """Name in logs and experiments: that of the model, or the spelling of the first stage."""
        return repr(self.retrieval) if self.entry is None else self.entry.key

    def search(
        self, index: Index, query: Query, *, behaviour: SearchBehaviour, explain: bool = False, **page: Any
    ) -> Hits | Answer:
        """Documents of a page (`k`, `offset`, `where`), best first."""
        if self.entry is None or self.entry.engine is None:
            return index.search(query, by=self.retrieval, **page)
        return self.entry.engine.search(query, explain=explain, fill=behaviour.fill_of(self.entry), **page)


class SearchBehaviour:
    """Behaviour features of the candidates of a search."""

    def __init__(self, request: SearchRequest, filled: Callable[[Entry, Asked], Asked] | None) -> None:
        """`filled`: fills them in; None if the service does not count what users do."""
        self._request, self._filled = request, filled
        self.at: int | None = None
        """Time of the page in ms, if some were filled in."""

    def fill_of(self, entry: Entry) -> Fill:
        """Function that fills in the features of a model."""

        def fill(ids: Sequence[str], X: Singles) -> Singles:
            if self._filled is None:
                raise RequestError(
                    f"{entry.key} has behaviour features, such as {next(iter(entry.behaviour.values()))}, which are "
                    "counted in a feedback store. Start the service with one: podium serve MODEL INDEX --store FILE."
                )
            request = self._request
            asked = self._filled(entry, Asked(X, ids, request.query or "", request.user))
            self.at = asked.at
            return asked.X

        return fill


def by_model(entry: Entry) -> SearchRanker:
    """A model as ranker; raises an error if it was not trained on features of the service's index."""
    if entry.engine is None:
        raise RequestError(f"{entry.key} was not trained on features of this index, so it cannot rank what it finds.")
    return SearchRanker(entry, entry.engine.retrieval)


def by_first_stage(spelling: str, where: str) -> SearchRanker:
    """A first stage as ranker; `where` is the field of the request that has its spelling."""
    retrieval = Retrieval.parse(spelling)
    if reads_file(retrieval):
        raise RequestError("files of the service are not read; name one of its models: model.", where=where)
    parts = sum(1 for _ in parts_of(retrieval))
    if parts > MOST_PARTS:
        raise RequestError(f"{parts} retrievals in one; at most {MOST_PARTS} are run for a search.", where=where)
    return SearchRanker(None, retrieval)


def reads_file(retrieval: Retrieval) -> bool:
    """Whether a first stage ranks by a model file: requests and models must not choose files to read."""
    return any(isinstance(part, WithModel) for part in parts_of(retrieval))


def by_key(key: str, models: ModelStore) -> SearchRanker | None:
    """Ranker of a key, as experiments keep it; None if its model is gone, or cannot search."""
    if not key.rpartition("@")[2].isdecimal():  # of a model: name@version
        return by_first_stage(key, "candidate")
    entry = models.entries.get(key)
    return None if entry is None or entry.engine is None else by_model(entry)
