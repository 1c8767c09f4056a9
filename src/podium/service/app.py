"""The service as an ASGI application: the table of routes, and what is around all of them.

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
from podium.service.routes import compat as dialects
from podium.service.routes import experiments, feedback, judgments, models, page, ranking, status
from podium.service.security import HEADERS, check_host
from podium.service.settings import Settings
from podium.service.state import State

_BINARY = ("model", "query", "user", "k", "odds", "explain", "log")


async def openapi(state: State, call: Call) -> Response:
    """This description."""
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
        "GET", "/v1/queries", ranking.queries, "rank", "List queries of the data given at start.",
        parameters=("search",), answers=(schemas.QueryList,),
    ),
    Endpoint(
        "GET", "/v1/queries/{query:path}", ranking.query, "rank", "The documents of one of these queries.",
        answers=(schemas.QueryDocuments,),
    ),
    Endpoint(
        "POST", "/v1/feedback", feedback.feedback, "feedback", "Say what people did with what they were shown.",
        reads=(schemas.FeedbackRequest,), answers=(schemas.FeedbackAnswer,), status=202,
    ),
    Endpoint(
        "POST", "/v1/judgments", judgments.give, "judge", "Grade documents of queries, or take grades back.",
        reads=(page_schemas.JudgmentRequest,), answers=(page_schemas.JudgmentAnswer,), status=202,
    ),
    Endpoint(
        "GET", "/v1/judgments", judgments.listed, "judge", "Who graded what, and where judges disagree.",
        parameters=("query",), answers=(page_schemas.JudgmentList,),
    ),
    Endpoint("GET", "/v1/judgments.qrels", judgments.qrels, "judge", "The judgments as qrels of TREC.", seconds=60),
    Endpoint(
        "GET", "/v1/judgments.letor", judgments.letor, "judge", "Judged documents with their features.", seconds=60
    ),
    Endpoint(
        "GET", "/v1/measures", judgments.measure, "judge", "Metrics of one model or two on the graded queries.",
        parameters=("model", "metric", "grades", "query"), answers=(page_schemas.MeasuresAnswer,), seconds=60,
    ),
    Endpoint(
        "POST", "/v1/experiments", experiments.start, "admin", "Try a model against the one in use.",
        reads=(experiment_schemas.ExperimentRequest,), answers=(experiment_schemas.ExperimentAnswer,), status=201,
        seconds=60,
    ),
    Endpoint(
        "GET", "/v1/experiments", experiments.listed, "judge", "All experiments, with what they say so far.",
        answers=(experiment_schemas.ExperimentList,), seconds=60,
    ),
    Endpoint(
        "GET", "/v1/experiments/{name}", experiments.one, "judge", "An experiment, with what it says so far.",
        answers=(experiment_schemas.ExperimentAnswer,), seconds=60,
    ),
    Endpoint(
        "POST", "/v1/experiments/{name}/end", experiments.end, "admin", "End an experiment.",
        answers=(experiment_schemas.ExperimentAnswer,), seconds=60,
    ),
    Endpoint(
        "GET", "/v1/about", page.about, "rank", "What the service was started with, and who asks.",
        answers=(page_schemas.AboutAnswer,),
    ),
    Endpoint(
        "DELETE", "/v1/users/{user:path}", feedback.delete_user, "admin", "Delete what a user was shown and did.",
        answers=(schemas.DeletedAnswer,), seconds=60,
    ),
    Endpoint("GET", "/v1/models", models.list_models, "rank", "List models and aliases.", answers=(schemas.ModelList,)),
    Endpoint(
        "GET", "/v1/models/{name}", models.get_model, "rank", "The versions of a model.", answers=(schemas.ModelList,)
    ),
    Endpoint(
        "PUT", "/v1/models/{name}", models.put_model, "admin", "Put a model file on the shelf, as the next version.",
        also=("application/octet-stream",), parameters=("version",), answers=(schemas.ModelAbout,), status=201,
        seconds=600,
    ),
    Endpoint(
        "DELETE", "/v1/models/{name}", models.delete_model, "admin", "Take a model off the shelf.",
        answers=(schemas.DeletedModels,),
    ),
    Endpoint(
        "PUT", "/v1/aliases/{alias}", models.put_alias, "admin", "Let an alias name another model.",
        reads=(schemas.AliasRequest,), answers=(schemas.AliasAnswer,), seconds=60,
    ),
    *(
        Endpoint(
            "POST", path, dialects.rerank, "rank", "Rank documents, asked as other rerankers are.",
            reads=(compat.RerankRequest,), answers=(compat.RerankAnswer, list[compat.TeiResult]),
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
    Endpoint("GET", "/metrics", status.metrics, "rank", "Counts and times for Prometheus."),
    Endpoint("GET", "/", page.index, None, "The page."),
    Endpoint("GET", "/page/{file}", page.part, None, "A file of the page."),
    Endpoint("GET", "/openapi.json", openapi, None, "This description.", answers=(dict,)),
)  # fmt: skip
"""Everything that the service does."""
DESCRIBED = tuple(one for one in ENDPOINTS if one.call not in (openapi, page.index, page.part))
"""What /openapi.json describes: all but itself and the files of the page."""
_description = msgspec.json.encode(describe(DESCRIBED))


def build(settings: Settings) -> ASGIApp:
    """The application, with its models loaded and tried."""
    state = State(settings)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        loop, listens = asyncio.get_running_loop(), threading.current_thread() is threading.main_thread()
        if listens:  # only the main thread gets signals
            loop.add_signal_handler(signal.SIGHUP, lambda: loop.run_in_executor(None, state.reload))
        gc.collect()
        gc.freeze()  # what is there now stays: looking through it again and again would take a tenth of the time
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
    made = Starlette(
        routes=[Route(one.path, guarded(one, state), methods=[one.method]) for one in ENDPOINTS],
        middleware=around,
        exception_handlers={HTTPException: _no_route},
        lifespan=lifespan,
    )
    made.router.redirect_slashes = False  # an address is as it is described, or nothing is there
    made.state.podium = state
    return made


def from_environment() -> ASGIApp:
    """The application by the settings of the environment, for worker processes."""
    return build(Settings.read())


class Around:
    """What holds for every request: its id, the size of its headers, which host it names, headers of the answer."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app, self.settings = app, settings
        self.fixed = [(name.encode(), value.encode()) for name, value in HEADERS.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        told = {name: value for name, value in headers if name in (b"x-request-id", b"host")}
        id = scope["podium.id"] = request_id(told.get(b"x-request-id", b"").decode("latin1"))
        more = [*self.fixed, (b"x-request-id", id.encode())]

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                there = {name for name, _ in message.get("headers", ())}
                message["headers"] = [*message.get("headers", ()), *(one for one in more if one[0] not in there)]
            await send(message)

        try:
            address = len(scope.get("raw_path") or b"") + len(scope["query_string"])
            if address + sum(len(name) + len(value) for name, value in headers) > self.settings.header_bytes:
                most = self.settings.header_bytes
                raise ServiceError(431, f"the address and the headers are longer than {most} bytes.")
            if not self.settings.keys:
                check_host(told.get(b"host", b"").decode("latin1"))
        except ServiceError as problem:
            await answer_of(problem)(scope, receive, sent)
            return
        await self.app(scope, receive, sent)


def _no_route(request: Request, error: Any) -> Response:
    """No such address, or not with this method."""
    path = request.url.path[:200]
    if error.status_code == 405:
        known = ", ".join(sorted((error.headers or {}).get("Allow", "").split(", ")))
        problem = ServiceError(405, f"{path} is not for {request.method}; it is for {known}.", headers=error.headers)
    else:
        problem = ServiceError(error.status_code, f"nothing is at {path}. See /openapi.json.")
    return answer_of(problem)
