"""Ranking documents, explaining a pair, searching, and the queries of the data given at start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from podium.service import ranking
from podium.service.bodies import ARROW, JSON, NPY, check_count, read_arrow, read_json, read_npy
from podium.service.endpoint import Call, wrong_kind
from podium.service.feedback import Feedback, Impression
from podium.service.problems import ServiceError
from podium.service.ranking import Asked, Ranked
from podium.service.schemas import (
    BatchAnswer,
    Document,
    ExplainRequest,
    QueryDocuments,
    QueryList,
    SearchRequest,
    to_json,
)
from podium.service.search import search as search_index
from podium.service.shelf import Entry
from podium.service.state import State

if TYPE_CHECKING:
    from podium.data.dataset import Dataset


_FEW = 20
"""Documents whose odds take no longer than a hop to a thread."""


async def rank(state: State, call: Call) -> Response:
    """Rank the documents of one query, or of a batch of queries."""
    body = await call.body()
    asked, batch = _read(state, call, body)
    parsed = call.took()
    documents = sum(len(one.X) for _, one in asked)
    slow = any(one.explain or (one.odds and len(one.X) > _FEW) for _, one in asked)
    if slow or documents > state.settings.inline_documents:
        ranked = await run_in_threadpool(rank_all, state, asked, call.id, batch=batch)
    else:
        ranked = rank_all(state, asked, call.id, batch=batch)
    scored = call.took()
    for one in ranked:
        one.answer.took_ms = scored
    content = to_json(BatchAnswer([one.answer for one in ranked], scored) if batch else ranked[0].answer)
    timing = f"parse;dur={parsed:.3f}, score;dur={scored - parsed:.3f}, write;dur={call.took() - scored:.3f}"
    return Response(content, headers={"Server-Timing": timing}, media_type=JSON)


def _read(state: State, call: Call, body: bytes) -> tuple[list[tuple[Entry, Asked]], bool]:
    find, most, options = state.models.shelf.find, state.settings.documents, call.request.query_params
    if call.kind == JSON:
        return read_json(body, find, most=most)
    if call.kind == NPY:
        return [read_npy(body, options, find, most=most)], False
    if call.kind == ARROW:
        return read_arrow(body, options, find, most=most)
    raise wrong_kind(call.kind, JSON, NPY, ARROW)


def rank_all(state: State, asked: list[tuple[Entry, Asked]], id: str, *, batch: bool = False) -> list[Ranked]:
    """The rankings of all queries of a request; those of a batch are told apart by a number after its id."""
    found = []
    for number, (entry, one) in enumerate(asked):
        ranked = ranking.rank(entry, one, f"{id}.{number}" if batch else id)
        state.metrics.observe("podium_score_seconds", f'model="{entry.key}"', ranked.score_seconds)
        state.models.remember(entry, one.X)
        if state.feedback is not None and one.log:
            _log(state.feedback, entry, ranked, state.settings.logged_documents)
        found.append(ranked)
    return found


def _log(feedback: Feedback, entry: Entry, ranked: Ranked, most: int) -> None:
    """Keep what the answer shows, with the features that it was ranked by."""
    asked, answer = ranked.asked, ranked.answer
    shown = [result.id for result in answer.results[:most]]
    features = asked.X[ranked.rows[:most]]
    feedback.log(Impression(answer.request, entry.key, entry.feature_names, asked.query, asked.user, shown, features))


async def explain(state: State, call: Call) -> Response:
    """Why one document is above another: what each feature adds, and the smallest change that turns them round."""
    request = await call.read(ExplainRequest)
    check_count(len(request.documents), state.settings.documents)
    entry = state.models.shelf.find(request.model)
    return Response(to_json(await run_in_threadpool(ranking.explain, entry, request, call.id)), media_type=JSON)


async def search(state: State, call: Call) -> Response:
    """Search the index, by its first stage or by a model."""
    request = await call.read(SearchRequest)
    index = state.index
    if index is None:
        raise ServiceError(404, "the service has no index. Start it with one: podium serve my.index")
    entry = None if request.model is None else state.models.shelf.find(request.model)

    def work() -> Any:
        with state.index_lock:
            return search_index(index, entry, request, call.id)

    answer, shown = await run_in_threadpool(work)
    if state.feedback is not None and shown is not None and request.log:
        state.feedback.log(shown)
    answer.took_ms = call.took()
    return Response(to_json(answer), media_type=JSON)


async def queries(state: State, call: Call) -> Response:
    """The queries of the data given at start whose id has a text in it; at most 100."""
    data, wanted = _data(state), call.request.query_params.get("search", "")
    names = [name for q in range(data.n_queries) if wanted in (name := data.query_name(q))]
    return Response(to_json(QueryList(names[:100], len(names))), media_type=JSON)


async def query(state: State, call: Call) -> Response:
    """The documents of a query of the data given at start, with their grades."""
    data, wanted = _data(state), call.request.path_params["query"]
    for q in range(data.n_queries):
        if data.query_name(q) == wanted:
            return Response(to_json(_documents(data, q)), media_type=JSON)
    raise ServiceError(404, f"no query {wanted[:100]!r}; there are {data.n_queries}, e.g. {data.query_name(0)}.")


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
