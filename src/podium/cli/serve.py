"""`podium serve`: serve models and an index over HTTP."""

from __future__ import annotations

import os
import socket
import tempfile
from typing import TYPE_CHECKING, Annotated, Any

import typer

from podium.base.errors import MissingPackageError, ParameterError
from podium.cli import console

if TYPE_CHECKING:
    from podium.service.settings import Settings


def serve(
    sources: Annotated[
        list[str] | None,
        typer.Argument(metavar="MODEL… | INDEX", help="Models, and an index to search.", show_default=False),
    ] = None,
    alias: Annotated[
        list[str] | None,
        typer.Option(help="A name for a model, e.g. default=web@3; repeat it for more.", show_default=False),
    ] = None,
    shelf: Annotated[
        str | None,
        typer.Option(
            help="The model store: a folder of models and aliases, to swap while it runs.", show_default=False
        ),
    ] = None,
    store: Annotated[str | None, typer.Option(help="A file for feedback, made if needed.", show_default=False)] = None,
    data: Annotated[
        str | None, typer.Option(help="Data whose queries the web interface shows.", show_default=False)
    ] = None,
    queries: Annotated[
        str | None,
        typer.Option(help="Texts of the data's queries, e.g. queries.jsonl with id and text.", show_default=False),
    ] = None,
    guidelines: Annotated[
        str | None, typer.Option(help="A text file that judges see while they grade.", show_default=False)
    ] = None,
    scale: Annotated[
        int | None,
        typer.Option(help="The highest grade for judges, from 1 to 9.", show_default="that of the data, or 4"),
    ] = None,
    keys: Annotated[
        str | None,
        typer.Option(
            help="A file of keys, in lines: name role sha256; roles are rank, feedback, judge and admin. Without "
            "one, only this machine is served.",
            show_default=False,
        ),
    ] = None,
    host: Annotated[str | None, typer.Option(help="The address to listen on.", show_default="127.0.0.1")] = None,
    port: Annotated[int | None, typer.Option(help="The port to listen on.", show_default="8080")] = None,
    workers: Annotated[int | None, typer.Option(help="The number of worker processes.", show_default="1")] = None,
    settings: Annotated[
        str | None, typer.Option(help="A TOML file with these and more settings.", show_default=False)
    ] = None,
    show_settings: Annotated[
        bool, typer.Option("--show-settings", help="Print all settings as they would be used, and end.")
    ] = False,
) -> None:
    """Serve models over HTTP: rank, explain, search, and keep clicks and judgments of users.

    A model is named after its file: web.podium is web@1, and the alias `default` names the first one. `/` is the web
    interface; /openapi.json describes every request. SIGTERM ends it after the requests in work.
    """
    from podium.service.settings import Settings, of_kubernetes

    theirs = of_kubernetes(os.environ)
    if theirs:
        console.say(f"note: ignoring {', '.join(theirs)}: Kubernetes sets them for a service of this name.")
    models, index = _sorted(sources or [])
    options: dict[str, Any] = {
        "models": tuple(models) or None, "index": index, "aliases": tuple(alias or ()) or None, "shelf": shelf,
        "store": store, "data": data, "queries": queries,
        "guidelines": guidelines, "scale": scale, "keys": keys, "host": host, "port": port, "workers": workers,
    }  # fmt: skip
    chosen = Settings.read(settings, given=options)
    if show_settings:
        for line in chosen.lines():
            console.out(line)
        return
    if not (chosen.models or chosen.index or chosen.shelf):
        raise ParameterError("nothing to serve. Give a model, an index, or --shelf DIR. See: podium serve --help")
    run(chosen)


def _sorted(sources: list[str]) -> tuple[list[str], str | None]:
    """Models and the index, told apart by the content of the files."""
    from podium.formats.sniff import sniff

    models: list[str] = []
    indexes: list[str] = []
    for path in sources:
        (indexes if sniff(path) == "index" else models).append(path)
    if len(indexes) > 1:
        raise ParameterError(f"one index can be served; got {' and '.join(indexes)}.")
    return models, indexes[0] if indexes else None


def run(settings: Settings) -> None:
    """Serve until it is ended."""
    try:
        import uvicorn

        from podium.service.app import build
        from podium.service.prometheus import FOLDER
    except ImportError as error:
        raise MissingPackageError(error.name or "starlette", "podium serve", "serve") from None

    how: dict[str, Any] = {
        "host": settings.host, "port": settings.port, "log_level": "warning", "access_log": False,
        "timeout_keep_alive": settings.keep_alive_seconds, "timeout_graceful_shutdown": 10, "server_header": False,
        "proxy_headers": bool(settings.proxies), "forwarded_allow_ips": list(settings.proxies) or "",
    }  # fmt: skip
    _check_port(settings)
    if settings.workers == 1:
        app = build(settings)
        _greet(settings)
        uvicorn.run(app, **how)
        return
    _greet(settings)
    with tempfile.TemporaryDirectory(prefix="podium-serve-") as folder:
        os.environ.update({**settings.environment(), FOLDER: folder})
        uvicorn.run("podium.service.app:from_environment", factory=True, workers=settings.workers, **how)


def _check_port(settings: Settings) -> None:
    """Raise a clear error if the address cannot be listened on, before models are loaded."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        socket.create_server((settings.host, settings.port), family=family).close()
    except OSError as error:
        raise ParameterError(
            f"{settings.host}:{settings.port} cannot be listened on: {error.strerror}. Name another port with --port."
        ) from None


def _greet(settings: Settings) -> None:
    address = f"http://{settings.host}:{settings.port}"
    console.say(f"podium serves {address} (web interface; {address}/openapi.json describes the API). Ctrl-C ends it.")
    if not settings.keys:
        console.say("without --keys, only this machine is served, and every user of it may do everything.")
