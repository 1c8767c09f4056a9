"""Requests of other servers' clients: rerank (Cohere, Jina, vLLM, LiteLLM, TEI) and KServe's protocol, version 2."""

from __future__ import annotations

from msgspec import UNSET
from starlette.responses import Response

from podium.service import other_protocols as compat
from podium.service.bodies import JSON, check_count
from podium.service.endpoint import Call
from podium.service.models.model_store import Entry
from podium.service.rank_request import asked_of
from podium.service.routes.ranking import own_id
from podium.service.schemas import to_json
from podium.service.state import State

_FEW = 50
"""Documents that are made from another server's, and ranked, in less than a millisecond."""


async def rerank(state: State, call: Call) -> Response:
    """Rank documents, asked and answered as other rerankers do."""
    request = await call.read(compat.RerankRows, values=False)
    check_count(len(request.given), state.settings.documents)
    content = await call.aside(_reranked, state, call, request, when=call.is_named or len(request.given) > _FEW)
    return Response(content, media_type=JSON)


def _reranked(state: State, call: Call, request: compat.RerankRows) -> bytes:
    wanted = compat.rank_request(request)
    entry = state.models.shelf.find(wanted.model)
    ranked = state.ranker.rank(entry, asked_of(wanted, entry), own_id(state, call), trials=False)
    tei = request.documents is UNSET
    return to_json(compat.tei_answer(request, ranked.answer) if tei else compat.rerank_answer(request, ranked.answer))


async def server(state: State, call: Call) -> Response:
    """The server, as KServe's protocol describes it."""
    return Response(to_json(compat.about_server()), media_type=JSON)


async def model(state: State, call: Call) -> Response:
    """A model, as KServe's protocol describes it."""
    entry, name = _entry(state, call), call.request.path_params["model"]
    about = compat.about_model(name, entry, state.models.shelf.versions(name))
    return Response(to_json(about), media_type=JSON)


async def infer(state: State, call: Call) -> Response:
    """Score documents, asked and answered as KServe's protocol does."""
    request = await call.read(compat.InferRows, values=False)
    entry = _entry(state, call)

    def work() -> bytes:
        return to_json(compat.infer(entry, request, most=state.settings.documents))

    return Response(await call.aside(work), media_type=JSON)


def _entry(state: State, call: Call) -> Entry:
    name, version = call.request.path_params["model"], call.request.path_params.get("version")
    return state.models.shelf.find(name if version is None else f"{name}@{version}")
