"""Models on the shelf: listed, put, deleted; aliases moved."""

from __future__ import annotations

import os
import tempfile

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from podium.service.bodies import JSON
from podium.service.endpoint import Call
from podium.service.models import Models
from podium.service.problems import ServiceError
from podium.service.schemas import AliasRequest, DeletedModels, ModelAbout, ModelList, to_json
from podium.service.shelf import Entry, Shelf, check_name
from podium.service.state import State


async def list_models(state: State, call: Call) -> Response:
    """All models and aliases."""
    return _listed(state.models.shelf, list(state.models.shelf.entries.values()))


async def get_model(state: State, call: Call) -> Response:
    """The versions of a name, or one name@version, or the model of an alias."""
    shelf, name = state.models.shelf, call.request.path_params["name"]
    return _listed(shelf, shelf.versions(name) or [shelf.find(name)])


async def put_model(state: State, call: Call) -> Response:
    """Put a model file on the shelf: the next version of its name. No alias moves."""
    name, version = check_name(call.request.path_params["name"]), _version(call)
    folder = _kept(state.models)
    handle, path = tempfile.mkstemp(prefix=".put-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            async for chunk in call.chunks(state.settings.model_bytes):
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        entry, new = await run_in_threadpool(state.models.put, name, path, version=version, move=True)
    finally:
        if os.path.exists(path):
            os.unlink(path)
    return Response(to_json(_about(state.models.shelf, entry)), 201 if new else 200, media_type=JSON)


async def delete_model(state: State, call: Call) -> Response:
    """Take a name@version, or all versions of a name, off the shelf."""
    _kept(state.models)
    name = call.request.path_params["name"]
    running = {} if state.experiments is None else state.experiments.running
    for one in running.values():
        used = {one.control, one.candidate, *(key.partition("@")[0] for key in (one.control, one.candidate))}
        if name in used:
            raise ServiceError(409, f"{name} is in the experiment {one.name}. End it first.")
    gone = await run_in_threadpool(state.models.delete, name)
    return Response(to_json(DeletedModels(gone)), media_type=JSON)


async def put_alias(state: State, call: Call) -> Response:
    """Let an alias name another model: the swap. The model is tried on the last requests before."""
    alias = check_name(call.request.path_params["alias"])
    request = await call.read(AliasRequest)
    _kept(state.models)
    wanted = call.request.headers.get("if-match")
    if wanted is not None and not wanted.strip('"').isdecimal():
        raise ServiceError(422, 'If-Match holds the version of the alias, e.g. If-Match: "3".', where="If-Match")
    number = None if wanted is None else int(wanted.strip('"'))
    answer = await run_in_threadpool(state.models.set_alias, alias, request.model, if_version=number)
    return Response(to_json(answer), headers={"ETag": f'"{answer.version}"'}, media_type=JSON)


def _kept(models: Models) -> str:
    if models.folder is None:
        raise ServiceError(
            409, "the service has no folder of models, so what it was started with is fixed. Start it with --shelf DIR."
        )
    return str(models.folder)


def _version(call: Call) -> int | None:
    text = call.request.query_params.get("version")
    if text is None:
        return None
    if not text.isdecimal() or not 0 < int(text) < 2**31:
        raise ServiceError(422, f"version must be a whole number from 1; got {text[:40]!r}.", where="query string")
    return int(text)


def _listed(shelf: Shelf, entries: list[Entry]) -> Response:
    aliases = {name: alias.model for name, alias in shelf.aliases.items()}
    return Response(to_json(ModelList([_about(shelf, entry) for entry in entries], aliases)), media_type=JSON)


def _about(shelf: Shelf, entry: Entry) -> ModelAbout:
    model = entry.model
    return ModelAbout(
        model=entry.key,
        learner=repr(model.learner),
        n_features=model.n_features,
        feature_names=None if model.feature_names is None else list(model.feature_names),
        sha256=entry.sha256,
        bytes=entry.size,
        aliases=shelf.aliases_of(entry),
    )
