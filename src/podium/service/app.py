"""ASGI application of the service: the table of routes, and the middleware around them.

uvicorn.run(build(Settings(models=("web.podium",))))
"""

from __future__ import annotations

import asyncio
import gc
import signal
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from podium.service import other_protocols as compat
from podium.service import page_schemas, schemas
from podium.service.bodies import ARROW, JSON, NPY
from podium.service.endpoint import Call, Endpoint, guarded, request_id
from podium.service.experiments import experiment_schemas
from podium.service.openapi import describe
from podium.service.problems import ServiceError, answer_of
from podium.service.routes import dialects, experiments, feedback, judgments, models, page, ranking, status
from podium.service.security import HEADERS, check_host
from podium.service.settings import Settings
from podium.service.state import State

_BINARY = ("model", "query", "user", "k", "odds", "explain", "log")


async def openapi(state: State, call: Call) -> Response:
    """OpenAPI description of the service."""
    return Response(_description, media_type=JSON)


ENDPOINTS = (
    Endpoint(
        "POST", "/v1/rank", ranking.rank, "rank", "Rank the documents of a query, or of a batch of queries.",
        reads=(schemas.RankRequest, schemas.BatchRequest), also=(NPY, ARROW), parameters=_BINARY,
        answers=(schemas.RankAnswer, schemas.BatchAnswer),
    ),
    Endpoint(
        "POST", "/v1/explain", ranking.explain, "rank", "Explain why one document is above another.",
        reads=(schemas.ExplainRequest,), answers=(schemas.ExplainAnswer,),
    ),
    Endpoint(
        "POST", "/v1/search", ranking.search, "rank", "Search the index.",
        reads=(schemas.SearchRequest,), answers=(schemas.SearchAnswer,),
    ),
    Endpoint(
        "GET", "/v1/queries", ranking.queries, "rank", "List queries of the data that the service was started with.",
        parameters=("search", "from", "k"), answers=(schemas.QueryList,),
    ),
    Endpoint(
        "GET", "/v1/queries/{query:path}", ranking.query, "rank", "Documents of one of these queries.",
        answers=(schemas.QueryDocuments,),
    ),
    Endpoint(
        "POST", "/v1/feedback", feedback.feedback, "feedback", "Record clicks and other actions of users.",
        reads=(schemas.FeedbackRequest,), answers=(schemas.FeedbackAnswer,), status=202,
    ),
    Endpoint(
        "POST", "/v1/judgments", judgments.give, "judge", "Grade documents of queries, or take grades back.",
        reads=(page_schemas.JudgmentRequest,), answers=(page_schemas.JudgmentAnswer,), status=202,
    ),
    Endpoint(
        "GET", "/v1/judgments", judgments.listed, "judge", "List judgments, and the documents that judges disagree on.",
        parameters=("query",), answers=(page_schemas.JudgmentList,),
    ),
    Endpoint("GET", "/v1/judgments.qrels", judgments.qrels, "judge", "Judgments as TREC qrels.", seconds=60),
    Endpoint(
        "GET", "/v1/judgments.letor", judgments.letor, "judge", "Judged documents with features, as LETOR.", seconds=60
    ),
    Endpoint(
        "GET", "/v1/measures", judgments.measure, "judge", "Metrics of one or two models on the judged queries.",
        parameters=("model", "metric", "grades", "query"), answers=(page_schemas.MeasuresAnswer,), seconds=60,
    ),
    Endpoint(
        "POST", "/v1/experiments", experiments.start, "admin", "Start an A/B test, interleaving or shadow.",
        reads=(experiment_schemas.ExperimentRequest,), answers=(experiment_schemas.ExperimentAnswer,), status=201,
        seconds=60,
    ),
    Endpoint(
        "GET", "/v1/experiments", experiments.listed, "judge", "List experiments with their results so far.",
        answers=(experiment_schemas.ExperimentList,), seconds=60,
    ),
    Endpoint(
        "GET", "/v1/experiments/{name}", experiments.get_experiment, "judge", "An experiment with its results so far.",
        answers=(experiment_schemas.ExperimentAnswer,), seconds=60,
    ),
    Endpoint(
        "POST", "/v1/experiments/{name}/end", experiments.end, "admin", "End an experiment.",
        answers=(experiment_schemas.ExperimentAnswer,), seconds=60,
    ),
    Endpoint(
        "GET", "/v1/about", page.about, "rank", "Data and index of the service, and the caller's role.",
        answers=(page_schemas.AboutAnswer,),
    ),
    Endpoint(
        "DELETE", "/v1/users/{user:path}", feedback.delete_user, "admin", "Delete impressions and events of a user.",
        answers=(schemas.DeletedAnswer,), seconds=60,
    ),
    Endpoint("GET", "/v1/models", models.list_models, "rank", "List models and aliases.", answers=(schemas.ModelList,)),
    Endpoint(
        "GET", "/v1/models/{name}", models.get_model, "rank", "Versions of a model.", answers=(schemas.ModelList,)
    ),
    Endpoint(
        "PUT", "/v1/models/{name}", models.put_model, "admin", "Add a model to the model store: its next version.",
        also=("application/octet-stream",), parameters=("version",), answers=(schemas.ModelAbout,), status=201,
        seconds=600,
    ),
    Endpoint(
        "DELETE", "/v1/models/{name}", models.delete_model, "admin", "Delete a model from the model store.",
        answers=(schemas.DeletedModels,),
    ),
    Endpoint(
        "PUT", "/v1/aliases/{alias}", models.put_alias, "admin", "Point an alias to another model.",
        reads=(schemas.AliasRequest,), answers=(schemas.AliasAnswer,), seconds=60,
    ),
    *(
        Endpoint(
            "POST", path, dialects.rerank, "rank", "Re-rank texts; protocol of Cohere, Jina and TEI.",
            reads=(compat.RerankRequest,), answers=(compat.RerankAnswer, list[compat.TeiResult]), reranks=True,
        )
        for path in ("/rerank", "/v1/rerank", "/v2/rerank")
    ),
    Endpoint("GET", "/v2", dialects.server, None, "KServe: the server.", answers=(compat.ServerAbout,)),
    Endpoint("GET", "/v2/health/live", status.live, None, "KServe: is it alive?", answers=(schemas.Health,)),
    Endpoint("GET", "/v2/health/ready", status.ready, None, "KServe: is it ready?", answers=(schemas.Health,)),
    *(
        endpoint
        for path in ("/v2/models/{model}", "/v2/models/{model}/versions/{version}")
        for endpoint in (
            Endpoint("GET", path, dialects.model, "rank", "KServe: a model.", answers=(compat.InferAbout,)),
            Endpoint("GET", f"{path}/ready", dialects.model, "rank", "KServe: the same.", answers=(compat.InferAbout,)),
            Endpoint(
                "POST", f"{path}/infer", dialects.infer, "rank", "KServe: score documents.",
                reads=(compat.InferRequest,), answers=(compat.InferAnswer,),
            ),
        )
    ),
    Endpoint("GET", "/health/live", status.live, None, "Is the process alive?", answers=(schemas.Health,)),
    Endpoint("GET", "/health/ready", status.ready, None, "Is the default model loaded?", answers=(schemas.Health,)),
    Endpoint("GET", "/metrics", status.metrics, "rank", "Monitoring: counts and times for Prometheus."),
    Endpoint("GET", "/", page.index, None, "Web interface."),
    Endpoint("GET", "/page/{file}", page.part, None, "A file of the web interface."),
    Endpoint("GET", "/openapi.json", openapi, None, "This description.", answers=(dict,)),
)  # fmt: skip
"""All endpoints of the service."""
DESCRIBED = tuple(endpoint for endpoint in ENDPOINTS if endpoint.call not in (openapi, page.index, page.part))
"""Endpoints that /openapi.json describes: all but itself and the files of the web interface."""
_description = msgspec.json.encode(describe(DESCRIBED))


def build(settings: Settings) -> ASGIApp:
    """Build the application: load its models, and try each."""
    state = State(settings)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()
        listens = threading.current_thread() is threading.main_thread() and hasattr(signal, "SIGHUP")
        if listens:  # only the main thread gets signals, and Windows has no such signal
            loop.add_signal_handler(signal.SIGHUP, lambda: loop.run_in_executor(None, state.reload))
        gc.collect()
        gc.freeze()  # models stay: scanning them in every collection would take a tenth of the time
        gc.set_threshold(50_000)
        sys.setswitchinterval(0.001)  # the loop need not wait 5 ms for a thread that computes
        yield
        if listens:
            loop.remove_signal_handler(signal.SIGHUP)
        state.close()

    around = [Middleware(Around, settings=settings)]
    if settings.origins:
        around.append(
            Middleware(
                CORSMiddleware, allow_origins=list(settings.origins), allow_methods=["GET", "POST", "PUT", "DELETE"],
                allow_headers=["authorization", "content-type", "x-api-key", "x-request-id"],
            )
        )  # fmt: skip
    app = Starlette(
        routes=[Route(endpoint.path, guarded(endpoint, state), methods=[endpoint.method]) for endpoint in ENDPOINTS],
        middleware=around,
        exception_handlers={HTTPException: _no_route},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False  # only the described paths exist
    app.state.podium = state
    return app


def from_environment() -> ASGIApp:
    """Build the application from environment variables, for worker processes."""
    return build(Settings.read())


class Around:
    """Middleware of every request: sets its id, checks header size and host, adds headers to the answer."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app, self.settings = app, settings
        self.fixed = [(name.encode(), value.encode()) for name, value in HEADERS.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        read = {name: value for name, value in headers if name in (b"x-request-id", b"host")}
        id = scope["podium.id"] = request_id(read.get(b"x-request-id", b"").decode("latin1"))
        more = [*self.fixed, (b"x-request-id", id.encode())]

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = message.get("headers", ())
                names = {name for name, _ in own}
                message["headers"] = [*own, *(header for header in more if header[0] not in names)]
            await send(message)

        try:
            address = len(scope.get("raw_path") or b"") + len(scope["query_string"])
            if address + sum(len(name) + len(value) for name, value in headers) > self.settings.header_bytes:
                most = self.settings.header_bytes
                raise ServiceError(431, f"the address and the headers are longer than {most} bytes.")
            if not self.settings.keys:
                check_host(read.get(b"host", b"").decode("latin1"))
        except ServiceError as problem:
            await answer_of(problem)(scope, receive, sent)
            return
        await self.app(scope, receive, sent)


def _no_route(request: Request, error: Any) -> Response:
    """Answer to an unknown path, or to a method that a path does not allow."""
    path = request.url.path[:200]
    if error.status_code == 405:
        allowed = ", ".join(sorted((error.headers or {}).get("Allow", "").split(", ")))
        problem = ServiceError(405, f"{path} is not for {request.method}; it is for {allowed}.", headers=error.headers)
    else:
        problem = ServiceError(error.status_code, f"nothing is at {path}. See /openapi.json.")
    return answer_of(problem)
