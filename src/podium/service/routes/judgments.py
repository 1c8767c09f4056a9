"""Routes of judgments: add, list, export as qrels and as training data; and metrics of models by them."""

from __future__ import annotations

import asyncio
import io
import re
import time
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, get_args

from starlette.responses import Response

from podium.base.errors import UnknownNameError
from podium.service.bodies import JSON
from podium.service.endpoint import Call
from podium.service.feedback.events import Action
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

if TYPE_CHECKING:
    from podium.judgments.agreement import Agreement
    from podium.metrics import Metric
    from podium.service.feedback.judging import Judgment

_MOST, _APART = 10_000, 100
"""Largest numbers of judgments and disagreements of one answer."""
_METRICS = 20
"""Largest number of metrics of one answer."""
_DEPTH = 100
"""Number of documents of a search that are evaluated."""


async def give(state: State, call: Call) -> Response:
    """Write grades, or take them back; answers 202 once they are on disk."""
    store, request = store_of(state), await call.read(JudgmentRequest)
    actions = [
        Action("judgment", grade.id, query=grade.query, value=grade.grade, who=grade.who or call.key.name)
        for grade in request.judgments
    ]
    await asyncio.wrap_future(store.add(actions))
    answer = JudgmentAnswer(len(actions), time.time_ns() // 1_000_000)
    return Response(to_json(answer), 202, media_type=JSON)


async def listed(state: State, call: Call) -> Response:
    """List the judgments of a query, or of all, with counts by judge, and disagreements."""
    path, query = store_of(state).path, call.request.query_params.get("query")

    def work() -> bytes:
        from podium.service.feedback.judging import agreement, read_judgments

        judgments = read_judgments(path, query)
        return to_json(_list(judgments, agreement(judgments) if query is None else None))

    return Response(await call.aside(work), media_type=JSON)


async def qrels(state: State, call: Call) -> Response:
    """Judgments as TREC qrels, with one consensus grade for each document."""
    path = store_of(state).path

    def work() -> bytes:
        from podium.formats.trec.trec import write_qrels
        from podium.service.feedback.judging import qrels, read_judgments

        judgments, target = read_judgments(path), io.BytesIO()
        if judgments:
            write_qrels(qrels(judgments), target)
        return target.getvalue()

    return Response(await call.aside(work), media_type="text/plain")


async def letor(state: State, call: Call) -> Response:
    """Judged documents with their features, in LETOR format."""
    path, target = store_of(state).path, io.BytesIO()

    def work() -> int:
        from podium.formats.letor.letor import write_letor
        from podium.service.feedback.judging import judged_data

        judged, left_out = judged_data(path, state.data)
        write_letor(judged, target)
        return left_out

    left_out = await call.aside(work)
    return Response(target.getvalue(), headers={"X-Left-Out": str(left_out)}, media_type="text/plain")


async def measure(state: State, call: Call) -> Response:
    """Metrics of one or two models, by the grades of the judges or of the data, with confidence intervals."""
    options = call.request.query_params
    names = options.getlist("model") or ["default"]
    entries = list({(entry := state.models.current.find(name)).key: entry for name in names}.values())
    if len(entries) > 2:
        raise ServiceError(422, f"one model or two can be measured at once; got {len(entries)}.", where="query string")
    grades = options.get("grades", "judges")
    if grades not in get_args(Grades):
        raise ServiceError(422, str(UnknownNameError("grades", grades, get_args(Grades))), where="query string")
    words = options.getlist("metric")
    _check_metrics(words)

    def work() -> bytes:
        from podium.evaluation.evaluate import read_metrics
        from podium.service.ir_metrics import METRICS

        return to_json(_measured(state, entries, grades, read_metrics(words or METRICS), options.get("query")))

    return Response(await call.aside(work), media_type=JSON)


def _check_metrics(words: Sequence[str]) -> None:
    """Raise 422 if the metrics of a request are too many, or too long to parse."""
    if len(words) > _METRICS:
        raise ServiceError(422, f"{len(words)} metrics; at most {_METRICS} are measured at once.", where="query string")
    for word in words:
        if len(word) > 100 or re.search(r"\d{10}", word):
            raise ServiceError(
                422, f"{word[:100]!r} is no metric: too long, or too large a number.", where="query string"
            )


def _measured(
    state: State, entries: list[Entry], grades: str, metrics: Sequence[Metric], query: str | None
) -> MeasuresAnswer:
    from podium.service.feedback.judging import grades_by_query, known_documents, read_judgments
    from podium.service.ir_metrics import by_data, by_judges

    data = state.data
    if grades == "data":
        if data is None or data.labels is None:
            raise ServiceError(404, "the service has no data with grades. Start it with some: --data DATA")
        wanted = [q for q in range(data.n_queries) if query in (None, data.query_name(q))]
        if not wanted:
            raise ServiceError(404, f"no query {str(query)[:100]!r} in the data.")
        return by_data(entries, data.select(wanted) if query is not None else data, metrics)
    path = store_of(state).path
    qrels = grades_by_query(read_judgments(path, query))
    documents = dict(known_documents(path, data, list(qrels)))

    def search(entry: Entry, query: str) -> dict[str, float] | None:
        if entry.engine is None or entry.behaviour:  # features of behaviour are of a page
            return None
        with state.searching():
            answer = entry.engine.search(query, _DEPTH)
        return dict(zip(answer.ids, answer.scores.tolist(), strict=True))

    return by_judges(entries, qrels, documents, metrics, search)


def _list(judgments: list[Judgment], agreement: Agreement | None) -> JudgmentList:
    from podium.evaluation.evaluate import plain
    from podium.service.feedback.judging import disagreements

    return JudgmentList(
        judgments=[JudgmentKept(*judgment) for judgment in judgments[-_MOST:]],
        total=len(judgments),
        judges=dict(Counter(judgment.who for judgment in judgments)),
        disagreements=[DisagreementAnswer(*apart) for apart in disagreements(judgments)[:_APART]],
        agreement=None
        if agreement is None
        else AgreementAnswer(
            agreement.name, plain(agreement.value), (plain(agreement.low), plain(agreement.high)), agreement.items
        ),
    )
