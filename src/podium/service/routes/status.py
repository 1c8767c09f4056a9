"""Routes of health and monitoring."""

from __future__ import annotations

from starlette.responses import Response

from podium.service.bodies import JSON
from podium.service.endpoint import Call
from podium.service.problems import ServiceError
from podium.service.prometheus import CONTENT_TYPE
from podium.service.schemas import Health, to_json
from podium.service.state import State


async def live(state: State, call: Call) -> Response:
    """Liveness: the process answers."""
    return Response(to_json(Health("live")), media_type=JSON)


async def ready(state: State, call: Call) -> Response:
    """Readiness: the default model is loaded and tried, or the index is open."""
    if "default" not in state.models.current.aliases and state.index is None:
        raise ServiceError(503, "no model is the default. Put one, and point the alias to it: PUT /v1/aliases/default")
    return Response(to_json(Health("ready")), media_type=JSON)


async def metrics(state: State, call: Call) -> Response:
    """Monitoring: counts and times in Prometheus' text format, summed over all workers."""
    text = await call.aside(
        state.monitor.text, in_work=state.in_work.total(), models=state.models.current.entries,
        feedback_queue=None if state.feedback is None else state.feedback.waiting,
    )  # fmt: skip
    return Response(text, media_type=CONTENT_TYPE)
