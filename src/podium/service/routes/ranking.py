"""Routes of ranking: rank documents, explain a pair, search the index, list the queries of the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from starlette.background import BackgroundTask
from starlette.responses import Response

from podium.service import rank_request as ranking
from podium.service.bodies import ARROW, JSON, NPY, check_count, read_arrow, read_json, read_npy
from podium.service.endpoint import SMALL, Call, whole_number, wrong_kind
from podium.service.models.model_store import Entry
from podium.service.problems import ServiceError
from podium.service.rank_request import EXPLAINED, Asked, Ranked
from podium.service.schemas import (
    BatchAnswer,
    Document,
    ExplainRows,
    QueryDocuments,
    QueryList,
    SearchRequest,
    to_json,
)
from podium.service.state import State

if TYPE_CHECKING:
    from podium.data.dataset import Dataset


_FEW = 20
"""Up to this many documents, odds are computed inline, not in a thread."""
_MOST_QUERIES = 1000
"""Largest number of queries of one list."""
_FEW_QUERIES = 5
"""Up to this many queries of a batch are ranked inline."""


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
    documents = sum(len(query.X) for _, query in asked)
    odds = sum(len(query.X) for _, query in asked if query.odds)
    many = documents > state.settings.inline_documents or odds > _FEW or len(asked) > _FEW_QUERIES
    many |= state.behaviour is not None and any(entry.behaviour for entry, _ in asked)
    return many or any(query.explain for _, query in asked) or (call.is_named and state.feedback is not None)


def _answered(
    state: State, call: Call, asked: list[tuple[Entry, Asked]], batch: bool
) -> tuple[list[Ranked], bytes, float]:
    """Rank all queries: the rankings, the answer as JSON, and the milliseconds until all were scored."""
    explained = sum(min(len(query.X), query.k or len(query.X)) for _, query in asked if query.explain)
    if explained > EXPLAINED:
        raise ServiceError(422, f"explain for {explained} documents; at most {EXPLAINED} are taken apart. Ask with k.")
    id = own_id(state, call, len(asked) if batch else None)
    rankings = [
        state.ranker.rank(entry, query, f"{id}.{number}" if batch else id)
        for number, (entry, query) in enumerate(asked)
    ]
    scored = call.took()
    for ranked in rankings:
        ranked.answer.took_ms = scored
    answer = BatchAnswer([ranked.answer for ranked in rankings], scored) if batch else rankings[0].answer
    return rankings, to_json(answer), scored


def own_id(state: State, call: Call, queries: int | None = None) -> str:
    """Id of a request: the client's if no impression has it yet, since each impression needs its own id."""
    if state.feedback is None or not call.is_named:
        return call.id
    return state.feedback.own_id(call.id, queries)


def _after(state: State, rankings: list[Ranked]) -> BackgroundTask | None:
    """Task that hands rankings to shadow experiments, after the answer is sent."""
    shadow, shadowed = state.shadow, state.ranker.shadowed(rankings)
    if shadow is None or not shadowed:
        return None

    async def work() -> None:
        for trial, ranked in shadowed:
            shadow.put(trial, ranked)

    return BackgroundTask(work)


def _read(state: State, call: Call, body: bytes) -> tuple[list[tuple[Entry, Asked]], bool]:
    find, most, options = state.models.current.find, state.settings.documents, call.request.query_params
    if call.kind == JSON:
        return read_json(body, find, most=most)
    if call.kind == NPY:
        return [read_npy(body, options, find, most=most)], False
    if call.kind == ARROW:
        return read_arrow(body, options, find, most=most)
    raise wrong_kind(call.kind, JSON, NPY, ARROW)


async def explain(state: State, call: Call) -> Response:
    """Explain why one document is above another: each feature's share, and the smallest change that swaps them."""
    request = await call.read(ExplainRows, values=False)
    check_count(len(request.documents), state.settings.documents)
    entry = state.models.current.find(request.model)

    def work() -> bytes:
        return to_json(ranking.explain(entry, request, call.id, fill=state.ranker.filled))

    return Response(await call.aside(work), media_type=JSON)


async def search(state: State, call: Call) -> Response:
    """Search the index, by its first stage or by a model."""
    request = await call.read(SearchRequest)
    entry = None if request.model is None else state.models.current.find(request.model)

    def work() -> bytes:
        name = own_id(state, call)
        with state.searching() as index:
            answer = state.ranker.search(index, entry, request, name)
        answer.took_ms = call.took()
        return to_json(answer)

    return Response(await call.aside(work), media_type=JSON)


async def queries(state: State, call: Call) -> Response:
    """List the queries of the service's data whose id or text contains a text: the `k` after the first `from`."""
    data, texts = _data(state), state.shown.texts
    wanted = call.request.query_params.get("search", "").casefold()
    first, k = (_number(call, name, default) for name, default in (("from", 0), ("k", 100)))

    def work() -> bytes:
        matching = [
            name for name in state.query_places if wanted in name.casefold() or wanted in texts.get(name, "").casefold()
        ]
        names = matching[first : first + min(k, _MOST_QUERIES)]
        sizes = [int(data.sizes[state.query_places[name]]) for name in names]
        return to_json(QueryList(names, len(matching), sizes, [texts.get(name) for name in names]))

    return Response(await call.aside(work, when=len(state.query_places) > 1000), media_type=JSON)


def _number(call: Call, name: str, default: int) -> int:
    """Whole number of the query string."""
    text = call.request.query_params.get(name)
    number = default if text is None else whole_number(text, most=2**31 - 1)
    if number is None:
        raise ServiceError(422, f"{name} must be a whole number from 0; got {str(text)[:40]!r}.", where="query string")
    return number


async def query(state: State, call: Call) -> Response:
    """Documents of a query of the service's data, with their grades."""
    data, wanted = _data(state), call.request.path_params["query"]
    place = state.query_places.get(wanted)
    if place is None:
        raise ServiceError(404, f"no query {wanted[:100]!r}; there are {data.n_queries}, e.g. {data.query_name(0)}.")

    def work() -> bytes:
        answer = _documents(data, place)
        answer.text = state.shown.texts.get(wanted)
        if state.index is not None:
            with state.searching() as index:
                ids = [str(document.id) for document in answer.documents]
                answer.stored = {id: fields for id in ids if (fields := index.store.document(id)) is not None}
        return to_json(answer)

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
    return QueryDocuments(
        query=data.query_name(q), features=list(names), documents=documents, grades=grades, text=None, stored={}
    )
