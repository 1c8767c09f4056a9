"""Routes of other protocols: re-ranking (Cohere, Jina, vLLM, LiteLLM, TEI) and KServe's, version 2."""

from __future__ import annotations

import numpy as np
from msgspec import UNSET
from starlette.responses import Response

from podium.base.arrays import Array, Singles
from podium.model import Model
from podium.service import other_protocols as compat
from podium.service.bodies import JSON, check_count
from podium.service.endpoint import Call
from podium.service.models.model_store import Entry
from podium.service.rank_request import asked_of
from podium.service.routes.ranking import own_id
from podium.service.schemas import RankAnswer, Result, to_json
from podium.service.state import State

_FEW = 50
"""Up to this many documents are ranked inline (under a millisecond), not in a thread."""


async def rerank(state: State, call: Call) -> Response:
    """Re-rank documents in the protocol of Cohere, Jina or TEI."""
    request = await call.read(compat.RerankRows, values=False)
    check_count(len(request.items), state.settings.documents)
    entry = state.models.current.find(request.model or "default")
    texts = entry.text_ranker is not None and not compat.holds_features(request)
    rerank = _ranked_texts if texts else _ranked_features
    long = texts or call.is_named or len(request.items) > _FEW
    return Response(await call.aside(rerank, state, call, request, entry, when=long), media_type=JSON)


def _ranked_features(state: State, call: Call, request: compat.RerankRows, entry: Entry) -> bytes:
    wanted = compat.rank_request(request)
    ranked = state.ranker.rank(entry, asked_of(wanted, entry), own_id(state, call), trials=False)
    return _answer(request, ranked.answer, entry, ranked.asked.X)


def _ranked_texts(state: State, call: Call, request: compat.RerankRows, entry: Entry) -> bytes:
    texts, ranker = compat.texts_of(request), entry.text_ranker
    assert ranker is not None, "the caller has asked"
    with state.searching():
        ranked = ranker.rank(request.query, texts)
    X = np.empty((len(ranked), entry.model.n_features), np.float32)
    for text in ranked:
        X[text.position] = text.features
    results = [
        Result(id=str(text.position), index=text.position, rank=rank, score=text.score)
        for rank, text in enumerate(ranked[: request.top_n], 1)
    ]
    return _answer(request, RankAnswer(request=call.id, model=entry.key, results=results, took_ms=0.0), entry, X)


def _answer(request: compat.RerankRows, answer: RankAnswer, entry: Entry, X: Singles) -> bytes:
    """Answer in the dialect of the request."""
    chances = _best_grade_probability(entry.model, X) if request.calibrated and len(X) else None
    write = compat.tei_answer if request.documents is UNSET else compat.rerank_answer
    return to_json(write(request, answer, chances))


def _best_grade_probability(model: Model, X: Singles) -> Array:
    """The probability that each document of a query has the best grade of the training data."""
    data = model.learner.transform.apply(model.state, model.table(X).grouped())
    return model.learner.best_grade_probability(model.params, data)


async def server(state: State, call: Call) -> Response:
    """Server metadata of KServe."""
    return Response(to_json(compat.about_server()), media_type=JSON)


async def model(state: State, call: Call) -> Response:
    """Model metadata of KServe."""
    entry, name = _entry(state, call), call.request.path_params["model"]
    about = compat.about_model(name, entry, state.models.current.versions(name))
    return Response(to_json(about), media_type=JSON)


async def infer(state: State, call: Call) -> Response:
    """Score documents in KServe's inference protocol."""
    request = await call.read(compat.InferRows, values=False)
    entry = _entry(state, call)

    def work() -> bytes:
        return to_json(compat.infer(entry, request, most=state.settings.documents))

    return Response(await call.aside(work), media_type=JSON)


def _entry(state: State, call: Call) -> Entry:
    name, version = call.request.path_params["model"], call.request.path_params.get("version")
    return state.models.current.find(name if version is None else f"{name}@{version}")
