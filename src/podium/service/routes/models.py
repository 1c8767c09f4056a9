"""Routes of the model store: list, add and delete models, and set aliases."""

from __future__ import annotations

from pathlib import Path

from starlette.responses import Response

from podium.service.bodies import JSON
from podium.service.endpoint import Call, whole_number
from podium.service.models.model_store import Entry, ModelStore, check_name
from podium.service.models.model_store_folder import receiving
from podium.service.models.versions import Models
from podium.service.problems import ServiceError
from podium.service.schemas import AliasRequest, DeletedModels, ModelAbout, ModelList, to_json
from podium.service.state import State

_MOST = 2**31 - 1
"""Highest version."""
_PIECE = 4_000_000
"""Number of bytes of a model written at once."""


async def list_models(state: State, call: Call) -> Response:
    """All models and aliases."""
    store = state.models.current
    return await _listed(call, store, list(store.entries.values()))


async def get_model(state: State, call: Call) -> Response:
    """Versions of a name, or one name@version, or the model of an alias."""
    store, name = state.models.current, call.request.path_params["name"]
    return await _listed(call, store, store.versions(name) or [store.find(name)])


async def put_model(state: State, call: Call) -> Response:
    """Add a model file to the model store, as the next version of its name; aliases stay."""
    name, version = check_name(call.request.path_params["name"]), _version(call)
    folder = _kept(state.models)
    with receiving(folder) as (path, file):
        parts, held = [], 0
        async for chunk in call.chunks(state.settings.model_bytes):
            parts.append(chunk)
            held += len(chunk)
            if held >= _PIECE:
                await call.aside(file.writelines, parts)
                parts, held = [], 0
        await call.aside(file.writelines, parts)

        def work() -> tuple[Entry, bool]:
            file.flush()
            return state.models.put(name, path, version=version)

        entry, new = await call.aside(work)
    return Response(to_json(_about(state.models.current, entry)), 201 if new else 200, media_type=JSON)


async def delete_model(state: State, call: Call) -> Response:
    """Delete a name@version, or all versions of a name, from the model store."""
    _kept(state.models)
    name = call.request.path_params["name"]
    running = {} if state.experiments is None else state.experiments.running
    for experiment in running.values():
        keys = (experiment.control, experiment.candidate)
        if name in keys or name in [key.partition("@")[0] for key in keys]:
            raise ServiceError(409, f"{name} is in the experiment {experiment.name}. End it first.")
    gone = await call.aside(state.models.delete, name)
    return Response(to_json(DeletedModels(gone)), media_type=JSON)


async def put_alias(state: State, call: Call) -> Response:
    """Point an alias to another model (swap), after trying the model on the last requests."""
    alias = check_name(call.request.path_params["alias"])
    request = await call.read(AliasRequest)
    _kept(state.models)
    wanted = call.request.headers.get("if-match")
    number = None if wanted is None else whole_number(wanted.strip('"'), most=_MOST)
    if wanted is not None and number is None:
        raise ServiceError(422, 'If-Match holds the version of the alias, e.g. If-Match: "3".', where="If-Match")
    answer = await call.aside(state.models.set_alias, alias, request.model, if_version=number)
    return Response(to_json(answer), headers={"ETag": f'"{answer.version}"'}, media_type=JSON)


def _kept(models: Models) -> Path:
    if models.folder is None:
        raise ServiceError(
            409, "the service has no model store to change: its models are fixed. Start it with --shelf DIR."
        )
    return models.folder


def _version(call: Call) -> int | None:
    text = call.request.query_params.get("version")
    if text is None:
        return None
    number = whole_number(text, most=_MOST)
    if not number:
        raise ServiceError(422, f"version must be a whole number from 1; got {text[:40]!r}.", where="query string")
    return number


async def _listed(call: Call, store: ModelStore, entries: list[Entry]) -> Response:
    aliases = {name: alias.model for name, alias in store.aliases.items()}

    def work() -> bytes:
        return to_json(ModelList([_about(store, entry) for entry in entries], aliases))

    return Response(await call.aside(work), media_type=JSON)


def _about(store: ModelStore, entry: Entry) -> ModelAbout:
    model = entry.model
    return ModelAbout(
        model=entry.key,
        learner=repr(model.learner),
        n_features=model.n_features,
        feature_names=None if model.feature_names is None else list(model.feature_names),
        sha256=entry.sha256,
        bytes=entry.size,
        aliases=store.aliases_of(entry),
        odds=entry.has_odds,
        searches=entry.engine is not None,
    )
