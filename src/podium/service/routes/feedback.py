"""Routes of feedback: clicks and other actions of users, and the deletion of a user."""

from __future__ import annotations

import asyncio

from starlette.responses import Response

from podium.service.bodies import JSON
from podium.service.endpoint import Call
from podium.service.feedback.events import HIGHEST_GRADE, Action, Feedback
from podium.service.problems import ServiceError
from podium.service.schemas import DeletedAnswer, Event, FeedbackAnswer, FeedbackRequest, to_json
from podium.service.state import State

_HIGHEST_VALUE = 1e9
"""Highest dwell time, in seconds, and highest value of a purchase."""
_FEW = 100
"""Up to this many events are checked inline (under a millisecond), not in a thread."""


async def feedback(state: State, call: Call) -> Response:
    """Write events; answers 202 once they are on disk. Repeated events change nothing."""
    store = store_of(state)
    request = await call.read(FeedbackRequest)

    def work() -> list[Action]:
        return [_action(event, place, call) for place, event in enumerate(request.events)]

    actions = await call.aside(work, when=len(request.events) > _FEW)
    done = await asyncio.wrap_future(store.add(actions))
    return Response(to_json(FeedbackAnswer(done.accepted, done.repeated, done.unknown)), 202, media_type=JSON)


async def delete_user(state: State, call: Call) -> Response:
    """Delete the impressions and events of a user."""
    impressions, events = await asyncio.wrap_future(store_of(state).forget(call.request.path_params["user"]))
    return Response(to_json(DeletedAnswer(impressions, events)), media_type=JSON)


def store_of(state: State) -> Feedback:
    """Feedback store of the service; raises 404 if there is none."""
    if state.feedback is None:
        raise ServiceError(404, "the service keeps no feedback. Start it with --store feedback.db")
    return state.feedback


def _action(event: Event, place: int, call: Call) -> Action:
    where = f"events[{place}]"
    if event.kind == "judgment":
        if not call.key.may("judge"):
            raise ServiceError(403, f"a judgment needs a key of role judge; {call.key.name} has {call.key.role}.")
        if not (event.request or event.query):
            raise ServiceError(422, "a judgment needs a query, or the request of an answer.", where=where)
    elif not event.request:
        raise ServiceError(422, f"a {event.kind} needs the request of the answer that it is about.", where=where)
    if event.value is None and event.kind in ("judgment", "dwell"):
        raise ServiceError(422, f"a {event.kind} needs a value.", where=where)
    most = HIGHEST_GRADE if event.kind == "judgment" else _HIGHEST_VALUE
    if event.value is not None and not 0 <= event.value <= most:
        raise ServiceError(
            422, f"the value of a {event.kind} is from 0 to {most:g}; got {event.value:g}.", where=where
        )  # fmt: skip
    return Action(
        kind=event.kind, document=event.id, request=event.request, query=event.query, value=event.value,
        who=event.who or (call.key.name if event.kind == "judgment" else ""), event=event.event, at=event.time,
    )  # fmt: skip
