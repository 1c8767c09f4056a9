"""Experiments: start one, end one, and what they say so far."""

from __future__ import annotations

from starlette.responses import Response

from podium.service.bodies import JSON
from podium.service.endpoint import Call
from podium.service.experiments.experiment_schemas import ExperimentList, ExperimentRequest
from podium.service.experiments.running import Experiments
from podium.service.problems import ServiceError
from podium.service.schemas import to_json
from podium.service.state import State


async def start(state: State, call: Call) -> Response:
    """Start an experiment; requests that begin from now on are part of it."""
    running = _experiments(state)
    request = await call.read(ExperimentRequest)

    def work() -> bytes:
        return to_json(running.find(running.start(request, state.models.shelf).name))

    return Response(await call.aside(work), 201, media_type=JSON)


async def end(state: State, call: Call) -> Response:
    """End an experiment. What it found stays, and clicks on its pages still count."""
    running, name = _experiments(state), call.request.path_params["name"]

    def work() -> bytes:
        running.end(name)
        return to_json(running.find(name))

    return Response(await call.aside(work), media_type=JSON)


async def listed(state: State, call: Call) -> Response:
    """All experiments, the newest first."""
    running = _experiments(state)

    def work() -> bytes:
        return to_json(ExperimentList(running.all()))

    return Response(await call.aside(work), media_type=JSON)


async def one(state: State, call: Call) -> Response:
    """An experiment, with what it says so far."""
    found = await call.aside(_experiments(state).find, call.request.path_params["name"])
    return Response(to_json(found), media_type=JSON)


def _experiments(state: State) -> Experiments:
    if state.experiments is None:
        raise ServiceError(404, "experiments need a store of feedback. Start the service with --store feedback.db")
    return state.experiments
