"""Routes of experiments: start, end and list A/B tests, interleaving and shadows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import Response

from podium.service.bodies import JSON
from podium.service.endpoint import Call
from podium.service.experiments.experiment_schemas import ExperimentList, ExperimentRequest
from podium.service.problems import ServiceError
from podium.service.schemas import to_json
from podium.service.state import State

if TYPE_CHECKING:
    from podium.service.experiments.ab_tests import Experiments


async def start(state: State, call: Call) -> Response:
    """Start an experiment; requests that begin from now on are part of it."""
    running = _experiments(state)
    request = await call.read(ExperimentRequest)

    def work() -> bytes:
        return to_json(
            running.find(running.start(request, state.models.current, searches=state.index is not None).name)
        )

    return Response(await call.aside(work), 201, media_type=JSON)


async def end(state: State, call: Call) -> Response:
    """End an experiment. Its results stay, and clicks on its results pages still count."""
    running, name = _experiments(state), call.request.path_params["name"]

    def work() -> bytes:
        running.end(name)
        return to_json(running.find(name))

    return Response(await call.aside(work), media_type=JSON)


async def listed(state: State, call: Call) -> Response:
    """All experiments, newest first."""
    running = _experiments(state)

    def work() -> bytes:
        return to_json(ExperimentList(running.all()))

    return Response(await call.aside(work), media_type=JSON)


async def get_experiment(state: State, call: Call) -> Response:
    """An experiment with its results so far."""
    answer = await call.aside(_experiments(state).find, call.request.path_params["name"])
    return Response(to_json(answer), media_type=JSON)


def _experiments(state: State) -> Experiments:
    if state.experiments is None:
        raise ServiceError(404, "experiments need a store of feedback. Start the service with --store feedback.db")
    return state.experiments
