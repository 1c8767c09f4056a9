"""Ranking documents, explaining a pair, searching, and the queries of the data given at start."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from starlette.background import BackgroundTask
from starlette.responses import Response

from podium.service import rank_request as ranking
from podium.service.bodies import ARROW, JSON, NPY, check_count, read_arrow, read_json, read_npy
from podium.service.endpoint import SMALL, Call, wrong_kind
from podium.service.models.model_store import Entry
from podium.service.problems import ServiceError
from podium.service.rank_request import Asked, Ranked
from podium.service.schemas import (
    BatchAnswer,
    Document,
    ExplainRows,
    QueryDocuments,
    QueryList,
    SearchRequest,
    to_json,
)
from podium.service.search import EXPLAINED
from podium.service.search import search as search_index
from podium.service.state import State

if TYPE_CHECKING:
    from podium.data.dataset import Dataset


_FEW = 20
"""Documents whose odds take no longer than a hop to a thread."""
_FEW_QUERIES = 5


async def rank(state: State, call: Call) -> Response:
    """Rank the documents of one query, or of a batch of queries."""
    body = await call.body()
    small = len(body) <= SMALL and call.kind != ARROW and body.count(b"{") <= 2 * state.settings.inline_documents
    asked, batch = await call.aside(_read, state, call, body, when=not small)
    parsed = call.took()
    ranked, content, scored = await call.aside(_answered, state, call, asked, batch, when=_is_long(state, call, asked))
    timing = f"parse;dur={parsed:.3f}, score;dur={scored - parsed:.3f}, write;dur={call.took() - scored:.3f}"
    return Response(content, headers={"Server-Timing": timing}, media_type=JSON, background=_after(state, ranked))


def _is_long(state: State, call: Call, asked: list[tuple[Entry, Asked]]) -> bool:
    """Whether the answer may take longer than a millisecond."""
    documents = sum(len(one.X) for _, one in asked)
    odds = sum(len(one.X) for _, one in asked if one.odds)
    many = documents > state.settings.inline_documents or odds > _FEW or len(asked) > _FEW_QUERIES
    return many or any(one.explain for _, one in asked) or (call.is_named and state.feedback is not None)


def _answered(
    state: State, call: Call, asked: list[tuple[Entry, Asked]], batch: bool
) -> tuple[list[Ranked], bytes, float]:
    """The rankings, the answer that tells them, and the milliseconds until they were there."""
    explained = sum(min(len(one.X), one.k or len(one.X)) for _, one in asked if one.explain)
    if explained > EXPLAINED:
        raise ServiceError(422, f"explain for {explained} documents; at most {EXPLAINED} are taken apart. Ask with k.")
    id = own_id(state, call, len(asked) if batch else None)
    ranked = [
        state.ranker.rank(entry, query, f"{id}.{number}" if batch else id)
        for number, (entry, query) in enumerate(asked)
    ]
    scored = call.took()
    for one in ranked:
        one.answer.took_ms = scored
    answer = BatchAnswer([one.answer for one in ranked], scored) if batch else ranked[0].answer
    return ranked, to_json(answer), scored


def own_id(state: State, call: Call, queries: int | None = None) -> str:
    """The id of a request: the client's own if no impression has it yet, since an id names one of them."""
    if state.feedback is None or not call.is_named:
        return call.id
    return state.feedback.own_id(call.id, queries)


def _after(state: State, ranked: list[Ranked]) -> BackgroundTask | None:
    """What a shadow does once the answer is sent."""
    shadow, shadowed = state.shadow, state.ranker.shadowed(ranked)
    if shadow is None or not shadowed:
        return None

    async def work() -> None:
        for trial, one in shadowed:
            shadow.put(trial, one)

    return BackgroundTask(work)


def _read(state: State, call: Call, body: bytes) -> tuple[list[tuple[Entry, Asked]], bool]:
    find, most, options = state.models.shelf.find, state.settings.documents, call.request.query_params
    if call.kind == JSON:
        return read_json(body, find, most=most)
    if call.kind == NPY:
        return [read_npy(body, options, find, most=most)], False
    if call.kind == ARROW:
        return read_arrow(body, options, find, most=most)
    raise wrong_kind(call.kind, JSON, NPY, ARROW)


async def explain(state: State, call: Call) -> Response:
    """Why one document is above another: what each feature adds, and the smallest change that turns them round."""
    request = await call.read(ExplainRows, values=False)
    check_count(len(request.documents), state.settings.documents)
    entry = state.models.shelf.find(request.model)

    def work() -> bytes:
        return to_json(ranking.explain(entry, request, call.id))

    return Response(await call.aside(work), media_type=JSON)


async def search(state: State, call: Call) -> Response:
    """Search the index, by its first stage or by a model."""
    request = await call.read(SearchRequest)
    entry = None if request.model is None else state.models.shelf.find(request.model)

    def work() -> bytes:
        name = own_id(state, call)
        with state.searching() as index:
            answer, shown = search_index(index, entry, request, name)
        if state.feedback is not None and shown is not None and request.log:
            state.feedback.log(shown)
        answer.took_ms = call.took()
        return to_json(answer)

    return Response(await call.aside(work), media_type=JSON)


async def queries(state: State, call: Call) -> Response:
    """The queries of the data given at start whose id has a text in it; at most 100."""
    _data(state)
    wanted = call.request.query_params.get("search", "")

    def work() -> bytes:
        names = [name for name in state.query_places if wanted in name]
        return to_json(QueryList(names[:100], len(names)))

    return Response(await call.aside(work, when=len(state.query_places) > 1000), media_type=JSON)


async def query(state: State, call: Call) -> Response:
    """The documents of a query of the data given at start, with their grades."""
    data, wanted = _data(state), call.request.path_params["query"]
    place = state.query_places.get(wanted)
    if place is None:
        raise ServiceError(404, f"no query {wanted[:100]!r}; there are {data.n_queries}, e.g. {data.query_name(0)}.")

    def work() -> bytes:
        return to_json(_documents(data, place))

    return Response(await call.aside(work), media_type=JSON)


def _data(state: State) -> Dataset:
    if state.data is None:
        raise ServiceError(404, "the service has no data. Start it with some: podium serve MODEL --data DATA")
    return state.data


def _documents(data: Dataset, q: int) -> QueryDocuments:
    part, first = data.select([q]).dense(), int(data.offsets[q])
    rows = [[float(v) if np.isfinite(v) else None for v in row] for row in part.features]
    names = data.feature_names or tuple(str(l + 1) for l in range(data.n_features))
    documents = [Document(row, data.document_name(first + at)) for at, row in enumerate(rows)]
    grades = None if part.labels is None else part.labels.tolist()
    return QueryDocuments(query=data.query_name(q), features=list(names), documents=documents, grades=grades)
