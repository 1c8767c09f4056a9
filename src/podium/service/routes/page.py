"""Routes of the web interface: its files, and facts about the service."""

from __future__ import annotations

import hashlib
from importlib.resources import files

from starlette.responses import Response

from podium.base.version import version
from podium.service.bodies import JSON
from podium.service.endpoint import Call
from podium.service.page_schemas import AboutAnswer, Caller
from podium.service.problems import ServiceError
from podium.service.schemas import to_json
from podium.service.state import State


def _tag(content: bytes) -> str:
    return f'"{hashlib.sha256(content).hexdigest()[:32]}"'


_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
_FILES = {
    file.name: ((content := file.read_bytes()), _TYPES[file.name.rpartition(".")[2]], _tag(content))
    for file in (files("podium.service") / "page").iterdir()
    if file.name.rpartition(".")[2] in _TYPES
}


async def index(state: State, call: Call) -> Response:
    """The web interface."""
    return _file("index.html", call)


async def part(state: State, call: Call) -> Response:
    """A file of the web interface."""
    name = call.request.path_params["file"]
    if name not in _FILES:
        raise ServiceError(404, f"the web interface has no file {name[:100]!r}.")
    return _file(name, call)


async def about(state: State, call: Call) -> Response:
    """Facts about the service and its caller."""
    answer = AboutAnswer(
        podium=version(),
        caller=Caller(call.key.name, call.key.role),
        queries=None if state.data is None else state.data.n_queries,
        graded=state.data is not None and state.data.labels is not None,
        documents=None if state.index is None else len(state.index),
        store=state.feedback is not None,
        scale=state.shown.scale,
        guidelines=state.shown.guidelines,
    )
    return Response(to_json(answer), media_type=JSON)


def _file(name: str, call: Call) -> Response:
    """A file with its hash as ETag: 304 if the browser has it already."""
    content, kind, tag = _FILES[name]
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if tag in [word.strip().removeprefix("W/") for word in call.request.headers.get("if-none-match", "").split(",")]:
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type=kind)
