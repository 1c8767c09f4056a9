"""Judgments: given, listed, as qrels and as training data; and how well models rank by them."""

from __future__ import annotations

import asyncio
import io
import re
import time
from collections.abc import Sequence
from typing import Any, get_args

from starlette.responses import Response

from podium.base.errors import UnknownNameError
from podium.evaluation.evaluate import plain, read_metrics
from podium.formats.letor.letor import write_letor
from podium.formats.trec.trec import write_qrels
from podium.judgments.agreement import Agreement
from podium.metrics import Metric
from podium.service import ir_metrics as measures
from podium.service.bodies import JSON
from podium.service.endpoint import Call
from podium.service.feedback import judging as judgments
from podium.service.feedback.events import Action
from podium.service.feedback.judging import Judgment
from podium.service.models.model_store import Entry
from podium.service.page_schemas import (
    AgreementAnswer,
    DisagreementAnswer,
    Grades,
    JudgmentAnswer,
    JudgmentKept,
    JudgmentList,
    JudgmentRequest,
    MeasuresAnswer,
)
from podium.service.problems import ServiceError
from podium.service.routes.feedback import store_of
from podium.service.schemas import to_json
from podium.service.state import State

_MOST, _APART = 10_000, 100
"""Judgments and disagreements of one answer."""
_METRICS = 20
"""The most metrics of one answer."""
_DEPTH = 100
"""Documents of a search that are measured."""


async def give(state: State, call: Call) -> Response:
    """Write grades, or take them back. 202 is answered only when they are on disk."""
    store, request = store_of(state), await call.read(JudgmentRequest)
    actions = [
        Action("judgment", one.id, query=one.query, value=one.grade, who=one.who or call.key.name)
        for one in request.judgments
    ]
    await asyncio.wrap_future(store.add(actions))
    answer = JudgmentAnswer(len(actions), time.time_ns() // 1_000_000)
    return Response(to_json(answer), 202, media_type=JSON)


async def listed(state: State, call: Call) -> Response:
    """The judgments of a query, or of all; who gave how many; where judges disagree."""
    path, query = store_of(state).path, call.request.query_params.get("query")

    def work() -> bytes:
        found = judgments.read_judgments(path, query)
        return to_json(_list(found, judgments.agreement(found) if query is None else None))

    return Response(await call.aside(work), media_type=JSON)


async def qrels(state: State, call: Call) -> Response:
    """The judgments as qrels of TREC, one grade for each document."""
    path = store_of(state).path

    def work() -> bytes:
        found, target = judgments.read_judgments(path), io.BytesIO()
        if found:
            write_qrels(judgments.qrels(found), target)
        return target.getvalue()

    return Response(await call.aside(work), media_type="text/plain")


async def letor(state: State, call: Call) -> Response:
    """Judged documents with their features, as LETOR writes them."""
    path, target = store_of(state).path, io.BytesIO()

    def work() -> int:
        found, left_out = judgments.judged_data(path, state.data)
        write_letor(found, target)
        return left_out

    left_out = await call.aside(work)
    return Response(target.getvalue(), headers={"X-Left-Out": str(left_out)}, media_type="text/plain")


async def measure(state: State, call: Call) -> Response:
    """Metrics of one model or two, by the grades of the judges or of the data, with confidence intervals."""
    options = call.request.query_params
    names = options.getlist("model") or ["default"]
    entries = list({(entry := state.models.shelf.find(name)).key: entry for name in names}.values())
    if len(entries) > 2:
        raise ServiceError(422, f"one model or two can be measured at once; got {len(entries)}.", where="query string")
    grades = options.get("grades", "judges")
    if grades not in get_args(Grades):
        raise ServiceError(422, str(UnknownNameError("grades", grades, get_args(Grades))), where="query string")
    metrics = read_metrics(_metric_words(options.getlist("metric")))

    def work() -> bytes:
        return to_json(_measured(state, entries, grades, metrics, options.get("query")))

    return Response(await call.aside(work), media_type=JSON)


def _metric_words(words: Sequence[str]) -> Sequence[str]:
    """The metrics that are asked for, if they can be measured at once; those that everyone wants if none is named."""
    if len(words) > _METRICS:
        raise ServiceError(422, f"{len(words)} metrics; at most {_METRICS} are measured at once.", where="query string")
    for word in words:
        if len(word) > 100 or re.search(r"\d{10}", word):
            raise ServiceError(
                422, f"{word[:100]!r} is no metric: too long, or too large a number.", where="query string"
            )
    return words or measures.METRICS


def _measured(
    state: State, entries: list[Entry], grades: str, metrics: Sequence[Metric], query: str | None
) -> MeasuresAnswer:
    data = state.data
    if grades == "data":
        if data is None or data.labels is None:
            raise ServiceError(404, "the service has no data with grades. Start it with some: --data DATA")
        wanted = [q for q in range(data.n_queries) if query in (None, data.query_name(q))]
        if not wanted:
            raise ServiceError(404, f"no query {str(query)[:100]!r} in the data.")
        return measures.by_data(entries, data.select(wanted) if query is not None else data, metrics)
    path = store_of(state).path
    found = judgments.grades_by_query(judgments.read_judgments(path, query))
    documents = dict(judgments.known_documents(path, data, list(found)))

    def search(entry: Entry, query: str) -> dict[str, float] | None:
        if entry.engine is None:
            return None
        with state.searching():
            answer = entry.engine.search(query, _DEPTH)
        return dict(zip(answer.ids, answer.scores.tolist(), strict=True))

    return measures.by_judges(entries, found, documents, metrics, search)


def _list(found: list[Judgment], agreement: Agreement | None) -> JudgmentList:
    judges: dict[str, int] = {}
    for one in found:
        judges[one.who] = judges.get(one.who, 0) + 1
    apart: list[Any] = judgments.disagreements(found)[:_APART]
    return JudgmentList(
        judgments=[JudgmentKept(*one) for one in found[-_MOST:]],
        total=len(found),
        judges=judges,
        disagreements=[DisagreementAnswer(*one) for one in apart],
        agreement=None
        if agreement is None
        else AgreementAnswer(
            agreement.name, plain(agreement.value), (plain(agreement.low), plain(agreement.high)), agreement.items
        ),
    )
