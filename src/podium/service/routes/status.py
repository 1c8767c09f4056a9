"""Health, metrics and the description of the service itself."""

from __future__ import annotations

from starlette.responses import Response

from podium.service.bodies import JSON
from podium.service.endpoint import Call
from podium.service.monitoring import CONTENT_TYPE
from podium.service.problems import ServiceError
from podium.service.schemas import Health, to_json
from podium.service.state import State


async def live(state: State, call: Call) -> Response:
    """The process answers."""
    return Response(to_json(Health("live")), media_type=JSON)


async def ready(state: State, call: Call) -> Response:
    """The default model is loaded and was tried on a document, or the index is open."""
    if "default" not in state.models.shelf.aliases and state.index is None:
        raise ServiceError(503, "no model is the default. Put one, and point the alias to it: PUT /v1/aliases/default")
    return Response(to_json(Health("ready")), media_type=JSON)


async def metrics(state: State, call: Call) -> Response:
    """Counts and times, in Prometheus' text form; the sum over all workers."""
    text = await call.aside(
        state.monitor.text, in_work=state.in_work.total(), models=state.models.shelf.entries,
        feedback_queue=None if state.feedback is None else state.feedback.waiting,
    )  # fmt: skip
    return Response(text, media_type=CONTENT_TYPE)
