"""Routes of other protocols: re-ranking (Cohere, Jina, vLLM, LiteLLM, TEI) and KServe's, version 2."""

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
"""Up to this many documents are ranked inline (under a millisecond), not in a thread."""


async def rerank(state: State, call: Call) -> Response:
    """Re-rank documents in the protocol of Cohere, Jina or TEI."""
    request = await call.read(compat.RerankRows, values=False)
    check_count(len(request.items), state.settings.documents)
    content = await call.aside(_reranked, state, call, request, when=call.is_named or len(request.items) > _FEW)
    return Response(content, media_type=JSON)


def _reranked(state: State, call: Call, request: compat.RerankRows) -> bytes:
    wanted = compat.rank_request(request)
    entry = state.models.current.find(wanted.model)
    ranked = state.ranker.rank(entry, asked_of(wanted, entry), own_id(state, call), trials=False)
    tei = request.documents is UNSET
    return to_json(compat.tei_answer(request, ranked.answer) if tei else compat.rerank_answer(request, ranked.answer))


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
